"""What a command has opened, and what of it is left: processes, networks, sockets, files."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_PROC = Path("/proc")
_NAMED_NETWORKS = Path("/run/netns")
#: Of the kernel's tables, where the inode of a socket stands (proc(5)).
_SOCKET_TABLES = ("tcp", "tcp6", "udp", "udp6")
_INODE_COLUMN = 9
#: What a store's file has beside it while a process uses it, and a killed one leaves until the
#: next (https://www.sqlite.org/walformat.html); and the store's own locks.
_OF_A_STORE = ("-wal", "-shm", ".lock")


@dataclass(frozen=True)
class Process:
    """A living process that a command started, or the command itself."""

    pid: int
    command: tuple[str, ...]
    #: Clock ticks from boot to its start.
    started: int

    @property
    def name(self) -> str:
        return Path(self.command[0]).name if self.command else ""


def marked(mark: str) -> list[Process]:
    """Living processes with an entry in their environment, the oldest first."""
    found = []
    for folder in _PROC.glob("[0-9]*"):
        try:
            if mark.encode() not in (folder / "environ").read_bytes().split(b"\0"):
                continue
            command = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            stat = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if stat[0] not in "ZX":
            found.append(Process(int(folder.name), tuple(command[:-1]), int(stat[19])))
    return sorted(found, key=lambda process: (process.started, process.pid))


def sockets_of(pid: int) -> set[str]:
    inodes = set()
    try:
        for descriptor in (_PROC / str(pid) / "fd").iterdir():
            target = str(descriptor.readlink())
            if target.startswith("socket:["):
                inodes.add(target[len("socket:[") : -1])
    except OSError:
        pass
    return inodes


def network_of(pid: int) -> str:
    """The network namespace of a process; empty for one that is gone."""
    try:
        return str((_PROC / str(pid) / "ns/net").readlink())
    except OSError:
        return ""


def _processes_of_networks() -> dict[str, set[tuple[int, int]]]:
    """By network namespace, the id and the start of each process that is in it."""
    found: dict[str, set[tuple[int, int]]] = {}
    for folder in _PROC.glob("[0-9]*"):
        try:
            started = int((folder / "stat").read_text().rpartition(")")[2].split()[19])
        except OSError:
            continue
        found.setdefault(network_of(int(folder.name)), set()).add((int(folder.name), started))
    return found


def _internet_sockets() -> Iterator[str]:
    """Inodes of all sockets with a port in our own network namespace."""
    for table in _SOCKET_TABLES:
        try:
            lines = (_PROC / "self/net" / table).read_text().splitlines()[1:]
        except OSError:
            continue
        yield from (line.split()[_INODE_COLUMN] for line in lines)


def named_networks() -> set[str]:
    try:
        return {entry.name for entry in _NAMED_NETWORKS.iterdir()}
    except OSError:
        return set()


@dataclass
class Seen:
    """What the processes of a command had while it ran; look again now and then."""

    mark: str
    #: By namespace, the processes that were in it. The kernel gives the number of a namespace that
    #: is gone to the next that somebody makes, so that the number alone names none.
    networks: dict[str, set[tuple[int, int]]] = field(default_factory=dict)
    sockets: set[str] = field(default_factory=set)
    named_before: set[str] = field(default_factory=named_networks)

    def look(self) -> list[Process]:
        """Note what there is now; the processes. Those that are left are counted as such."""
        own = network_of(os.getpid())
        opened = set()
        found = marked(self.mark)
        for process in found:
            opened |= {network_of(process.pid)} - {own, ""}
            self.sockets |= sockets_of(process.pid)
        processes = _processes_of_networks()
        for network in opened:
            self.networks.setdefault(network, set()).update(processes.get(network, ()))
        return found

    def networks_left(self) -> set[str]:
        processes = _processes_of_networks()
        return {name for name, then in self.networks.items() if then & processes.get(name, set())}


@dataclass(frozen=True)
class Left:
    """What is left of a command and of those that went on with its run."""

    processes: list[str]
    networks: list[str]
    sockets: list[str]
    files: list[str]

    @property
    def count(self) -> int:
        return sum(map(len, (self.processes, self.networks, self.sockets, self.files)))


def left_of(
    seen: Seen, temporary: Path, store: Path, kept: set[str], trials: set[tuple[str, int]]
) -> Left:
    """
    What is left.

    Args:
        seen: Of the command.
        temporary: Its folder for temporary files, which must be empty.
        store: Its store; its folder may hold nothing else but the series of its trials.
        kept: Names of files beside the store that are meant to be there.
        trials: Run and number of those in the store.
    """
    series = store.with_name(store.name + ".series")
    open_sockets = set(_internet_sockets())
    files = [str(path) for path in temporary.rglob("*")]
    if store.parent.is_dir():
        expected = {store.name, series.name, *kept}
        files += [entry.name for entry in store.parent.iterdir() if entry.name not in expected]
    if not kept:
        # What a killed process has left is removed by the next that goes on with its run.
        files += [str(path) for path in series.glob("*/*") if _trial_of(path) not in trials]
    return Left(
        [f"{process.pid} {process.command}" for process in marked(seen.mark)],
        sorted(seen.networks_left() | (named_networks() - seen.named_before)),
        sorted(seen.sockets & open_sockets),
        files,
    )


def _trial_of(path: Path) -> tuple[str, int] | None:
    """Run and number of the trial that a finished file of series is of."""
    number = path.name.partition("-")[0]
    return (path.parent.name, int(number)) if path.suffix == ".parquet" else None


def beside_a_used_store(store: Path) -> set[str]:
    """Names that may lie beside a store that a killed process has left."""
    return {
        entry.name
        for entry in store.parent.iterdir()
        if entry.name.startswith(store.name) and entry.name.endswith(_OF_A_STORE)
    }
