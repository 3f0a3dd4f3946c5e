"""Small programs to run on a testbed's hosts, and ways to see what a testbed left."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from programs import begun, ran

from lanlab.addresses import AddressFamily
from lanlab.testbeds import process_leftovers
from lanlab.testbeds.base import Host
from lanlab.testbeds.base import Testbed as Bed

#: Echoes UDP datagrams and TCP connections at each address given, until its input closes.
SERVER = """
import json, select, socket, sys
sockets, ports = {sys.stdin: None}, []
for version, address in json.loads(sys.argv[1]).items():
    family = {"4": socket.AF_INET, "6": socket.AF_INET6}[version]
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        s = socket.socket(family, kind)
        s.bind((address, 0))
        if kind == socket.SOCK_STREAM:
            s.listen()
        sockets[s] = kind
        ports.append([version, int(kind), address, s.getsockname()[1]])
print(json.dumps(ports), flush=True)
while True:
    for s in select.select(list(sockets), [], [])[0]:
        if s is sys.stdin:
            sys.exit()
        if sockets[s] == socket.SOCK_STREAM:
            connection, _ = s.accept()
            connection.sendall(connection.recv(100))
            connection.close()
        else:
            s.sendto(*s.recvfrom(100))
"""
#: Visits servers; prints what answered.
CLIENT = """
import json, socket, sys
answered = []
for version, kind, address, port in json.loads(sys.argv[1]):
    family = {"4": socket.AF_INET, "6": socket.AF_INET6}[version]
    with socket.socket(family, kind) as s:
        s.settimeout(float(sys.argv[2]))
        try:
            s.connect((address, port))
            s.sendall(b"hello")
            if s.recv(100) == b"hello":
                answered.append([version, kind, address, port])
        except OSError:
            pass
print(json.dumps(answered))
"""


def ip_addresses(host: Host) -> dict[int, str]:
    versions: dict[AddressFamily, int] = {"ipv4": 4, "ipv6": 6}
    return {n: host.addresses[family] for family, n in versions.items() if family in host.addresses}


def command_on(host: Host, *words: str) -> list[str]:
    """What runs a command on a host. ssh puts its words behind each other, for a shell there."""
    is_by_ssh = host.start_engine is not None
    return [*host.command_prefix, *(map(shlex.quote, words) if is_by_ssh else words)]


def python_on(host: Host) -> str:
    """A Python that is there: hosts with ssh servers have home directories of their own."""
    return "/usr/bin/python3" if host.start_engine is not None else sys.executable


class Server:
    def __init__(self, host: Host) -> None:
        python, addresses = python_on(host), json.dumps(ip_addresses(host))
        self.process, said = begun(command_on(host, python, "-c", SERVER, addresses))
        #: Version, socket kind, address and port of each.
        self.ports: list[Any] = json.loads(said)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()


def answered(host: Host, ports: list[Any], patience_s: float = 5.0) -> list[Any]:
    done = ran(
        command_on(host, python_on(host), "-c", CLIENT, json.dumps(ports), str(patience_s)),
        check=True,
    )
    found: list[Any] = json.loads(done.stdout)
    return found


def reaches(testbed: Bed, sender: int, receiver: int, patience_s: float = 5.0) -> bool:
    """Whether one host reaches another by UDP and TCP at each of its addresses."""
    with Server(testbed.hosts[receiver]) as server:
        assert len(server.ports) == 2 * len(ip_addresses(testbed.hosts[receiver]))
        return answered(testbed.hosts[sender], server.ports, patience_s) == server.ports


def network_of(host: Host) -> str:
    """The network namespace of a host; of the loopback testbed, our own."""
    done = ran(command_on(host, "readlink", "/proc/self/ns/net"), check=True)
    return done.stdout.strip()


def network_of_process(pid: int | str) -> str:
    return str(Path(f"/proc/{pid}/ns/net").readlink())


def own_network() -> str:
    return network_of_process("self")


@contextlib.contextmanager
def kept_networks(pids: Iterable[int]) -> Iterator[set[str]]:
    """
    The network namespaces of processes, for the block.

    They last as long as it: the number of one that is gone is soon that of another.
    """
    with contextlib.ExitStack() as kept:
        found = set()
        for pid in pids:
            network = kept.enter_context(Path(f"/proc/{pid}/ns/net").open("rb"))
            found.add(f"net:[{os.fstat(network.fileno()).st_ino}]")
        yield found


def used_networks() -> set[str]:
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found.add(network_of_process(process.name))
    return found


def own_interfaces() -> set[str]:
    table = Path("/proc/net/dev")
    return {x.split(":")[0] for x in table.read_text().splitlines()} if table.exists() else set()


def marked_by(pid: int) -> list[process_leftovers.Leftover]:
    return [
        each for each in process_leftovers.marked_processes() if each.mark.startswith(f"{pid}:")
    ]


def children_of(pid: int) -> list[int]:
    """Living processes that a process started, without those that have ended unnoticed."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                # After the name, which may hold anything: state and parent (proc(5)).
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                if int(parent) == pid and state != "Z":
                    found.append(int(folder.name))
    return found
