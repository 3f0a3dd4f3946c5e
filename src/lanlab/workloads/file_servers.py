"""
The file server of a trial: the engine's own, a real one that is started, or a user's; and what
earlier trials that were killed have left there.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanlab import left_behind
from lanlab.engine import Engine, Measurement
from lanlab.errors import EngineError, EngineLost, LabError, UnmetNeed
from lanlab.workloads import copy_journal as journal
from lanlab.workloads import copy_places as places
from lanlab.workloads import copy_server as servers
from lanlab.workloads.exchange import End

if TYPE_CHECKING:
    from lanlab.workloads.service_parameters import ServiceParameters

Request = dict[str, Any]

#: A server has so long to begin.
_SETUP_S = 120.0
#: A request that is cancelled has so long to end.
_CANCEL_S = 5.0
#: Services that know no user.
_NOBODY = ("directory", "memory", "nfs")
_USER = "lanlab"


@dataclass
class Server:
    """A server that can be reached."""

    #: As engines are told of it, credentials included.
    target: Request
    #: CPU time that it has used so far, seconds; `None` where nobody can know.
    cpu_s: Callable[[], float | None]
    #: For the record.
    facts: Request = field(default_factory=dict)
    #: The directory that it serves, on a host of ours; `None`: elsewhere.
    root: Path | None = None
    #: Why its CPU time is not known though it takes that of this machine; `None` otherwise.
    cpu_unknown: Callable[[], str | None] = lambda: None

    def seen_since(self, before_s: float | None) -> dict[str, Any]:
        """What is known of it since it had used so much CPU time, for a trial's record."""
        after_s = self.cpu_s()
        cpu_s = None if before_s is None or after_s is None else after_s - before_s
        if (reason := self.cpu_unknown()) is not None:
            # Then nobody can tell its work from that of other processes.
            return {"kind": "file_server", "cpu_s": None, "cpu": None, "cpu_unknown": reason} | (
                self.facts
            )
        # What a server on another machine takes is no work of this one.
        used = {"user_ns": round(1e9 * (cpu_s or 0.0)), "system_ns": 0}
        return {"kind": "file_server", "cpu_s": cpu_s, "cpu": used, **self.facts}


@contextlib.contextmanager
def served(
    parameters: ServiceParameters,
    client: End,
    host: End,
    setup: dict[str, Any],
    connections: int = 0,
) -> Iterator[Server]:
    """
    The server of a trial, for as long as it lasts.

    Args:
        connections: That it will have at once; an embedded server for which this host cannot
            provide is refused. 0: no more than any process may have.
    """
    if parameters.is_users_server:
        url = servers.parse_url(parameters.server)
        target = servers.target_of(url, parameters.trust, parameters.ip_version)
        facts = {"server": parameters.server}
        if url.service == "directory":
            yield Server(target, lambda: None, facts, Path(url.directory))
            return
        local = None
        if host.find_server is not None and url.usual_port is not None:
            local = host.find_server(target["address"], url.usual_port)
        if local is None:
            yield Server(target, lambda: None, facts)
        else:
            yield Server(target, local.cpu_s, facts, cpu_unknown=lambda: local.unknown)
        return
    if parameters.service == "memory":
        target = {"service": "memory", "directory": secrets.token_hex(8)}
        yield Server(target, lambda: None, {"server": "none"}, None)
        return
    with places.temporary(parameters.server_medium, served=True) as root:
        if parameters.service == "directory":
            target = {"service": "directory", "directory": str(root)}
            yield Server(target, lambda: None, {"server": "none"}, root)
        elif parameters.server == "embedded":
            with _embedded(parameters, client, host, root, connections) as served:
                yield served
        else:
            with _real(parameters, client, host, root) as served:
                yield served


def _credentials(parameters: ServiceParameters) -> Request | None:
    if parameters.service in _NOBODY:
        return None
    return {"user": _USER, "secret": secrets.token_hex(16)}


@contextlib.contextmanager
def _embedded(
    parameters: ServiceParameters, client: End, host: End, root: Path, connections: int
) -> Iterator[Server]:
    """The engine's own server, on the host's engine."""
    credentials = _credentials(parameters)
    request = {
        "type": "serve",
        "service": parameters.service,
        "root": str(root),
        "bind": host.address,
        "credentials": credentials,
        "connections": connections,
    }
    serving = host.engine.start(request)
    try:
        ready = serving.wait_ready(_SETUP_S)
        told = ready.get("served") or {}
        sha256 = told.get("trust_sha256")
        target = {
            "service": parameters.service,
            "address": host.address,
            "port": ready["ports"][0],
            "bind": client.address,
            "share": told.get("share"),
            "credentials": credentials,
            "trust": "system" if sha256 is None else {"sha256": sha256},
        }

        def cpu_s() -> float | None:
            used_ns = host.engine.ask({"type": "ping"}).get("engine_cpu_ns")
            return None if used_ns is None else used_ns / 1e9

        yield Server(target, cpu_s, {"server": "embedded"}, root)
    finally:
        cancel(host.engine, serving)


