"""`tools/test_side_by_side.sh`: what fails beside others runs again alone, once, and is named."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tools" / "test_side_by_side.sh"

if not SCRIPT.is_file() or not (ROOT / ".venv").is_dir():
    pytest.skip("the tools are not part of what is installed", allow_module_level=True)

NAMED = ": it failed beside other tests, and passed alone"

#: In place of pytest: notes what it is called with, and fails as it was said for that call.
PYTEST = """#!/bin/sh
echo "$*" >>"$0.calls"
for word; do case $word in cache_dir=*) cache=${word#cache_dir=}/v/cache ;; esac; done
mkdir -p "$cache"
call=$(wc -l <"$0.calls")
cp "$0.failed.$call" "$cache/lastfailed"
exit "$(cat "$0.code.$call")"
"""

#: One test passes, one fails the first time that it runs.
SUITE = """
import pathlib

def test_first():
    ran = pathlib.Path(__file__).with_name("ran")
    before = ran.exists()
    ran.touch()
    assert before

def test_good():
    pass
"""


def run(folder: Path, *failing: list[str], code: int = 1) -> tuple[int, list[str], list[str]]:
    """
    Run the script, with calls of pytest in which these tests fail.

    Returns:
        Its exit code, the tests that it says it tried again, and what each call was given.
    """
    programs = folder / ".venv/bin"
    programs.mkdir(parents=True)
    (folder / "tools").mkdir()
    shutil.copy(SCRIPT, folder / "tools")
    (programs / "python").symlink_to(sys.executable)
    place = programs / "pytest"
    place.write_text(PYTEST)
    place.chmod(0o755)
    for call, names in enumerate(failing, 1):
        Path(f"{place}.failed.{call}").write_text(json.dumps(dict.fromkeys(names, True)))
        Path(f"{place}.code.{call}").write_text(str(code if names else 0))
    script = folder / "tools" / SCRIPT.name
    done = subprocess.run(
        ["bash", str(script), "3", "tests/some"], stdout=subprocess.PIPE, text=True
    )
    again = [line for line in done.stdout.splitlines() if line.startswith("AGAIN ")]
    calls = Path(f"{place}.calls").read_text().splitlines()
    return done.returncode, again, calls


def test_what_passes_alone_passes_and_is_named(tmp_path: Path) -> None:
    """In the form that `tools/check_test_log.sh` counts."""
    code, again, (first, second) = run(tmp_path, ["x.py::test_a", "x.py::test_b[1]"], [])
    assert code == 0
    assert again == [f"AGAIN x.py::test_a{NAMED}", f"AGAIN x.py::test_b[1]{NAMED}"]
    assert "--numprocesses 3" in first and "--last-failed" not in first
    assert "--last-failed" in second and "--numprocesses" not in second
    assert first.endswith(" tests/some") and second.endswith(" tests/some")


@pytest.mark.parametrize(
    ("failing", "code"),
    [
        ([["x.py::test_a", "x.py::test_b"], ["x.py::test_b"]], 1),
        ([["x.py::test_a"], ["x.py::test_a"]], 1),
        ([["x.py::test_a", "x.py::test_b", "x.py::test_c", "x.py::test_d"]], 1),
        # What pytest says of interruptions, itself and its arguments is of no test.
        ([["x.py::test_a"]], 2),
        ([["x.py::test_a"]], 3),
        ([["x.py::test_a"]], 4),
    ],
)
def test_what_fails_twice_or_with_many_fails(
    tmp_path: Path, failing: list[list[str]], code: int
) -> None:
    """A fault of a test is no matter of luck; and many that fail together have one cause."""
    found, again, calls = run(tmp_path, *failing, code=code)
    assert (found, again, len(calls)) == (code, [], len(failing))


def test_where_all_pass_nothing_runs_again(tmp_path: Path) -> None:
    """One run."""
    code, again, calls = run(tmp_path, [])
    assert (code, again, len(calls)) == (0, [], 1)


def test_pytest_does_what_the_script_takes_it_to_do(tmp_path: Path) -> None:
    """It fails with that exit code, keeps there what failed, and runs just that again."""
    (tmp_path / "test_some.py").write_text(SUITE)
    plain = [f"--rootdir={tmp_path}", "-c", "/dev/null", "-p", "xdist", str(tmp_path)]
    done = subprocess.run(
        ["bash", str(SCRIPT), "1", *plain],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # Other plugins have no part in it and take a second at each start.
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, lines
    (again,) = (line for line in lines if line.startswith("AGAIN "))
    assert again.endswith(f"::test_first{NAMED}")
    assert sum("1 passed" in line for line in lines) == 2
