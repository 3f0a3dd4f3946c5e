"""Waiting for what other processes do; only what hangs takes the whole patience."""

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

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


def is_running(pid: int) -> bool:
    """Whether a process is there and no zombie that its new parent has not taken leave of."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def kill(child: subprocess.Popen[str]) -> None:
    child.kill()


def interrupt(child: subprocess.Popen[str]) -> None:
    child.send_signal(signal.SIGINT)


def fail(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("\n")
    child.stdin.flush()


#: Ways in which a process that waits for a line ends.
ENDS = (kill, interrupt, fail)
