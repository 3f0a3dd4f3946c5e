"""
One trial of a copy: its files and its server are there, then it is prepared, timed, checked, and
emptied whatever became of it.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lanlab.engine import Engine, Measurement
from lanlab.errors import EngineError, LabError
from lanlab.workloads import copy_datasets as datasets
from lanlab.workloads import copy_journal as journal
from lanlab.workloads import copy_memory as memory
from lanlab.workloads import copy_places as places
from lanlab.workloads.exchange import End, Exchange, Progress
from lanlab.workloads.file_servers import (
    Emptying,
    Server,
    cancel,
    empty_left,
    served,
    without_secrets,
)
from lanlab.workloads.parameters import nanoseconds

if TYPE_CHECKING:
    from lanlab.workloads.copy import CopyParameters

Request = dict[str, Any]

#: Connecting and preparing may take this long beside what the octets take.
_SETUP_S = 120.0
#: A copy slower than this (5 kB/s) is given up, unless the user allows more: a server that answers
#: now and then would keep a study for ever.
_SLOWEST_BPS = 40e3
#: An engine that does not end a step in time is given up itself.
_BEYOND_S = 60.0
#: A start that came too late is tried again with twice the lead, so often.
_START_ATTEMPTS = 5
#: A server that was cut off learns of it within a round trip and a turn of its processor.
_CUT_NOTICED_S = 0.3
#: Datasets that were compared with their description since this process began.
_checked: set[tuple[str, str]] = set()


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
    places.remove_left()
    try:
        with contextlib.ExitStack() as stack:
            directory = _client_directory(parameters, client, stack, exchange.setup)
            server = stack.enter_context(served(parameters, client, host, exchange.setup))
            spec = _spec(parameters, server.target, directory)
            exchange.setup["spec"] = without_secrets(spec)
            note_emptied: Callable[[], None] = _nothing
            if parameters.is_users_server:
                ask = _Asking(client.engine, parameters, None)
                empty_left(parameters.server, spec["service"], ask, exchange.setup)
                note_emptied = stack.enter_context(
                    journal.noted(parameters.server, "copy_empty", spec)
                )
            ends = (client, host)
            _trial(exchange, parameters, spec, server, ends, lead_s, on_progress, note_emptied)
    except LabError as error:
        exchange.error = error
    return exchange


def _nothing() -> None:
    """A server of ours goes with all that is in it."""


def _trial(
    exchange: Exchange,
    parameters: CopyParameters,
    spec: Request,
    server: Server,
    ends: tuple[End, End],
    lead_s: float,
    on_progress: Callable[[Progress], None] | None,
    note_emptied: Callable[[], None],
) -> None:
    client, host = ends
    engine, setup = client.engine, exchange.setup
    ask = _Asking(engine, parameters, on_progress)
    emptying = Emptying(parameters, "copy_empty", ask, setup, note_emptied)
    try:
        prepared = ask({"type": "copy_prepare", "spec": spec})
        setup["prepared"] = prepared
        spec["files_digest"] = prepared["files_digest"]
        if parameters.cache == "cold":
            setup["caches"] = _drop_caches(spec, server, client, host)
        if _fills_memory(parameters, spec, server):
            setup["memory"] = memory.make_ready(prepared["bytes"], prepared["files"])
        for attempt in range(_START_ATTEMPTS):
            try:
                before = server.cpu_s()
                exchange.connector = ask.armed({"type": "copy", "spec": spec}, lead_s)
                exchange.listener = server.seen_since(before)
                break
            except EngineError as error:
                if error.code != "arm.late" or attempt + 1 == _START_ATTEMPTS:
                    exchange.connector = error.partial
                    raise
                lead_s *= 2
        if parameters.direction == "upload":
            setup["checked"] = ask({"type": "copy_check", "spec": spec})
    except BaseException as error:
        if "prepared" in setup:
            # What a server has taken in and not yet done it would do after it was emptied.
            time.sleep(_CUT_NOTICED_S)
        emptying.empty_after_failure(spec)
        if isinstance(error, EngineError) and exchange.connector is None:
            exchange.connector = error.partial if _is_copied(error.partial) else None
        raise
    emptying.empty(spec)


def _fills_memory(parameters: CopyParameters, spec: Request, server: Server) -> bool:
    """Whether the files come to a directory of this machine, on a disk or not."""
    if parameters.direction == "upload":
        return server.root is not None
    return isinstance(spec["client"], dict)


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
            most_s = max(_longest_s(self._parameters), _usual_longest_s(self._parameters))
            return asked.result(most_s + _BEYOND_S)
        except BaseException:
            cancel(self._engine, asked)
            raise


def _longest_s(parameters: CopyParameters) -> float:
    """What a step of a trial may take."""
    given_s = parameters.longest_s
    return _usual_longest_s(parameters) if given_s is None else given_s


def _usual_longest_s(parameters: CopyParameters) -> float:
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
        "longest_ns": nanoseconds(_longest_s(parameters)),
    }


def _drop_caches(
    spec: Request, server: Server, client: End, host: End
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
