"""A directory of this machine, served by an embedded server until it is stopped."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from urllib.parse import quote

from lanlab.addresses import in_url
from lanlab.engine import Engine, Measurement, engine_path
from lanlab.errors import EngineLost
from lanlab.frozen import dataclass
from lanlab.messages import Line, Result, Target
from lanlab.performers.engine_host import CANCEL_S, cancel
from lanlab.services import SERVICES
from lanlab.testbeds.raw_links import engine_without_rights, raw_link

_SETUP_S = 60.0

#: Lines of data from an engine that serves; `None` when it has ended.
_Lines = queue.SimpleQueue[Line | None]


@dataclass(frozen=True)
class Station:
    interface: str
    name: str
    #: IPX frame type by the engine's name; empty: detected.
    segment: Target = field(default_factory=Target)


@dataclass(frozen=True)
class OwnStack:
    """A station with lanlab's own TCP and its own address."""

    interface: str
    #: An unused IPv4 address.
    address: str
    memory_bytes: int


@dataclass(frozen=True)
class Wanted:
    service: str
    root: str
    address: str
    #: 0: any free port.
    port: int
    is_read_only: bool
    #: `None`: every client that reaches the address is served.
    credentials: dict[str, str] | None
    #: For a carrier without IP: the interface of the server's station, and its name.
    station: Station | None = None
    #: For lanlab's own TCP, whose address is `address`.
    own_stack: OwnStack | None = None
    #: Options of the service that differ from the defaults, by the engine's names.
    options: Mapping[str, object] = field(default_factory=dict)
    says_clients: bool = False


class Serving:
    def __init__(self, wanted: Wanted, ready: Line, lines: _Lines) -> None:
        served = ready.get("served") or {}
        self._wanted, self._lines = wanted, lines
        self.port: int = ready["ports"][0]
        #: SHA-256 of the server's certificate or host key, hexadecimal; `None` if it has none.
        self.trust_sha256: str | None = served.get("trust_sha256")
        self._share: str | None = served.get("share")
        self.done: Result | None = None

    @property
    def url(self) -> str:
        wanted = self._wanted
        user = "" if wanted.credentials is None else f"{quote(wanted.credentials['user'])}@"
        path = (self._share or "").strip("/")
        if wanted.station is not None:
            return f"{wanted.service}://{user}{quote(wanted.station.name)}/{path}"
        return f"{wanted.service}://{user}{in_url(wanted.address)}:{self.port}/{path}"

    @property
    def mount_command(self) -> str | None:
        """The mount command for Linux; `None` unless it is an NFS server."""
        if self._wanted.service != "nfs":
            return None
        options = f"vers=3,proto=tcp,nolock,port={self.port},mountport={self.port}"
        place = f"{in_url(self._wanted.address)}:{self._share}"
        return f"mount -t nfs -o {options} {place} /mnt"

    def clients(self, within_s: float | None) -> Iterator[Line]:
        """Messages on clients (`client_seen`), until that time is over or the server has ended."""
        end_s = None if within_s is None else time.monotonic() + within_s
        while True:
            try:
                left_s = None if end_s is None else max(0.0, end_s - time.monotonic())
                line = self._lines.get(timeout=left_s)
            except queue.Empty:
                return
            if line is None:
                return
            yield line


@contextmanager
def _begun(wanted: Wanted) -> Iterator[tuple[Engine, dict[str, object]]]:
    """An engine, and the fields of a request that name its link."""
    at = wanted.station or wanted.own_stack
    if at is None:
        with Engine("here", [engine_path()]) as engine:
            yield engine, {}
        return
    with raw_link(at.interface) as link, Engine("here", engine_without_rights(link)) as engine:
        place = {"descriptor": link.descriptor}
        if isinstance(at, OwnStack):
            stack = {"address": at.address, "memory_bytes": at.memory_bytes, "link": place}
            yield engine, {"options": {wanted.service: {"stack": stack}}}
            return
        carrier = SERVICES[wanted.service].carrier
        yield (
            engine,
            {"station": {"carrier": carrier, "link": place, "name": at.name, **at.segment}},
        )


@contextmanager
def serving(wanted: Wanted) -> Iterator[Serving]:
    """
    Serve within the `with` block; `Serving.done` has the totals afterwards.

    Raises:
        UnmetNeed: This process lacks the right to an interface.
        UsageError: The interface is gone or down.
        EngineError: It cannot listen there, or the directory cannot be served.
        EngineLost: The engine ended meanwhile.
    """
    service = SERVICES[wanted.service]
    options = {service.engine_name: dict(wanted.options)} if wanted.options else {}
    with _begun(wanted) as (engine, link):
        request = {
            "type": "serve",
            "service": service.engine_name,
            **({"options": options} if options else {}),
            **link,
            "root": wanted.root,
            "bind": wanted.address,
            "port": wanted.port,
            "credentials": wanted.credentials,
            "read_only": wanted.is_read_only,
            "says_clients": wanted.says_clients,
        }
        asked: Measurement = engine.start(request)
        lines: _Lines = queue.SimpleQueue()
        asked.on_data = lines.put
        asked.on_over = lambda: lines.put(None)
        served = Serving(wanted, asked.wait_ready(_SETUP_S), lines)
        try:
            yield served
        finally:
            served.done = cancel(engine, asked, within_s=CANCEL_S)
        if engine.is_lost:
            raise EngineLost(engine.lost().message)
