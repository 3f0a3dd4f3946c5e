"""
Limits this process's CPU use during a measurement: a thread works briefly and rests long.

A trial is marked as disturbed if other processes used 0.1 of a processor (`analysis/pollution.py`).
A table of thousands of trials takes a second to compute, so computing it less often is not enough.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

RATIO = 0.05
#: Work between two rests, in seconds: short compared with any trial.
_WORK_S = 0.003
#: Calls between two readings of the clock: one reading takes as long as many calls.
_CALLS = 200


class Pace:
    def __init__(self) -> None:
        self._began_s = time.thread_time()

    def rest(self) -> None:
        worked_s = time.thread_time() - self._began_s
        if worked_s >= _WORK_S:
            time.sleep(worked_s / RATIO - worked_s)
            self._began_s = time.thread_time()


@contextmanager
def paced(is_paced: bool) -> Iterator[None]:
    """Rest at function calls within the block, which makes calls slower.

    Args:
        is_paced: Whether to rest at all.
    """
    if not is_paced:
        yield
        return
    pace = Pace()

    calls = 0

    def at_event(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += 1
        if calls >= _CALLS:
            calls = 0
            pace.rest()

    was = sys.getprofile()
    sys.setprofile(at_event)
    try:
        yield
    finally:
        sys.setprofile(was)
