"""
Ctrl-C, and what the system sends to end a program politely: each ends a command in order.

Ending in order takes some tenths of a second, in which engines and hosts end and the run is marked.
A second press in that time would leave it half done, and is taken for the same one.
"""

from __future__ import annotations

import signal
import time
from types import FrameType

#: Signals within this time of one that was heeded belong to it.
_ONE_PRESS_S = 1.0


class Interrupts:
    """Raises `KeyboardInterrupt` for SIGINT, SIGTERM and SIGHUP, at most once in a second."""

    def __init__(self) -> None:
        self._heeded_at: float | None = None
        self._numbers: list[int] = []

    def install(self) -> None:
        """From now on, in the main thread."""
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            # What whoever started us has set to be ignored stays so: `nohup lanlab run`.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                self._numbers.append(number)
                signal.signal(number, self._interrupt)

    def close(self) -> None:
        """All has ended in order: what still comes of the press that was heeded is ignored, even
        while Python ends, which would take the handlers away."""
        if self._heeded_at is not None:
            for number in self._numbers:
                signal.signal(number, signal.SIG_IGN)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._heeded_at is not None and now - self._heeded_at < _ONE_PRESS_S:
            return
        self._heeded_at = now
        raise KeyboardInterrupt
