"""A test that fails while the host takes the processors has other attempts, and they are told."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import quiet_machine

TESTS = Path(__file__).parents[1]

#: A host that takes this share of a processor, and tests that hold at an attempt or never.
SUITE = """
import itertools
import types
import pytest
import quiet_machine

attempts = {name: itertools.count(1) for name in ("a", "b", "c", "d")}
homes = itertools.count(1)
clock, stolen = itertools.count(), itertools.count()
quiet_machine.time = types.SimpleNamespace(monotonic=lambda: 10.0 * next(clock))
quiet_machine.stolen_s = lambda: {taken} * 10.0 * next(stolen)
quiet_machine.QUIET_S = quiet_machine.PATIENCE_S = 0

@pytest.fixture(scope="module")
def home():
    return next(homes)

def test_a_good_one(home):
    assert home == 1

def test_a_second_time(home):
    assert home == 1
    assert next(attempts["a"]) > 1, "held up"

def test_never(home):
    assert next(attempts["b"]) > 5, "wrong"

@quiet_machine.figure_test
def test_a_figure(home):
    assert next(attempts["c"]) > 1, "far off"

@quiet_machine.figure_test
@pytest.mark.parametrize("value", [1])
def test_a_wrong_figure(home, value):
    assert next(attempts["d"]) > 5, "far off"
"""

SECOND, NEVER, FIGURE = "test_a_second_time", "test_never", "test_a_figure"
WRONG = "test_a_wrong_figure[1]"
SAID = {SECOND: "held up", NEVER: "wrong", FIGURE: "far off", WRONG: "far off"}
QUIET = "3 failed, 2 passed, 2 tried again", [FIGURE, WRONG]
DISTURBED = (
    "2 failed, 3 passed, 10 tried again",
    [SECOND, *4 * [NEVER], FIGURE, *4 * [WRONG]],
)


@pytest.mark.parametrize(
    ("taken", "outcome", "workers"),
    [
        (0.4, DISTURBED, ("-p", "xdist", "--numprocesses", "1")),
        (0.021, DISTURBED, ()),
        (0.019, QUIET, ()),
    ],
)
def test_what_failed_in_a_disturbed_moment_is_tried_again(
    tmp_path: Path, taken: float, outcome: tuple[str, list[str]], workers: tuple[str, ...]
) -> None:
    """Four times more at most, an undisturbed figure once: all is told, nothing skipped."""
    counts, again = outcome
    shutil.copy(TESTS / "conftest.py", tmp_path)
    (tmp_path / "test_suite.py").write_text(SUITE.replace("{taken}", str(taken)))
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\npythonpath = {TESTS / 'support'}\naddopts = --strict-markers\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        # Other plugins have no part in it and take a second at each start.
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith(f"{counts} in "), done.stdout
    told = [line for line in done.stdout.splitlines() if line.startswith("AGAIN ")]
    host = f"the host took {taken:.1%} of a processor's time"
    wanted = [
        f"AGAIN test_suite.py::{name}: {host}: AssertionError: {SAID[name]}" for name in again
    ]
    assert told == wanted


def test_the_kernel_s_ticks_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight numbers of `cpu`: the last is what the host took, in hundredths of a second."""
    text = "cpu  1 2 3 4 5 6 7 250 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n"
    monkeypatch.setattr(quiet_machine.Path, "read_text", lambda _: text)
    monkeypatch.setattr(quiet_machine.os, "sysconf", lambda _: 100)
    assert quiet_machine.stolen_s() == 2.5
