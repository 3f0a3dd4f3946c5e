"""Processes, sockets and file systems, as listed by Linux (proc(5))."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from lanlab.frozen import dataclass

PROC = Path("/proc")
MOUNTS = PROC / "self/mountinfo"
#: Tables of sockets in `/proc/net`; the second exists only with IPv6.
SOCKET_TABLES = {"tcp": ("tcp", "tcp6"), "udp": ("udp", "udp6")}
#: The state of a socket that waits for anyone: `TCP_LISTEN`, or `TCP_CLOSE` for a bound UDP socket
#: (include/net/tcp_states.h).
WAITING_STATE = {"tcp": 10, "udp": 7}

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


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
    for entry in PROC.iterdir():
        if entry.name.isdecimal() and (process := _read(int(entry.name))) is not None:
            found[process.pid] = process
    return found


def by_parent(processes: Iterable[Process]) -> dict[int, list[Process]]:
    children: dict[int, list[Process]] = {}
    for process in processes:
        children.setdefault(process.parent, []).append(process)
    return children


def tree(root: int) -> list[Process]:
    """A process and its descendants, `root` first; empty if it is gone."""
    known = everything()
    children = by_parent(known.values())
    found = [known[root]] if root in known else []
    for process in found:
        found += children.get(process.pid, [])
    return found


def stat_fields(pid: int) -> list[str]:
    """The fields of a process from the third, its state, on.

    Raises:
        OSError: There is none.
    """
    stat = (PROC / str(pid) / "stat").read_text()
    # The name in parentheses may hold anything.
    return stat[stat.rindex(")") + 1 :].split()


def _read(pid: int) -> Process | None:
    with contextlib.suppress(OSError, ValueError):
        fields = stat_fields(pid)
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
        for thread in (PROC / str(pid) / "task").iterdir():
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
        status = (PROC / str(pid) / "status").read_text()
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        # Real, effective, saved, and of the file system.
        return int(fields["Uid"].split()[1]), int(fields["Gid"].split()[1])
    return None


@dataclass(frozen=True)
class Socket:
    port: int
    state: int
    #: 0 if no process has it.
    inode: int
    #: Its address as printed: each 32-bit word in the machine's byte order.
    digits: str

    @property
    def address(self) -> Address:
        words = (self.digits[at : at + 8] for at in range(0, len(self.digits), 8))
        octets = b"".join(int(word, 16).to_bytes(4, sys.byteorder) for word in words)
        found = ipaddress.ip_address(octets)
        mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
        return mapped or found


def sockets(tables: str) -> Iterator[Socket]:
    """The sockets in the text of `/proc/net/tcp` and tables like it."""
    for line in tables.splitlines():
        with contextlib.suppress(ValueError, IndexError):
            fields = line.split()
            digits, _, port = fields[1].partition(":")
            yield Socket(int(port, 16), int(fields[3], 16), int(fields[9]), digits)


def socket_tables(net: Path, names: Iterable[str]) -> str:
    found = []
    for name in names:
        with contextlib.suppress(OSError):
            found.append((net / name).read_text())
    return "".join(found)


def holds_any(pid: int, inodes: Collection[int]) -> bool:
    """Whether a process has one of these sockets open.

    Raises:
        OSError: It has ended, or this user may not see it.
    """
    wanted = {f"socket:[{inode}]" for inode in inodes}
    for descriptor in (PROC / str(pid) / "fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            if str(descriptor.readlink()) in wanted:
                return True
    return False


def file_system_of(path: Path) -> str | None:
    """Type of the file system of a path; `None` if unknown."""
    with contextlib.suppress(OSError):
        return file_system_in(MOUNTS.read_text(errors="replace"), path.absolute())
    return None


def file_system_in(mountinfo: str, path: Path) -> str | None:
    """Type of the file system of an absolute path, from the text of `MOUNTS`.

    Examples:
        >>> text = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\\n2 1 0:9 / /home rw - nfs4 srv:/h rw"
        >>> file_system_in(text, Path("/home/ada/store")), file_system_in(text, Path("/x"))
        ('nfs4', 'ext4')
    """
    best: tuple[int, str] | None = None
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        point = Path(_unescape(fields[4]))
        # Of two equal mount points, the later one hides the earlier.
        if path.is_relative_to(point) and (best is None or len(point.parts) >= best[0]):
            best = (len(point.parts), after.split()[0])
    return best and best[1]


def _unescape(field: str) -> str:
    """Decode the octal escapes in mountinfo, such as spaces and backslashes (proc(5))."""
    for code in ("040", "011", "012", "134"):
        field = field.replace(f"\\{code}", chr(int(code, 8)))
    return field
