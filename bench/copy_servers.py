"""The servers of `copy_clients.py`: real ones that lanlab starts, and lanlab's own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lanlab import __version__
from lanlab.engine.locate import engine_path
from lanlab.engine.process import Engine
from lanlab.testbeds.base import Host
from lanlab.testbeds.servers import Credentials, start

_READY_WITHIN_S = 20.0


class Server(Protocol):
    """What clients need to know of a server, real or not."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def service(self) -> str: ...
    @property
    def host(self) -> Host: ...
    @property
    def port(self) -> int: ...
    @property
    def share(self) -> str | None: ...
    @property
    def trust_sha256(self) -> str | None: ...
    @property
    def credentials(self) -> Credentials | None: ...
    def cpu_s(self) -> float: ...


@dataclass(frozen=True)
class Embedded:
    """A server in an engine of its own."""

    service: str
    host: Host
    port: int
    share: str | None
    trust_sha256: str | None
    credentials: Credentials | None
    engine: Engine
    name: str = "lanlab's own"
    version: str = __version__

    def cpu_s(self) -> float:
        """User and system time of its engine so far, seconds."""
        return float(self.engine.ask({"type": "ping"})["engine_cpu_ns"]) / 1e9


@contextlib.contextmanager
def started(
    host: Host, service: str, is_embedded: bool, root: Path, who: Credentials | None
) -> Iterator[Server]:
    """A server of a directory, which ends with the context."""
    address = host.addresses["ipv4"]
    if not is_embedded:
        with start(host, service, root, address, who) as running:
            yield running
        return
    with Engine(host.name, [*host.command_prefix, engine_path()]) as engine:
        serving = engine.start(
            {
                "type": "serve",
                "service": service,
                "root": str(root),
                "bind": address,
                "credentials": who and {"user": who.user, "secret": who.secret},
            }
        )
        ready = serving.wait_ready(_READY_WITHIN_S)
        told = ready.get("served") or {}
        port, share, sha256 = ready["ports"][0], told.get("share"), told.get("trust_sha256")
        yield Embedded(service, host, port, share, sha256, who, engine)
