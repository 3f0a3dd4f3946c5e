"""
One trial of a copy: its files and its server are there, then it is prepared, timed, checked, and
emptied whatever became of it.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanlab.engine import Engine, Measurement
from lanlab.errors import EngineError, EngineLost, LabError, UnmetNeed
from lanlab.workloads import copy_datasets as datasets
from lanlab.workloads import copy_journal as journal
from lanlab.workloads import copy_places as places
from lanlab.workloads import copy_server as servers
from lanlab.workloads.exchange import End, Exchange, Progress
from lanlab.workloads.parameters import nanoseconds

if TYPE_CHECKING:
    from lanlab.workloads.copy import CopyParameters

Request = dict[str, Any]

#: Connecting and preparing may take this long beside what the octets take.
_SETUP_S = 120.0
#: A copy slower than this is given up: nobody would wait for it, and an engine that hangs would
#: keep a study for ever.
_SLOWEST_BPS = 1e6
#: A request that is cancelled has so long to end.
_CANCEL_S = 5.0
#: A start that came too late is tried again with twice the lead, so often.
_START_ATTEMPTS = 4
#: A server that was cut off learns of it within a round trip and a turn of its processor.
_CUT_NOTICED_S = 0.3
_CUT_NOTICED_WITHIN_S = 1.5
#: Services that know no user.
_NOBODY = ("directory", "nfs")
_USER = "lanlab"
#: Datasets that were compared with their description since this process began.
_checked: set[tuple[str, str]] = set()


@dataclass
class _Server:
    """A server that can be reached."""

    #: As engines are told of it, credentials included.
    target: Request
    #: CPU time that it has used so far, seconds; `None` where nobody can know.
    cpu_s: Callable[[], float | None]
    #: For the record.
    facts: Request = field(default_factory=dict)
    #: The directory that it serves, on a host of ours; `None`: elsewhere.
    root: Path | None = None


def run_copy(
    parameters: CopyParameters,
    client: End,
    host: End,
    lead_s: float,
    on_progress: Callable[[Progress], None] | None,
) -> Exchange:
    """
    Run one trial.

    Args:
        client: Where the files are sent from, or come to.
        host: Where a server that lanlab starts is; of a user's own nothing runs there.
        lead_s: Time from giving the start to the start.
        on_progress: Called from another thread some times a second.

    Returns:
        The exchange: `connector` is what was measured, `listener` what is known of the server.
    """
    exchange = Exchange(
        setup={"capabilities": {"connector": client.engine.hello["capabilities"], "listener": {}}}
    )
    try:
        with contextlib.ExitStack() as stack:
            directory = _client_directory(parameters, client, stack, exchange.setup)
            server = stack.enter_context(_server(parameters, client, host, exchange.setup))
            spec = _spec(parameters, server.target, directory)
            exchange.setup["spec"] = _without_secrets(spec)
            note_emptied: Callable[[], None] = _nothing
            if parameters.is_users_server:
                _empty_left(parameters, spec, client.engine, exchange.setup)
                note_emptied = stack.enter_context(journal.noted(parameters.server, spec))
            ends = (client, host)
            _trial(exchange, parameters, spec, server, ends, lead_s, on_progress, note_emptied)
    except LabError as error:
        exchange.error = error
    return exchange


def _nothing() -> None:
    """A server of ours goes with all that is in it."""


def _empty_left(
    parameters: CopyParameters, spec: Request, engine: Engine, setup: dict[str, Any]
) -> None:
    """Remove what earlier trials at this server have left that were killed. What cannot be removed
    is said in the record, and tried again the next time."""
    ask = _Asking(engine, parameters, None)
    for path, of_other in journal.left(parameters.server):
        what = {"working_name": of_other["working_name"]}
        with_password = {**of_other, "service": spec["service"]}
        try:
            what |= ask({"type": "copy_empty", "spec": with_password})
            path.unlink(missing_ok=True)
        except EngineError as error:
            what |= {"error": error.message}
        setup.setdefault("left_before", []).append(what)


def _trial(
    exchange: Exchange,
    parameters: CopyParameters,
    spec: Request,
    server: _Server,
    ends: tuple[End, End],
    lead_s: float,
    on_progress: Callable[[Progress], None] | None,
    note_emptied: Callable[[], None],
) -> None:
    client, host = ends
    engine, setup = client.engine, exchange.setup
    ask = _Asking(engine, parameters, on_progress)
    try:
        prepared = ask({"type": "copy_prepare", "spec": spec})
        setup["prepared"] = prepared
        spec["files_digest"] = prepared["files_digest"]
        if parameters.cache == "cold":
            setup["caches"] = _drop_caches(spec, server, client, host)
        for attempt in range(_START_ATTEMPTS):
            try:
                before = server.cpu_s()
                exchange.connector = ask.armed({"type": "copy", "spec": spec}, lead_s)
                after = server.cpu_s()
                break
            except EngineError as error:
                if error.code != "arm.late" or attempt + 1 == _START_ATTEMPTS:
                    exchange.connector = error.partial
                    raise
                lead_s *= 2
        cpu_s = None if before is None or after is None else after - before
        # What a server that nobody here runs takes is others' work, or another machine's.
        used = {"user_ns": round(1e9 * (cpu_s or 0.0)), "system_ns": 0}
        exchange.listener = {"kind": "file_server", "cpu_s": cpu_s, "cpu": used, **server.facts}
        if parameters.direction == "upload":
            setup["checked"] = ask({"type": "copy_check", "spec": spec})
    except BaseException as error:
        # What is wrong with the trial is not hidden by what is wrong with the tidying.
        with contextlib.suppress(LabError):
            setup["emptied"] = _emptied_after_a_failure(ask, spec, "prepared" in setup)
            note_emptied()
        if isinstance(error, EngineError) and exchange.connector is None:
            exchange.connector = error.partial if _is_copied(error.partial) else None
        raise
    setup["emptied"] = ask({"type": "copy_empty", "spec": spec})
    note_emptied()


def _emptied_after_a_failure(ask: _Asking, spec: Request, is_prepared: bool) -> dict[str, Any]:
    """Empty the server as soon as it knows that the connection is gone: until then it may hold the
    file open that was under way, and refuse to remove it (SMB)."""
    until_s = time.monotonic() + _CUT_NOTICED_WITHIN_S
    while is_prepared and time.monotonic() < until_s:
        time.sleep(_CUT_NOTICED_S)
        with contextlib.suppress(EngineError):
            found = ask({"type": "copy_empty", "spec": spec})
            if found["is_gone"]:
                return found
    return ask({"type": "copy_empty", "spec": spec})


def _is_copied(partial: Mapping[str, object] | None) -> bool:
    return partial is not None and partial.get("kind") == "copied"


class _Asking:
    """Requests to the client's engine, each to its end; one that is not waited for is cancelled."""

    def __init__(
        self,
        engine: Engine,
        parameters: CopyParameters,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self._engine, self._parameters, self._on_progress = engine, parameters, on_progress

    def __call__(self, request: Request) -> dict[str, Any]:
        return self._to_its_end(self._engine.start(request), lambda asked: None)

    def armed(self, request: Request, lead_s: float) -> dict[str, Any]:
        """The result of a request that begins when it is told to, with the times of its files."""
        measurement = self._engine.start(request)
        lines: list[dict[str, Any]] = []
        measurement.on_files = lines.append
        measurement.on_progress = self._progress

        def start(asked: Measurement) -> None:
            asked.wait_ready(_SETUP_S + self._parameters.timeout_s)
            now_ns = self._engine.ask({"type": "ping"})["monotonic_ns"]
            at_ns = now_ns + round(lead_s * 1e9)
            self._engine.ask({"type": "arm", "target": asked.id, "at_ns": at_ns})

        result = self._to_its_end(measurement, start)
        names = ("number", "bytes", "opened_ns", "first_byte_ns", "closed_ns", "retries")
        columns = {name: [value for line in lines for value in line[name]] for name in names}
        return {**result, "file_times": columns}

    def _progress(self, line: dict[str, Any]) -> None:
        if self._on_progress is not None:
            elapsed_s = line["elapsed_ns"] / 1e9
            self._on_progress(Progress(elapsed_s, line["messages"], line["bytes"], None))

    def _to_its_end(
        self, asked: Measurement, start: Callable[[Measurement], None]
    ) -> dict[str, Any]:
        try:
            start(asked)
            return asked.result(_longest_s(self._parameters))
        except EngineError:
            if not asked.is_over:
                _cancel(self._engine, asked)
            raise
        except BaseException:
            _cancel(self._engine, asked)
            raise


def _cancel(engine: Engine, asked: Measurement) -> None:
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


def _longest_s(parameters: CopyParameters) -> float:
    tree = parameters.tree
    octets = datasets.mean_bytes(parameters.dataset) if tree is None else datasets.tree_bytes(tree)
    waits_s = (parameters.retries + 1) * parameters.timeout_s
    return _SETUP_S + waits_s + 8 * octets / _SLOWEST_BPS


def _client_directory(
    parameters: CopyParameters, client: End, stack: contextlib.ExitStack, setup: dict[str, Any]
) -> str | None:
    """The directory of the client's side; `None` where it has none. A dataset is there then."""
    if parameters.direction == "download":
        if parameters.client_directory is not None:
            return parameters.client_directory
        if parameters.medium == "memory":
            return None
        return str(stack.enter_context(places.temporary(parameters.medium)))
    if parameters.tree is not None:
        return parameters.tree
    if parameters.medium == "memory":
        return None
    described = _dataset(parameters)
    key = datasets.key(described)
    directory = str(places.dataset_directory(parameters.medium, key))
    if (directory, key) not in _checked:
        request = {"type": "dataset", "spec": described, "directory": directory}
        made = _Asking(client.engine, parameters, None)(request)
        setup["dataset"] = made
        _checked.add((directory, key))
    return directory


def _dataset(parameters: CopyParameters) -> Request:
    return datasets.spec(parameters.dataset, parameters.dataset_seed, parameters.compressible_ratio)


def _spec(parameters: CopyParameters, target: Request, directory: str | None) -> Request:
    tree = parameters.tree
    return {
        "service": {
            **{key: value for key, value in target.items() if value is not None},
            "timeout_ns": nanoseconds(parameters.timeout_s),
            "send_buffer_bytes": parameters.send_buffer_bytes,
            "receive_buffer_bytes": parameters.receive_buffer_bytes,
        },
        "working_name": f"lanlab-{secrets.token_hex(6)}",
        "token": secrets.token_hex(16),
        "direction": parameters.direction,
        "files": {"dataset": _dataset(parameters)} if tree is None else {"tree": tree},
        "client": "memory" if directory is None else {"directory": directory},
        "parallel_files": parameters.parallel_files,
        "block_bytes": parameters.block_bytes,
        "depth": parameters.depth,
        "sync": parameters.sync,
        "verify": parameters.verify,
        "retries": parameters.retries,
    }


def _without_secrets(spec: Request) -> Request:
    """A request for the record: without password and token."""
    service = {key: value for key, value in spec["service"].items() if key != "credentials"}
    if spec["service"].get("credentials"):
        service["user"] = spec["service"]["credentials"]["user"]
    kept = {key: value for key, value in spec.items() if key != "token"}
    return {**kept, "service": service}


@contextlib.contextmanager
def _server(
    parameters: CopyParameters, client: End, host: End, setup: dict[str, Any]
) -> Iterator[_Server]:
    """The server of a trial, for as long as it lasts."""
    if parameters.is_users_server:
        url = servers.parse_url(parameters.server)
        target = servers.target_of(url, parameters.trust, parameters.ip_version)
        root = Path(url.directory) if url.service == "directory" else None
        yield _Server(target, lambda: None, {"server": parameters.server}, root)
        return
    with places.temporary(parameters.server_medium, served=True) as root:
        if parameters.service == "directory":
            target = {"service": "directory", "directory": str(root)}
            yield _Server(target, lambda: None, {"server": "none"}, root)
        elif parameters.server == "embedded":
            with _embedded(parameters, client, host, root) as served:
                yield served
        else:
            with _real(parameters, client, host, root) as served:
                yield served


def _credentials(parameters: CopyParameters) -> Request | None:
    if parameters.service in _NOBODY:
        return None
    return {"user": _USER, "secret": secrets.token_hex(16)}


@contextlib.contextmanager
def _embedded(parameters: CopyParameters, client: End, host: End, root: Path) -> Iterator[_Server]:
    """The engine's own server, on the host's engine."""
    credentials = _credentials(parameters)
    request = {
        "type": "serve",
        "service": parameters.service,
        "root": str(root),
        "bind": host.address,
        "credentials": credentials,
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

        yield _Server(target, cpu_s, {"server": "embedded"}, root)
    finally:
        _cancel(host.engine, serving)


@contextlib.contextmanager
def _real(parameters: CopyParameters, client: End, host: End, root: Path) -> Iterator[_Server]:
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
        yield _Server(target, running.cpu_s, facts, root)


def _drop_caches(
    spec: Request, server: _Server, client: End, host: End
) -> dict[str, dict[str, Any]]:
    """Have both hosts forget files; hosts that share a kernel share what it keeps.

    Each end's record says of what was forgotten: everything, or where that takes rights that the
    user does not have, the files of that end. An end without files has nothing to forget.
    """
    found: dict[str, dict[str, Any]] = {}
    source = spec["client"]
    directory = source.get("directory") if isinstance(source, dict) else None
    shares = client.boot_id is not None and client.boot_id == host.boot_id
    served = None if server.root is None else str(server.root)
    for name, end, place in (("client", client, directory), ("server", host, served)):
        if place is None:
            continue
        if shares and any(each["of"] == "everything" for each in found.values()):
            continue
        began = time.monotonic()
        measurement = end.engine.start({"type": "drop_caches", "directory": place})
        found[name] = measurement.result(_SETUP_S)
        found[name]["elapsed_s"] = time.monotonic() - began
    if served is None:
        found["server"] = {"of": "nothing", "reason": "the server is on a host of its own"}
    return found