@contextlib.contextmanager
def _real(parameters: ServiceParameters, client: End, host: End, root: Path) -> Iterator[Server]:
    """A real server, started on the host."""
    if host.start_server is None:
        raise UnmetNeed(
            f"no server `{parameters.server}` on this testbed", hint="use server `embedded`"
        )
    credentials = _credentials(parameters)
    service = parameters.service
    with host.start_server(parameters.server, service, root, host.address, credentials) as running:
        # Some servers know only users of their own choosing.
        own = running.credentials
        if own is not None:
            credentials = {"user": own.user, "secret": own.secret}
        sha256 = running.trust_sha256
        target = {
            "service": service,
            "address": host.address,
            # Of NFS the portmapper tells it, and that of mounting, which is another.
            "port": None if service == "nfs" else running.port,
            "bind": client.address,
            "share": running.share,
            "credentials": credentials,
            "trust": "system" if sha256 is None else {"sha256": sha256},
        }
        facts = {"server": parameters.server, "version": running.version}
        yield Server(target, running.cpu_s, facts, root)


#: Codes of errors with which nothing of a trial comes to a server.
_NOTHING_WRITTEN = (
    "service.refused",
    "service.unreachable",
    "service.login",
    "service.certificate",
    "service.missing",
)


class Emptying:
    """Removes a trial from its server, and says what of it is left there.

    Args:
        kind: Of the request that removes it.
        ask: Has an engine do a request.
        setup: Of the trial, for its record.
        note_emptied: Called when nothing of ours is left; without it the next trial at the server
            tries again.
    """

    def __init__(
        self,
        parameters: ServiceParameters,
        kind: str,
        ask: Callable[[Request], dict[str, Any]],
        setup: dict[str, Any],
        note_emptied: Callable[[], None],
    ) -> None:
        self._parameters, self._kind, self._ask = parameters, kind, ask
        self._setup, self._note_emptied = setup, note_emptied

    def empty(self, spec: Request) -> None:
        """After a trial that was measured. That its server refuses to remove it does not make what
        was measured wrong.

        Raises:
            EngineError: It could not be removed for another reason.
        """
        try:
            told = self._ask({"type": self._kind, "spec": spec})
        except BaseException as error:
            self._note_failure(spec, error)
            raise
        self._setup["emptied"] = told
        left = told.get("left")
        if left is None or left["refusal"] is None:
            self._note_emptied()
        elif self._parameters.is_users_server:
            left_behind.note(_place(self._parameters.server, spec), left)

    def empty_after_failure(self, spec: Request) -> None:
        """What is wrong with the trial is not hidden by what is wrong with the tidying."""
        with contextlib.suppress(LabError):
            self.empty(spec)

    def _note_failure(self, spec: Request, error: BaseException) -> None:
        why = error.message if isinstance(error, LabError) else "interrupted"
        self._setup["not_emptied"] = why
        is_written = "prepared" in self._setup
        is_nothing = isinstance(error, EngineError) and error.code in _NOTHING_WRITTEN
        if self._parameters.is_users_server and (is_written or not is_nothing):
            place = _place(self._parameters.server, spec)
            left_behind.note_unknown(place, why, is_written=is_written)


def _place(server: str, spec: Request) -> str:
    return f"{server.rstrip('/')}/{spec['working_name']}"


def empty_left(
    server: str,
    service: Request,
    ask: Callable[[Request], dict[str, Any]],
    setup: dict[str, Any],
) -> None:
    """Remove what earlier trials at this server have left that were killed. What cannot be removed
    is said in the record, and tried again the next time.

    Args:
        server: Its URL.
        service: The same as engines are told, with the password.
        ask: Has an engine do a request.
    """
    for path, kind, of_other in journal.left(server):
        what = {"working_name": of_other["working_name"]}
        with_password = {**of_other, "service": service}
        place = _place(server, of_other)
        try:
            what |= ask({"type": kind, "spec": with_password})
            left = what.get("left")
            if left is None or left["refusal"] is None:
                path.unlink(missing_ok=True)
                left_behind.forget(place)
            else:
                left_behind.note(place, left)
        except EngineError as error:
            what |= {"error": error.message}
        setup.setdefault("left_before", []).append(what)


def without_secrets(spec: Request) -> Request:
    """A request for the record: without password and token."""
    service = {key: value for key, value in spec["service"].items() if key != "credentials"}
    if spec["service"].get("credentials"):
        service["user"] = spec["service"]["credentials"]["user"]
    kept = {key: value for key, value in spec.items() if key != "token"}
    return {**kept, "service": service}


def cancel(engine: Engine, asked: Measurement) -> None:
    """End a request, and an engine that does not answer."""
    if engine.is_lost or asked.is_over:
        return
    try:
        with contextlib.suppress(EngineError):
            engine.ask({"type": "cancel", "target": asked.id}, _CANCEL_S)
        with contextlib.suppress(EngineError):
            asked.result(_CANCEL_S)
    except EngineLost:
        engine.give_up(_CANCEL_S)
