"""Keep processors from sleeping, so that what waits for a wire is not charged for their waking."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: It yields to all else, ends with whoever started it, and after an hour at most.
_SPIN = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
end = time.monotonic() + 3600
while os.getppid() == int(sys.argv[2]) and time.monotonic() < end:
    for _ in range(10000):
        pass
"""


@contextmanager
def kept_awake() -> Iterator[None]:
    """A thread of the lowest class of priority turns on each processor meanwhile. Linux only."""
    spinning = [
        subprocess.Popen([sys.executable, "-c", _SPIN, str(processor), str(os.getpid())])
        for processor in sorted(os.sched_getaffinity(0))
    ]
    try:
        yield
    finally:
        for one in spinning:
            one.terminate()
            one.wait()
