"""Processors that do not sleep, so that a bench does not measure how long theirs take to wake."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: Works only while nothing else wants its processor, and ends with the bench.
_WORK = """
import os, sys
parent = os.getppid()
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
os.sched_setaffinity(0, {int(sys.argv[1])})
while os.getppid() == parent:
    for _ in range(100_000):
        pass
"""


@contextmanager
def awake() -> Iterator[None]:
    """Keep all processors that this process may use awake."""
    workers = [
        subprocess.Popen([sys.executable, "-c", _WORK, str(processor)])
        for processor in sorted(os.sched_getaffinity(0))
    ]
    try:
        yield
    finally:
        for worker in workers:
            worker.kill()
            worker.wait(10)
