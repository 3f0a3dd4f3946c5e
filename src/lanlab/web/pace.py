"""
Keep this process from taking processors from a measurement: a thread works a little and rests long.

A trial is marked as disturbed if other processes used 0.1 of a processor (`analysis/pollution.py`).
A table of thousands of trials takes a second, so it is not enough to compute it seldom.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

RATIO = 0.05
#: Work between two rests, seconds: short compared with any trial.
_WORK_S = 0.003
#: Calls between two looks at the clock, which costs more than many a call.
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
    """Rest at calls of functions within the block, which cost more then.

    Args:
        is_paced: Whether to rest at all.
    """
    if not is_paced:
        yield
        return
    pace = Pace()

    calls = 0

    def at_event(frame: Any, event: str, argument: Any) -> None:
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
