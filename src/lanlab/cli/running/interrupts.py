"""
Handles Ctrl-C and the signals that request a program to end, so that each ends a command cleanly.

A clean end takes some tenths of a second to stop engines and hosts and to mark the run. A second
press within that time would interrupt this, so it is ignored.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

_ONE_PRESS_S = 1.0
#: Delay before an interrupt is raised again if it came where Python cannot raise it (`__del__`), or
#: during an import.
_AGAIN_S = 0.02

EXIT_CODE = 1


class Interrupts:
    """
    The effect of SIGINT, SIGTERM and SIGHUP.

    Before the command works, it ends at once: an exception during an import may get lost or turn
    into another. While the command works, `KeyboardInterrupt` is raised, at most once per second.
    An interrupt during an import is raised after it, because some libraries continue without
    a module whose import fails; a second one is raised at once. While the rest of the output
    is written, the command ends at once.
    """

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence
        self._heeded_at: float | None = None
        self._numbers: list[int] = []
        self._ends_at_once = True

    @property
    def heeded(self) -> bool:
        return self._heeded_at is not None

    def install(self) -> None:
        """From now on, a signal to the main thread ends the command at once."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Keep ignoring a signal that the parent process ignores: `nohup lanlab run`.
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._numbers.append(number)
                signal.signal(number, self._interrupt)

    def work(self) -> None:
        """From now on a signal raises `KeyboardInterrupt`."""
        self._ends_at_once = False
        sys.unraisablehook = self._unraisable

    def finish(self) -> None:
        """From now on, a signal ends the command at once, because only output is left to write, and
        its reader may never read it. An earlier interrupt is still handled.
        """
        self._ends_at_once = True
        _come_no_more()

    def close(self) -> None:
        """Ignore signals from now on, even while Python removes the handlers at exit."""
        for number in self._numbers:
            signal.signal(number, signal.SIG_IGN)
        sys.unraisablehook = sys.__unraisablehook__

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._heeded_at is not None and now - self._heeded_at < _ONE_PRESS_S:
            return
        was_heeded, self._heeded_at = self.heeded, now
        if self._ends_at_once:
            end_at_once("" if was_heeded else self._sentence)
        if was_heeded:
            # Do not wait for the end of an import, which may never come.
            _come_no_more()
            raise KeyboardInterrupt
        self._raise_outside_imports(number, frame)

    def _raise_outside_imports(self, number: int, frame: FrameType | None) -> None:
        if _is_importing(frame):
            _come_again(self._raise_outside_imports)
        elif not self._ends_at_once:
            raise KeyboardInterrupt

    def _unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(unraisable)
        else:
            _come_again(self._raise_outside_imports)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _come_no_more() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0)


def _come_again(handler: Callable[[int, FrameType | None], None]) -> None:
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)


def end_at_once(sentence: str) -> NoReturn:
    """End this process at once; nothing is left unfinished."""
    try:
        if sentence:
            os.write(2, f"{sentence}\n".encode())
    finally:
        os._exit(EXIT_CODE)
