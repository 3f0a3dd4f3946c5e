"""
The processes of a server that lanlab did not start, found by their sockets: those that listen at
its address or accepted a connection there (`/proc/net/tcp`, proc(5)), and their later children.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import time
from collections.abc import Collection

from lanlab import linux
from lanlab.addresses import bare, socket_address
from lanlab.linux import Process

#: Sockets that init holds for others do not identify the server.
_INIT = 1

_Key = tuple[int, int]


def is_this_machine(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.bind(socket_address(address, 0))
    except OSError:
        return False
    return True


class LocalServer:
    """A server at an address of this machine, whose CPU time is watched."""

    def __init__(self, address: str, port: int) -> None:
        self._address, self._port = ipaddress.ip_address(bare(address)), port
        #: Why the server's CPU time is unknown; `None` if it is known, or was not requested yet.
        self.unknown: str | None = None
        self._before: dict[_Key, float] | None = None
        self._began_ticks = 0.0
        self._known: set[_Key] = set()
        self._used_s = 0.0

    def cpu_s(self) -> float | None:
        """
        CPU time of the server's processes since the first call, seconds.

        It covers the processes that hold a socket of the server or held one at an earlier call, the
        children that they started since, and terminated children that they waited for.

        Returns:
            `None` if it is unknown; `unknown` says why.
        """
        everything = linux.everything()
        if self._before is None:
            self._before = {_key(one): _total_s(one) for one in everything.values()}
            ticks_per_s = os.sysconf("SC_CLK_TCK")
            self._began_ticks = time.clock_gettime(time.CLOCK_BOOTTIME) * ticks_per_s - 1
        holders, reason = self._holders()
        self._known |= {_key(everything[pid]) for pid in holders if pid in everything}
        members = self._members(everything)
        if not members:
            self.unknown = reason or "this process itself is the server"
            return None
        self.unknown = None
        used_s = sum(_total_s(one) - self._before.get(_key(one), 0.0) for one in members)
        # The system reports no time for a terminated process that was not waited for yet.
        self._used_s = max(self._used_s, used_s)
        return self._used_s

    def _members(self, everything: dict[int, Process]) -> list[Process]:
        children = linux.by_parent(everything.values())
        waiting = [one for one in everything.values() if _key(one) in self._known]
        found: dict[int, Process] = {}
        while waiting:
            one = waiting.pop()
            # This process and its engines may descend from the server, as in a login by SSH.
            if one.pid in found or one.pid == os.getpid():
                continue
            found[one.pid] = one
            # Older children may be anything, such as a user's login shell.
            started = (c for c in children.get(one.pid, []) if c.start_ticks >= self._began_ticks)
            waiting += started
        return list(found.values())

    def _holders(self) -> tuple[set[int], str | None]:
        inodes, is_listened_to = set(), False
        tables = linux.socket_tables(linux.PROC / "net", linux.SOCKET_TABLES["tcp"])
        for one in linux.sockets(tables):
            is_here = one.address == self._address or one.address.is_unspecified
            if one.port == self._port and is_here:
                inodes.add(one.inode)
                is_listened_to |= one.state == linux.WAITING_STATE["tcp"]
        if not is_listened_to:
            return set(), (
                f"nothing in this network namespace listens at port {self._port}: the server is in "
                "a container, or its port is forwarded"
            )
        found, is_hidden = _processes_with(inodes)
        found.discard(_INIT)
        if found:
            return found, None
        if is_hidden:
            return set(), (
                "this user may not see which processes hold the server's sockets; root may, and "
                "the server's own user"
            )
        return set(), "no process was found that holds the server's sockets"


def _processes_with(inodes: Collection[int]) -> tuple[set[int], bool]:
    found: set[int] = set()
    is_hidden = False
    for process in linux.PROC.iterdir():
        if not process.name.isdecimal():
            continue
        try:
            if linux.holds_any(int(process.name), inodes):
                found.add(int(process.name))
        except PermissionError:
            is_hidden = True
        except OSError:
            # The process has ended.
            continue
    return found, is_hidden


def _key(process: Process) -> _Key:
    return process.pid, process.start_ticks


def _total_s(process: Process) -> float:
    return process.cpu_s + process.children_cpu_s
