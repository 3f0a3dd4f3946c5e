"""`tools/test_side_by_side.sh`: what fails beside others runs again alone, once, and is named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tools" / "test_side_by_side.sh"

if not SCRIPT.is_file() or not (ROOT / ".venv").is_dir():
    pytest.skip("the tools are not part of what is installed", allow_module_level=True)

#: Tests of which some fail the first time that they run, and some always.
SUITE = """
import pathlib
import pytest

@pytest.mark.parametrize("number", range({first}))
def test_first(number):
    ran = pathlib.Path(__file__).with_name(f"ran-{{number}}")
    before = ran.exists()
    ran.touch()
    assert before

@pytest.mark.parametrize("number", range({never}))
def test_never(number):
    assert False

def test_good():
    pass
"""


def run(folder: Path, *, first: int, never: int) -> tuple[int, list[str]]:
    """The exit code, and the lines of what is printed, where these numbers of tests fail."""
    (folder / "test_some.py").write_text(SUITE.format(first=first, never=never))
    command = ["bash", str(SCRIPT), "2", f"--rootdir={folder}", "-c", "/dev/null", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout.splitlines()


def test_what_passes_alone_passes_and_is_named(tmp_path: Path) -> None:
    """In the form that `tools/check_test_log.sh` counts."""
    code, lines = run(tmp_path, first=2, never=0)
    again = [line for line in lines if line.startswith("AGAIN ")]
    assert code == 0, lines
    assert [line.split(": ")[1] for line in again] == [
        "it failed beside other tests, and passed alone"
    ] * 2
    assert sorted(line.split("::")[1].split(":")[0] for line in again) == [
        "test_first[0]",
        "test_first[1]",
    ]


@pytest.mark.parametrize(("first", "never"), [(1, 1), (4, 0), (0, 1)])
def test_what_fails_twice_or_with_many_fails(tmp_path: Path, first: int, never: int) -> None:
    """A fault of a test is no matter of luck; and many that fail together have one cause."""
    code, lines = run(tmp_path, first=first, never=never)
    assert code == 1, lines
    assert not [line for line in lines if line.startswith("AGAIN ")]


def test_where_all_pass_nothing_runs_again(tmp_path: Path) -> None:
    """One run."""
    code, lines = run(tmp_path, first=0, never=0)
    assert code == 0, lines
    assert sum("passed" in line for line in lines) == 1
