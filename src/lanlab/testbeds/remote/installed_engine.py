"""
Installs the engine on a host: copied over the connection, cached by its SHA-256 in the user's cache
directory, and verified before it is started.
"""

from __future__ import annotations

import ipaddress
import re

from lanlab.engine.travelling import TravellingEngine, machine_name, travelling_engine
from lanlab.errors import UnmetNeed, UsageError
from lanlab.frozen import dataclass
from lanlab.testbeds.remote.connection import Connection

#: Time without input after which an engine ends: its connection or lanlab is dead.
END_AFTER_SILENCE_S = 45
HEARTBEAT_S = 12.0
REMOVE_VARIABLE = "LANLAB_REMOVE_ENGINE"
#: A slow line takes a while: 16 MB at 1 Mbit/s are 130 s.
_COPY_WITHIN_S = 600.0
_PLAIN_PATH = re.compile(r"/[A-Za-z0-9_./+:@-]{1,400}")


@dataclass(frozen=True)
class Arrival:
    system: str
    architecture: str
    kernel: str
    #: The host's address in the ssh connection, and the other end's; `None` if unknown, for example
    #: if the server's end is not a socket (`UNKNOWN`).
    address: str | None
    peer_address: str | None


def arrive(connection: Connection) -> Arrival:
    """
    Read the holder's first line.

    Raises:
        LabError: It is not the output of a POSIX shell, or no engine exists for the system.
    """
    line = connection.next_line()
    words = line.split()
    if len(words) < 4 or words[0] != "facts":
        raise UsageError(
            f"{connection.label}: unexpected output from the host's shell: `{line[:200]}`",
            hint="lanlab needs a POSIX `sh`, `uname` and `head` on that host",
        )
    _, system, architecture, kernel, *ends = words
    if system != "Linux":
        raise UnmetNeed(
            f"{connection.label}: found {system}; allowed: Linux",
            hint="measure from or to another host",
        )
    address = peer_address = None
    if len(ends) == 4:
        # Client's address and port, server's address and port (sshd(8), SSH_CONNECTION).
        peer_address, address = (_address(ends[place]) for place in (0, 2))
    return Arrival(system, machine_name(architecture), kernel, address, peer_address)


def _address(text: str) -> str | None:
    """The text as an address, or `None`."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return None
    return text


@dataclass(frozen=True)
class InstalledEngine:
    path: str
    sha256: str
    was_copied: bool


def install(connection: Connection, arrival: Arrival, *, keep: bool) -> InstalledEngine:
    """
    Ensure that a host has its engine.

    Args:
        keep: Whether it stays in the user's cache directory there.

    Raises:
        LabError: No engine exists for its architecture, no directory is suitable, or it does not
            start there.
    """
    engine = travelling_engine(arrival.architecture, connection.label)
    wanted = f"{engine.sha256} {len(engine.content)} {'yes' if keep else 'no'}"
    connection.send(f"{wanted} {END_AFTER_SILENCE_S}\n".encode())
    word, _, rest = connection.next_line().partition(" ")
    was_copied = word == "send"
    path = rest
    if was_copied:
        connection.send(engine.content, _COPY_WITHIN_S)
        word, _, rest = connection.next_line(_COPY_WITHIN_S).partition(" ")
    if word not in ("there", "sent"):
        raise _not_installed(connection, engine, rest)
    if not _PLAIN_PATH.fullmatch(path):
        raise UsageError(
            f"{connection.label}: invalid engine path from the host's shell: `{path[:200]}`"
        )
    return InstalledEngine(path, engine.sha256, was_copied)


def _not_installed(connection: Connection, engine: TravellingEngine, reasons: str) -> UsageError:
    found = "; ".join(part.strip() for part in reasons.split(";") if part.strip())
    if "kernel too old" in found:
        # The message of the C library inside the engine.
        return UsageError(
            f"{connection.label}: the engine does not start: the host's kernel is too old",
            hint="use an engine built with an older C library: `--engine "
            f"{engine.architecture}=PATH`",
        )
    if "not start" in found:
        built = "" if engine.is_static else ", and is linked to a C library"
        return UsageError(
            f"{connection.label}: the engine does not start: {found[:600]}",
            hint=f"the one sent is {engine.path}{built}; give one that runs there by "
            f"`--engine {engine.architecture}=PATH`",
        )
    return UsageError(
        f"{connection.label}: cannot store the engine: {found[:600]}",
        hint=("free some space, or " if "KiB free" in found else "")
        + "set XDG_CACHE_HOME for ssh sessions to a directory of that user alone that lets "
        f"programs start; it takes {len(engine.content) // 1_000_000 + 1} MB",
    )
