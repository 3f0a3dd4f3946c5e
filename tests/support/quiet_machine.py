"""
For tests on a machine that may be disturbed, and for tests of figures.

A host under a virtual machine can take its processors away for a while. A test that failed
meanwhile may have failed for that. `tests/conftest.py` and `tools/test_rust.py` try it again. Only
`tools/test_side_by_side.sh` repeats a test beside them.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., None])

#: How often a test runs at most.
ATTEMPTS = 5
#: How often a test of figures runs at most where nothing disturbed it.
ATTEMPTS_AT_FIGURES = 2
#: Share of one processor's time, while the test ran, from which on the host may have failed it.
SPOILING_RATIO = 0.02
#: A test is tried again once the host leaves the processors alone for this long, or after a while.
QUIET_S = 1.0
PATIENCE_S = 60.0
#: How long what lasts is watched at a time.
STRETCH_S = 5.0

_FIGURES = "figures"


def stolen_s() -> float:
    """Time that the host took of all processors since the start; 0 where no kernel says."""
    try:
        line = Path("/proc/stat").read_text().partition("\n")[0]
    except OSError:
        return 0.0
    # proc_pid_stat(5): user nice system idle iowait irq softirq steal, in ticks.
    return int(line.split()[8]) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Disturbance:
    """What the host took in a while, as a share of one processor's time."""

    ratio: float

    @property
    def spoils(self) -> bool:
        """Whether what failed meanwhile may have failed for that."""
        return self.ratio >= SPOILING_RATIO

    def __str__(self) -> str:
        return f"the host took {self.ratio:.1%} of a processor's time"


def watch() -> Callable[[], Disturbance]:
    """Begin to watch the host; the result says what it has taken since."""
    start_s, before_s = time.monotonic(), stolen_s()
    return lambda: Disturbance((stolen_s() - before_s) / max(time.monotonic() - start_s, 1e-3))


def watch_stretches() -> Callable[[], Disturbance]:
    """
    As `watch`, for what takes minutes: the result is that of the worst stretch, and ends the watch.

    A second that the host takes is little of two minutes, and may be all that a test of them had.
    """
    worst, is_over = [Disturbance(0.0)], threading.Event()

    def look() -> None:
        while not is_over.is_set():
            seen = watch()
            is_over.wait(STRETCH_S)
            worst.append(max(worst.pop(), seen(), key=lambda host: host.ratio))

    looking = threading.Thread(target=look, daemon=True)
    looking.start()

    def end() -> Disturbance:
        is_over.set()
        looking.join()
        return worst[0]

    return end


def await_quiet() -> None:
    """Wait until the host leaves the processors alone, but not for long."""
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s:
        host = watch()
        time.sleep(QUIET_S)
        if not host().spoils:
            return


def figure_test(test: Test) -> Test:
    """
    Mark a test whose subject is a figure of this machine.

    Figures scatter, and so do those of other programs that ours are compared with: such a test
    runs once more also where nothing is seen to have disturbed it.
    """
    mark: Test = getattr(pytest.mark, _FIGURES)(test)
    return mark


def may_run_again(item: pytest.Item, attempt: int, host: Disturbance) -> bool:
    """Whether a test that failed in this attempt, counted from one, has another."""
    if host.spoils:
        return attempt < ATTEMPTS
    return attempt < ATTEMPTS_AT_FIGURES and item.get_closest_marker(_FIGURES) is not None
