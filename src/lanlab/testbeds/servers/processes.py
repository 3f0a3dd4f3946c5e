"""The descendants of a process, and their CPU time, as listed by Linux (proc(5))."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from lanlab.frozen import dataclass

_PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    start_ticks: int
    #: User and system time of the process alone, seconds.
    cpu_s: float
    #: CPU time of children that it has waited for, seconds, in steps of a clock tick (usually
    #: 10 ms).
    children_cpu_s: float


def everything() -> dict[int, Process]:
    found: dict[int, Process] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdecimal() and (process := _read(int(entry.name))) is not None:
            found[process.pid] = process
    return found


def tree(root: int) -> list[Process]:
    """A process and its descendants, `root` first; empty if it is gone."""
    known = everything()
    children: dict[int, list[Process]] = {}
    for process in known.values():
        children.setdefault(process.parent, []).append(process)
    found = [known[root]] if root in known else []
    for process in found:
        found += children.get(process.pid, [])
    return found


def _read(pid: int) -> Process | None:
    with contextlib.suppress(OSError, ValueError):
        stat = (_PROC / str(pid) / "stat").read_text()
        # The name in parentheses may hold anything; behind it field 3 (state) comes first.
        fields = stat[stat.rindex(")") + 1 :].split()
        user, system, children_user, children_system = map(int, fields[11:15])
        ticks_per_s = os.sysconf("SC_CLK_TCK")
        own, children = user + system, children_user + children_system
        parent, start_ticks = int(fields[1]), int(fields[19])
        # The kernel reports ticks for processes, but nanoseconds for living threads.
        own_s = max(own / ticks_per_s, _threads_s(pid))
        return Process(pid, parent, start_ticks, own_s, children / ticks_per_s)
    return None


def _threads_s(pid: int) -> float:
    elapsed_ns = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for thread in (_PROC / str(pid) / "task").iterdir():
            elapsed_ns += int((thread / "schedstat").read_text().split()[0])
    return elapsed_ns / 1e9


def still_there(known: Sequence[Process]) -> list[Process]:
    now = {each.pid: _read(each.pid) for each in known}
    return [
        each
        for each in known
        if (found := now[each.pid]) is not None and found.start_ticks == each.start_ticks
    ]


def user_of(pid: int) -> tuple[int, int] | None:
    """Effective user and group of a process, as numbered in this process's namespace."""
    with contextlib.suppress(OSError):
        status = (_PROC / str(pid) / "status").read_text()
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        # Real, effective, saved, and of the file system.
        return int(fields["Uid"].split()[1]), int(fields["Gid"].split()[1])
    return None
