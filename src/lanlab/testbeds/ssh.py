"""
Hosts reached by ssh, including this machine if it is named: an engine is copied to each.

Nothing is installed there, and only ports that a trial needs are open: lanlab talks to engines
through ssh, and they end with its connections.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import platform
import re
import socket
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lanlab.addresses import AddressFamily, bare, ip_family, is_of_one_link, socket_address, zone_of
from lanlab.disk import TemporaryFolder, remove_left_folder
from lanlab.engine import Engine, engine_path
from lanlab.engine.command import EngineCommand
from lanlab.engine.travelling import machine_name, travelling_engine
from lanlab.errors import LabError, RunError, UsageError
from lanlab.testbeds.base import Host, LinkFacts, Testbed
from lanlab.testbeds.link import check_unshaped
from lanlab.testbeds.remote.connection import Connection, Heartbeat
from lanlab.testbeds.remote.destinations import HERE, PREFIX, Destination, read_destinations
from lanlab.testbeds.remote.installed_engine import (
    END_AFTER_SILENCE_S,
    HEARTBEAT_S,
    REMOVE_VARIABLE,
    Arrival,
    InstalledEngine,
    arrive,
    install,
)
from lanlab.testbeds.remote.programs import RemotePrograms

MAX_HOSTS = 64
#: Prefix of the directory of the connections' sockets. A socket's path has at most 107 bytes
#: (unix(7)), on other systems 103. Beyond the path of a directory it contains 27 for the name of
#: lanlab's with a process id of 7 digits, 8 for the socket, two `/`, and 17 that ssh appends
#: temporarily.
_FOLDER = "lanlab-ssh-"
_FOLDER_PID = re.compile(rf"{_FOLDER}(\d+)-")
_MOST_FOLDER_BYTES = 49
#: ssh_config(5) interprets blanks, quotes, `%` and `$` in a path.
_PLAIN_FOLDER = re.compile(rf"/[A-Za-z0-9_./+:@,=-]{{0,{_MOST_FOLDER_BYTES - 1}}}")
_LINES = Path(__file__).with_name("remote").joinpath("holder.sh").read_text("utf-8").splitlines()
#: The shell script `holder.sh`, which holds a connection, as one line for any POSIX shell.
LINE = " ".join(one for one in _LINES if not one.startswith("#")).strip() + "\n"


class _Remote:
    def __init__(self, destination: Destination, folder: Path, *, keep: bool) -> None:
        self.destination = destination
        self.connection = Connection(destination, folder, LINE)
        try:
            self.arrival: Arrival = arrive(self.connection)
            self.engine: InstalledEngine = install(self.connection, self.arrival, keep=keep)
            self.connection.settle()
        except BaseException:
            self.connection.close()
            raise

    def start_engine(self) -> EngineCommand:
        """
        The command that starts the engine there.

        Raises:
            RunError: The connection has ended: ssh would open another one, which lanlab does not
                end.
        """
        if why := self.connection.why_ended():
            raise RunError(f"{self.destination.label}: {why}", host=self.destination.label)
        mark, argv = self.connection.marked_command(
            f"{self.engine.path} --end-after-silence {END_AFTER_SILENCE_S}"
        )
        return EngineCommand(
            argv, self.destination.label, mark, HEARTBEAT_S, self.connection.why_ended
        )

    def facts(self) -> dict[str, object]:
        return {
            "kernel": self.arrival.kernel,
            "architecture": self.arrival.architecture,
            "engine": {
                "path": self.engine.path,
                "sha256": self.engine.sha256,
                "was_copied": self.engine.was_copied,
            },
        }


class SshTestbed(Testbed):
    #: A start travels by ssh; a late one is repeated with twice the lead.
    start_lead_s = 0.1

    def __init__(self, text: str, hosts: int, link: str) -> None:
        """
        Args:
            text: The part after `ssh:` in the testbed's name: hosts, or a file of them.
            hosts: Number of hosts to use, the first ones.
            link: `unshaped`: the network exists.

        Raises:
            UsageError: A host is malformed, cannot be reached, or cannot have an engine.
            LabError: For the same reasons. Nothing is left behind.
        """
        destinations = _wanted(read_destinations(text), hosts, link, f"{PREFIX}{text}")
        self.name = f"{PREFIX}{text}"
        self._closed = False
        self._folder = _make_folder()
        self._remotes: list[_Remote | None] = []
        self._heartbeat: Heartbeat | None = None
        try:
            self._connect(destinations, keep=not os.environ.get(REMOVE_VARIABLE))
            self.hosts = tuple(
                Host(
                    f"host{number}",
                    _addresses(destinations, self._remotes, number),
                    () if remote is None else remote.connection.command(),
                    destination.interface,
                    destination.label,
                    None if remote is None else remote.start_engine,
                    runs_programs=remote is None,
                    programs_there=None
                    if remote is None
                    else RemotePrograms(destination.label, remote.connection.command),
                )
                for number, (destination, remote) in enumerate(
                    zip(destinations, self._remotes, strict=True)
                )
            )
        except BaseException:
            self.close()
            raise
        self.link = LinkFacts.as_it_is("network")

    def _connect(self, destinations: Sequence[Destination], *, keep: bool) -> None:
        def reach(destination: Destination) -> _Remote | LabError | None:
            try:
                return (
                    None
                    if destination.ssh is None
                    else _Remote(destination, self._folder.path, keep=keep)
                )
            except LabError as error:
                return error

        with ThreadPoolExecutor(max_workers=8) as pool:
            # Read and hashed while ssh connects, because most hosts have this machine's
            # architecture.
            pool.submit(travelling_engine, machine_name(platform.machine()), HERE)
            reached = list(pool.map(reach, destinations))
        self._remotes = [None if isinstance(one, LabError) else one for one in reached]
        for one in reached:
            if isinstance(one, LabError):
                raise one
        connections = [one.connection for one in self._remotes if one is not None]
        self._heartbeat = Heartbeat(connections, HEARTBEAT_S)

    def facts(self) -> dict[str, object]:
        hosts: dict[str, dict[str, object]] = {
            host.name: {"label": host.label, "addresses": dict(host.addresses)}
            | ({} if remote is None else remote.facts())
            for host, remote in zip(self.hosts, self._remotes, strict=True)
        }
        return {**super().facts(), "reached": hosts}

    def damage(self) -> str | None:
        """See `Testbed.damage`: a connection that has ended."""
        for host, remote in zip(self.hosts, self._remotes, strict=True):
            why = None if remote is None else remote.connection.why_ended()
            if remote is not None and why is not None:
                return f"{host.name}: {remote.destination.label}: {why}"
        return None

    def close(self) -> None:
        """See `Testbed.close`; what was started on the hosts ends with the connections."""
        if self._closed:
            return
        self._closed = True
        if self._heartbeat is not None:
            self._heartbeat.close()
        remotes = [one for one in self._remotes if one is not None]
        for one in remotes:
            one.connection.begin_close()
        for one in remotes:
            one.connection.close()
        self._folder.remove()


def _wanted(found: list[Destination], hosts: int, link: str, name: str) -> list[Destination]:
    check_unshaped(name, link, "the network between real hosts is measured as it is")
    if not 2 <= hosts <= MAX_HOSTS:
        raise UsageError(f"{name}: {hosts} hosts; allowed: 2 to {MAX_HOSTS}")
    if len(found) < hosts:
        raise UsageError(
            f"{name}: names {len(found)} hosts; {hosts} are needed",
            hint="name more hosts, or measure with fewer",
        )
    return found[:hosts]


def _make_folder() -> TemporaryFolder:
    base = tempfile.gettempdir()
    if not _PLAIN_FOLDER.fullmatch(base):
        base = "/tmp"
    for left in Path(base).glob(f"{_FOLDER}*"):
        found = _FOLDER_PID.match(left.name)
        with contextlib.suppress(OSError):
            if found and not _is_alive(int(found[1])):
                remove_left_folder(left)
    return TemporaryFolder(f"{_FOLDER}{os.getpid()}-", Path(base))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _addresses(
    destinations: Sequence[Destination], remotes: Sequence[_Remote | None], number: int
) -> dict[AddressFamily, str]:
    destination, remote = destinations[number], remotes[number]
    if destination.addresses:
        return destination.by_family
    if destination.interface is not None:
        # A host reached by a link-local address is measured at that address.
        is_by_link = any(
            not named.addresses and reached is not None and is_of_one_link(reached.arrival.address)
            for named, reached in zip(destinations, remotes, strict=True)
        )
        return _of_interface(destination, destination.interface, remote, is_by_link=is_by_link)
    if remote is not None:
        if remote.arrival.address is None:
            raise UsageError(
                f"{destination.label}: the ssh server does not report its address",
                hint="give it by --address, or as `address` in the host file",
            )
        return _by_family(remote.arrival.address)
    found: dict[AddressFamily, str] = {}
    for place, reached in enumerate(remotes):
        if reached is None:
            continue
        for address in _addresses(destinations, remotes, place).values():
            local = _local_address(address, _zone_here(destinations[place], reached))
            if local is not None:
                found |= _by_family(local)
        if found:
            return found
    raise UsageError(
        "this machine has no route to the other host",
        hint="give addresses of a network that both are in",
    )


def _of_interface(
    destination: Destination, interface: str, remote: _Remote | None, *, is_by_link: bool
) -> dict[AddressFamily, str]:
    """
    The addresses of an interface, the first of each family, from an engine on its host.

    Args:
        is_by_link: Use the IPv6 link-local address; else only if there is no other.
    """
    command = [engine_path()] if remote is None else remote.start_engine()
    with Engine(destination.label, command) as engine:
        interfaces = engine.describe()["interfaces"]
    if interface not in interfaces:
        raise UsageError(
            f"{destination.label}: no interface named `{interface}`; allowed: "
            f"{', '.join(interfaces)}"
        )
    found: dict[AddressFamily, str] = {}
    for text in interfaces[interface]["addresses"]:
        if not ipaddress.ip_address(text).is_link_local:
            found = _by_family(text) | found
    if is_by_link or not found:
        of_link = filter(is_of_one_link, interfaces[interface]["addresses"])
        found |= next((_by_family(f"{text}%{interface}") for text in of_link), {})
    if not found:
        raise UsageError(f"{destination.label}: interface `{interface}` has no address")
    return found


def _by_family(address: str) -> dict[AddressFamily, str]:
    found = ipaddress.ip_address(bare(address))
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    text = str(found)
    # Other addresses need no zone, even if their text has one.
    zone = zone_of(address) if is_of_one_link(text) else ""
    return {ip_family(found.version): f"{text}%{zone}" if zone else text}


def _zone_here(destination: Destination, remote: _Remote) -> str:
    """The interface of this machine that leads to a host's link-local address: the one the user
    gave, else the one with the address from which the host saw the connection.
    """
    written = zone_of((destination.ssh or "").rpartition("@")[2])
    seen = remote.arrival.peer_address
    if written or seen is None:
        return written
    for index, name in socket.if_nameindex():
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as own:
            own.bind((bare(seen), 0, 0, index))
            return name
    return ""


def _local_address(address: str, zone: str) -> str | None:
    """The source address of datagrams to another address; none is sent.

    Args:
        zone: This machine's interface, for a link-local address.
    """
    is_zoned = is_of_one_link(address)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(socket_address(f"{bare(address)}%{zone}" if is_zoned else address, 9))
            own = bare(str(probe.getsockname()[0]))
    except OSError:
        return None
    return f"{own}%{zone}" if is_zoned else own
