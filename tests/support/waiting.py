"""Waiting for what other processes do; only what hangs takes the whole patience."""

import os
import select
import time
from collections.abc import Callable, Sequence

PATIENCE_S = 180.0


def until(
    condition: Callable[[], bool],
    what: str,
    patience_s: float = PATIENCE_S,
    most_between_s: float = PATIENCE_S,
) -> None:
    """Looks less often the longer it takes, because reading `/proc` costs CPU time."""
    begin = time.monotonic()
    while not condition():
        if (waited_s := time.monotonic() - begin) > patience_s:
            raise AssertionError(f"waited {patience_s:g} s for {what}")
        time.sleep(min(most_between_s, max(0.01, waited_s / 50)))


def await_end(pids: Sequence[int]) -> None:
    """Wait until these processes have ended."""
    deadline = time.monotonic() + PATIENCE_S
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            ended, _, _ = select.select([descriptor], [], [], max(0, deadline - time.monotonic()))
            assert ended, f"process {pid} is still there"
        finally:
            os.close(descriptor)
