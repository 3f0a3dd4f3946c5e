"""A test that fails while the host takes the processors has other attempts, and they are told."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

#: A host that takes so many of 100 ticks, and tests that hold at their second and at no attempt.
SUITE = """
import itertools
import pytest
import quiet_machine

ticks, attempts, homes = itertools.count(), itertools.count(1), itertools.count(1)

def read():
    n = next(ticks)
    return {taken} * n, 100 * n

quiet_machine.processor_ticks = read

@pytest.fixture(scope="module")
def home():
    return next(homes)

def test_a_good_one(home):
    assert home == 1

def test_a_second_time(home):
    assert home == 1
    assert next(attempts) > 1, "held up"

def test_never(home):
    assert home == 0, "wrong"
"""


@pytest.mark.parametrize("workers", [(), ("--numprocesses", "1")], ids=["alone", "as worker"])
@pytest.mark.parametrize(
    ("taken", "counts", "again"),
    [
        (40, "1 failed, 2 passed, 3 tried again", ["test_a_second_time", *["test_never"] * 2]),
        (0, "2 failed, 1 passed", []),
    ],
    ids=["disturbed", "quiet"],
)
def test_what_failed_in_a_disturbed_moment_is_tried_again(
    tmp_path: Path, workers: tuple[str, ...], taken: int, counts: str, again: list[str]
) -> None:
    """Twice more at most; what fails for another reason fails, and nothing goes unsaid."""
    shutil.copy(TESTS / "conftest.py", tmp_path)
    (tmp_path / "test_suite.py").write_text(SUITE.replace("{taken}", str(taken)))
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {TESTS / 'support'}\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith(f"{counts} in "), done.stdout
    told = [line for line in done.stdout.splitlines() if line.startswith("AGAIN ")]
    assert [line.split("::")[1].split(":")[0] for line in told] == again
    if again:
        assert "took 40.0% of its processors: " in told[0]
        assert "held up" in told[0]
