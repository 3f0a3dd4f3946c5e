"""The processors of this machine."""

from __future__ import annotations

import os


def usable_processors() -> int:
    return len(os.sched_getaffinity(0))
