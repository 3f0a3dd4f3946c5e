"""
Pipes to and from other programs, in bounded time and memory, even if a program reads nothing or
prints without end.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

KEPT_BYTES = 65_536
#: A program that prints more than this is killed.
MOST_BYTES = 64 * 2**20
#: Output limit of a program that is run only for its answer.
MOST_ANSWER_BYTES = 2**20
_PIECE_BYTES = 65_536
_REST_WITHIN_S = 1.0


class Stalled(OSError):
    """The program at the other end of the pipe does not read."""


def write_within(
    pipe: IO[bytes], octets: bytes, within_s: float, stalled_s: float | None = None
) -> None:
    """
    Write to a pipe within a time limit. Its buffer must be empty.

    Args:
        within_s: Time limit in total; 0 if the pipe must have room at once.
        stalled_s: Longest time during which the other end reads nothing.

    Raises:
        Stalled: The time limit was exceeded; part of the data may have been written.
        OSError: The other end is closed.
    """
    try:
        descriptor = pipe.fileno()
    except io.UnsupportedOperation:
        # An object without a descriptor has its own time limit.
        descriptor = -1
    if descriptor < 0:
        pipe.write(octets)
        pipe.flush()
        return
    os.set_blocking(descriptor, False)
    waiting = select.poll()
    waiting.register(descriptor, select.POLLOUT)
    view, until = memoryview(octets), time.monotonic() + within_s
    while view:
        # Only the remaining time, so that a slow reader does not extend the limit.
        left_s = until - time.monotonic()
        wait_s = left_s if stalled_s is None else min(left_s, stalled_s)
        if not waiting.poll(max(0.0, wait_s) * 1000):
            raise Stalled(f"{len(view)} bytes were not taken")
        with contextlib.suppress(BlockingIOError):
            view = view[os.write(descriptor, view[:_PIECE_BYTES]) :]


class Tail:
    """The end of a program's output, read by a separate thread until the pipe closes."""

    def __init__(
        self,
        pipe: IO[bytes],
        name: str,
        on_flood: Callable[[], None] | None = None,
        *,
        kept_bytes: int = KEPT_BYTES,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """
        Args:
            pipe: The thread closes it at the end.
            name: Name of the thread.
            on_flood: Called once, on that thread, if the output exceeds `most_bytes`, to end the
                program; reading then stops. `None` for no limit.
        """
        self._pipe, self._on_flood = pipe, on_flood
        self._kept_bytes, self._most_bytes = kept_bytes, most_bytes
        self._kept = b""
        self._length = 0
        self._lock = threading.Lock()
        self.is_flood = False
        self._thread = threading.Thread(target=self._read, name=name, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        # `read1` of a buffered reader returns available data; `read` would wait for more.
        read: Callable[[int], bytes | None] = getattr(self._pipe, "read1", self._pipe.read)
        with contextlib.suppress(OSError, ValueError), self._pipe:
            while piece := read(_PIECE_BYTES):
                self._length += len(piece)
                with self._lock:
                    self._kept = (self._kept + piece)[-self._kept_bytes :]
                if self._on_flood is not None and self._length > self._most_bytes:
                    self.is_flood = True
                    self._on_flood()
                    return

    def text(self) -> str:
        with self._lock:
            return self._kept.decode(errors="replace")

    def last_line(self) -> str:
        lines = (line.strip() for line in reversed(self.text().splitlines()))
        return next((line for line in lines if line), "")

    def join(self, within_s: float = _REST_WITHIN_S) -> None:
        """Wait until everything is read: until all processes that inherited the pipe have ended."""
        self._thread.join(within_s)


def flood(most_bytes: int = MOST_BYTES) -> str:
    """The error message for a program that printed too much and was ended."""
    return f"wrote more than {most_bytes // 2**20} MiB of output and was ended"


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End the leader of a session together with its process group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.wait()


def run_briefly(
    argv: Sequence[str],
    within_s: float,
    text: str = "",
    *,
    cwd: Path | None = None,
    user: int | None = None,
    group: int | None = None,
    extra_groups: Sequence[int] | None = None,
) -> subprocess.CompletedProcess[str]:
    """
    Run a program and return its output, like `subprocess.run` but with bounded memory.

    Args:
        text: Standard input.
        cwd, user, group, extra_groups: As for `subprocess.Popen`.

    Raises:
        OSError: It cannot be started, or printed more than 1 MiB.
        subprocess.TimeoutExpired: It took too long and was ended.
    """
    pipe = subprocess.PIPE
    # In its own group, so that its child processes end with it.
    process = subprocess.Popen(
        argv,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        start_new_session=True,
        cwd=cwd,
        user=user,
        group=group,
        extra_groups=extra_groups,
    )
    assert process.stdin and process.stdout and process.stderr
    bounds = {"kept_bytes": MOST_ANSWER_BYTES, "most_bytes": MOST_ANSWER_BYTES}
    out, err = (
        Tail(one, f"{argv[0]} output", process.kill, **bounds)
        for one in (process.stdout, process.stderr)
    )
    until = time.monotonic() + within_s
    try:
        with contextlib.suppress(OSError), process.stdin:
            # A program that does not read its input can still succeed.
            write_within(process.stdin, text.encode(), within_s)
        process.wait(max(0.0, until - time.monotonic()))
        for each in (out, err):
            each.join(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise subprocess.TimeoutExpired(list(argv), within_s) from None
    finally:
        if process.poll() is None:
            end_group(process)
    if out.is_flood or err.is_flood:
        raise OSError(f"`{argv[0]}` {flood(MOST_ANSWER_BYTES)}")
    return subprocess.CompletedProcess(list(argv), process.returncode, out.text(), err.text())
