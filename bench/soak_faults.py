"""
What goes wrong on purpose while a trial runs, and is made good afterwards.

Engines are found and hit from outside, by process id, as an accident would: lanlab is not told.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import soak_processes as processes
from soak_conditions import SILENCE_S

from lanlab.testbeds import shaping
from lanlab.testbeds.link import parse_link

Kind = Literal["killed engine", "dead peer", "lossy link"]

#: How often each happens. An engine lives long enough for what it leaks to show.
_PROBABILITIES: dict[Kind, float] = {"killed engine": 0.003, "dead peer": 0.015, "lossy link": 0.03}
#: Each happens once early on, so that whatever is set up by its first time is there when growth
#: begins to be judged.
_FIRST: dict[int, Kind] = {3: "killed engine", 6: "dead peer", 9: "lossy link", 12: "killed engine"}

#: After the trial has begun. Setting up and starting takes about so long.
_AFTER_S = 0.15
#: A stopped engine is dead to its peer, and goes on before lanlab takes it for lost.
_STOPPED_S = 3 * SILENCE_S
_LOSSY_S = 0.2
#: Two frames: a burst of more is cut off.
_LOSSY_QUEUE_BYTES = 3_200
_TOOL_WITHIN_S = 10.0


@dataclass(frozen=True)
class Fault:
    """What happens in one trial."""

    kind: Kind
    #: The engine that is hit: 0 the one of the source, 1 that of the target.
    engine: int


def fault_of(seed: int, trial: int, allowed: tuple[Kind, ...]) -> Fault | None:
    """What happens in the trial of that number, if anything does; it follows from the seed."""
    draw = random.Random(f"{seed}:{trial}")
    engine = draw.randrange(2)
    chance = draw.random()
    for kind in allowed:
        if _FIRST.get(trial) == kind or 0 <= chance < _PROBABILITIES[kind]:
            return Fault(kind, engine)
        chance -= _PROBABILITIES[kind]
    return None


def allowed_faults(testbed: str, link: str) -> tuple[Kind, ...]:
    """What can be made to go wrong on a testbed: links where a token bucket keeps the speed."""
    if os.name != "posix":
        return ()
    of_link: tuple[Kind, ...] = ()
    if testbed == "virtual" and parse_link(link).shape == "tbf" and shutil.which("tc"):
        of_link = ("lossy link",)
    return ("killed engine", "dead peer", *of_link)


class Faults:
    """One fault at a time: `begin` in a trial, `end` after it."""

    def __init__(self, link: str) -> None:
        self._rate_bps = parse_link(link).rate_bps
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, fault: Fault) -> None:
        """Let it happen shortly, whatever the trial does meanwhile."""
        found = processes.engines()
        if fault.engine >= len(found):
            return
        pid = found[fault.engine]
        act = {
            "killed engine": self._kill,
            "dead peer": self._stop,
            "lossy link": self._lose,
        }[fault.kind]
        self._over.clear()
        self._thread = threading.Thread(target=self._after_a_while, args=(act, pid), daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Wait until all is as it was."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _after_a_while(self, act: Callable[[int], None], pid: int) -> None:
        if not self._over.wait(_AFTER_S):
            act(pid)

    def _kill(self, pid: int) -> None:
        if pid in processes.engines():
            os.kill(pid, signal.SIGKILL)

    def _stop(self, pid: int) -> None:
        if pid not in processes.engines():
            return
        os.kill(pid, signal.SIGSTOP)
        try:
            # Not ended early: lanlab itself waits for the engine until it goes on.
            threading.Event().wait(_STOPPED_S)
        finally:
            os.kill(pid, signal.SIGCONT)

    def _lose(self, pid: int) -> None:
        try:
            self._set_queue(pid, _LOSSY_QUEUE_BYTES)
            self._over.wait(_LOSSY_S)
        finally:
            self._set_queue(pid, shaping.HOST_QUEUE_BYTES)

    def _set_queue(self, pid: int, queue_bytes: int) -> None:
        assert self._rate_bps is not None
        user = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
        batch = shaping.shaping_batch(["eth0"], self._rate_bps, queue_bytes)
        subprocess.run(
            ["nsenter", *user, "--net", "--target", str(pid), "--", "tc", "-batch", "-"],
            input=batch,
            text=True,
            check=True,
            capture_output=True,
            timeout=_TOOL_WITHIN_S,
        )
