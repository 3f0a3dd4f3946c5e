"""
What processes hold: memory, descriptors, threads; on Linux by `/proc`, elsewhere by `ps`.

What a system does not tell is `None`, which means not known.
"""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lanlab.engine.locate import NAME

_PROC = Path("/proc")
_PS_WITHIN_S = 10.0


@dataclass(frozen=True)
class Holdings:
    """What one process holds at one moment."""

    pid: int
    #: Memory that is in place.
    rss_bytes: int | None = None
    #: The same, with what is shared divided among those who share it.
    pss_bytes: int | None = None
    #: The part of it that nobody shares.
    private_bytes: int | None = None
    descriptors: int | None = None
    threads: int | None = None


@dataclass(frozen=True)
class OwnHeap:
    """What this process has allocated, exactly; retained free memory is not part of it."""

    #: In use of the C library's heap; glibc only.
    heap_bytes: int | None
    #: Objects in Python's own allocator.
    python_blocks: int


def holdings(pid: int) -> Holdings:
    """What a process holds now; of one that is gone nothing is known."""
    if not _PROC.is_dir():
        return _by_ps(pid)
    try:
        rollup = {
            key: int(rest.split()[0]) * 1024
            for key, _, rest in (
                line.partition(":")
                for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()[1:]
            )
        }
        return Holdings(
            pid=pid,
            rss_bytes=rollup["Rss"],
            pss_bytes=rollup["Pss"],
            private_bytes=rollup["Private_Clean"] + rollup["Private_Dirty"],
            descriptors=sum(1 for _ in (_PROC / str(pid) / "fd").iterdir()),
            threads=sum(1 for _ in (_PROC / str(pid) / "task").iterdir()),
        )
    except (OSError, KeyError, ValueError, IndexError):
        return Holdings(pid)


def _ps(*columns: str) -> list[list[str]]:
    """Rows of `ps` for all processes; the last column may hold blanks."""
    try:
        shown = subprocess.run(
            ["ps", "-A", *(word for name in columns for word in ("-o", f"{name}="))],
            capture_output=True,
            text=True,
            timeout=_PS_WITHIN_S,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.split(None, len(columns) - 1) for line in shown.splitlines()]


def _by_ps(pid: int) -> Holdings:
    for row in _ps("pid", "rss"):
        if row[0] == str(pid):
            return Holdings(pid, rss_bytes=int(row[1]) * 1024)
    return Holdings(pid)


def _table() -> list[tuple[int, int, str]]:
    """Process id, parent's id and name of the program, of every process."""
    if not _PROC.is_dir():
        return [
            (int(row[0]), int(row[1]), Path(row[2]).name)
            for row in _ps("pid", "ppid", "comm")
            if len(row) == 3
        ]
    found = []
    for folder in _PROC.glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
        except OSError:
            continue
        # The name in parentheses may hold anything; behind it state and parent (proc(5)).
        start, end = stat.index("(") + 1, stat.rindex(")")
        found.append((int(folder.name), int(stat[end + 1 :].split()[1]), stat[start:end]))
    return found


def children(name: str | None = None) -> list[int]:
    """Processes that this one has started, zombies too; of one program, or all. Oldest first."""
    own = os.getpid()
    # The kernel keeps 15 characters of a program's name.
    return sorted(
        pid
        for pid, parent, program in _table()
        if parent == own and (name is None or program[:15] == name[:15])
    )


def engines() -> list[int]:
    """The engines that this process drives."""
    return children(NAME)


def descendants() -> list[int]:
    """Processes that come from this one, by whatever way, without itself."""
    below: dict[int, list[int]] = {}
    for pid, parent, _ in _table():
        below.setdefault(parent, []).append(pid)
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        next_ones = below.get(waiting.pop(), [])
        found += next_ones
        waiting += next_ones
    return found


def network_namespaces() -> int:
    """Network namespaces that this process and those from it are in."""
    seen = set()
    for pid in (os.getpid(), *descendants()):
        try:
            seen.add((_PROC / str(pid) / "ns" / "net").readlink())
        except OSError:
            continue
    return len(seen)


class _Mallinfo2(ctypes.Structure):
    # mallinfo(3): whole numbers of the size of a pointer, in this order.
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def own_heap() -> OwnHeap:
    """What this process has allocated, once all that is no longer reachable is freed."""
    gc.collect()
    heap_bytes = None
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):
        pass
    else:
        mallinfo2.restype = _Mallinfo2
        told = mallinfo2()
        heap_bytes = told.uordblks + told.hblkhd
    return OwnHeap(heap_bytes, sys.getallocatedblocks())
