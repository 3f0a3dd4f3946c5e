"""
Finds and ends processes that a killed lanlab left of a virtual LAN.

By design nothing remains: namespaces last as long as the processes in them, and these end when
lanlab's pipe to them closes. But a stopped or stuck process does not notice. So every process on a
host has a mark in its environment that identifies the process which opened the testbed: its id and
its start time, because ids are reused.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import time
from pathlib import Path

from lanlab import linux
from lanlab.frozen import dataclass

MARK = "LANLAB_TESTBED"
#: Within this time the kernel ends any process that is not stuck in it.
_END_WITHIN_S = 2.0
#: Processes that notice the end of their lanlab get this time: a server's keeper waits two seconds
#: for the server, then removes its files, which contain passwords.
_LEAVE_WITHIN_S = 4.0
_POLL_S = 0.002
_ROUNDS = 10

_serial = itertools.count()


@dataclass(frozen=True)
class Leftover:
    pid: int
    mark: str


def _stat(pid: int) -> list[str] | None:
    """Fields of a process from its state on (proc(5)); `None` if there is none (or a zombie)."""
    with contextlib.suppress(OSError):
        fields = linux.stat_fields(pid)
        return None if fields[0] in "ZX" else fields
    return None


def _start_ticks(pid: int) -> int | None:
    """When a process started, in ticks since boot; `None` if there is none (or a zombie)."""
    fields = _stat(pid)
    return None if fields is None else int(fields[19])


def _is_ending(process: Leftover) -> bool:
    fields = _stat(process.pid)
    return fields is not None and fields[0] not in "Tt"


def new_mark() -> str:
    """A mark for a testbed of this process: its id, its start, and a serial number."""
    pid = os.getpid()
    return f"{pid}:{_start_ticks(pid) or 0}:{next(_serial)}"


def _owner_is_gone(mark: str) -> bool:
    pid, start, *_ = (*mark.split(":"), "", "")
    return not pid.isdecimal() or str(_start_ticks(int(pid)) or 0) != start


def _same_pid_namespace(process: Path, own: str) -> bool:
    try:
        return str((process / "ns/pid").readlink()) == own
    except OSError:
        return False


def marked_processes(variable: str = MARK) -> list[Leftover]:
    """All living processes with a mark in this variable that this user may look at."""
    prefix = f"{variable}=".encode()
    found = []
    try:
        own = str((linux.PROC / "self/ns/pid").readlink())
    except OSError:
        return []
    for process in linux.PROC.glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
        except OSError:
            continue
        for entry in environment.split(b"\0"):
            if entry.startswith(prefix) and _same_pid_namespace(process, own):
                mark = entry[len(prefix) :].decode(errors="replace")
                found.append(Leftover(int(process.name), mark))
                break
    return found


def find_leftovers() -> list[Leftover]:
    return [each for each in marked_processes() if _owner_is_gone(each.mark)]


def marked_with(mark: str, variable: str = MARK) -> list[Leftover]:
    return [each for each in marked_processes(variable) if each.mark == mark]


def end(processes: list[Leftover]) -> list[Leftover]:
    """Kill processes and wait until they are gone.

    Returns:
        Those that are still there after 2 s, stuck in the kernel.
    """
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, signal.SIGKILL)
    deadline = time.monotonic() + _END_WITHIN_S
    while (left := [each for each in processes if _start_ticks(each.pid) is not None]) and (
        time.monotonic() < deadline
    ):
        time.sleep(_POLL_S)
    return left


def end_marked(mark: str, variable: str = MARK) -> list[Leftover]:
    """Kill all processes with a mark, and those that they start meanwhile; returns stuck ones."""
    for _ in range(_ROUNDS):
        if not (found := marked_with(mark, variable)):
            break
        if stuck := end(found):
            return stuck
    return found


def clean_leftovers() -> list[Leftover]:
    """
    End the processes of testbeds whose lanlab is gone; returns those that were found.

    If their lanlab has only just ended, they may still be ending by themselves, so they get some
    time.
    """
    found = find_leftovers()
    deadline = time.monotonic() + _LEAVE_WITHIN_S
    while any(map(_is_ending, found)) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    end(found)
    return found
