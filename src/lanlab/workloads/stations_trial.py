"""
One trial of stations: its server is there, the files of all stations are written, then they work,
on one host or on several, and what was written is removed whatever became of it.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lanlab.engine import Engine, Measurement
from lanlab.errors import EngineError, EngineOverdue, LabError, UnmetNeed
from lanlab.workloads import copy_journal as journal
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
from lanlab.workloads.stations_merging import merged
from lanlab.workloads.stations_readings import columns_of, thinned, within
from lanlab.workloads.stations_results import summed

if TYPE_CHECKING:
    from lanlab.workloads.stations import StationsParameters

Request = dict[str, Any]

#: Connecting and preparing may take this long, and each station so much more.
_SETUP_S = 120.0
_SETUP_EACH_S = 0.5
#: Files are written and removed at least at this speed.
_SLOWEST_BPS = 1e6
#: A station that does fewer operations a second is given up with its trial.
_SLOWEST_PER_S = 1.0
#: Single readings that are kept at most, unless more are asked for: 10 MB in an engine.
MOST_READINGS = 250_000
#: Between a start being told and the start, for each station: to be woken and wait for it, on a
#: thread of its own (of a directory) or with others on one.
_LEAD_ALONE_S = 2e-4
_LEAD_TOGETHER_S = 2e-5
#: A start that came too late is tried again with twice the lead, so often.
_START_ATTEMPTS = 5
#: Room that a server's disk has left beside the stations' files, octets.
_ROOM_BYTES = 64 * 2**20


@dataclass(frozen=True)
class _Host:
    """A host with stations, and which."""

    end: End
    first: int
    count: int


def run_stations(
    parameters: StationsParameters,
    client: End,
    host: End,
    lead_s: float,
    on_progress: Callable[[Progress], None] | None,
) -> Exchange:
    """
    Run one trial.

    Args:
        client: Where stations are; those of `client.others` have their share of them.
        host: Where a server that lanlab starts is; of a user's own nothing runs there.
        lead_s: Time from giving the start to the start.
        on_progress: Called from another thread some times a second.

    Returns:
        The exchange: `connector` is what was measured, its readings and what they come to
        included, `listener` what is known of the server.
    """
    exchange = Exchange(
        setup={"capabilities": {"connector": client.engine.hello["capabilities"], "listener": {}}}
    )
    places.remove_left()
    try:
        with contextlib.ExitStack() as stack:
            servers = served(parameters, client, host, exchange.setup, parameters.stations)
            server = stack.enter_context(servers)
            _check_room(parameters, server)
            spec = _spec(parameters, server.target)
            exchange.setup["spec"] = without_secrets(spec)
            note_emptied: Callable[[], None] = _nothing
            if parameters.is_users_server:
                ask = _Asking(client.engine, parameters)
                empty_left(parameters.server, spec["service"], ask, exchange.setup)
                note_emptied = stack.enter_context(
                    journal.noted(parameters.server, "stations_empty", spec)
                )
            hosts = _hosts(parameters, client)
            lead_s += lead_beyond_s(parameters)
            _trial(exchange, parameters, spec, server, hosts, lead_s, on_progress, note_emptied)
    except LabError as error:
        exchange.error = error
    return exchange


def lead_beyond_s(parameters: StationsParameters) -> float:
    """By how much earlier than of two ends the start is told: the more stations there are, the more
    have to hear of it."""
    each_s = _LEAD_ALONE_S if parameters.service == "directory" else _LEAD_TOGETHER_S
    return each_s * parameters.stations


def _nothing() -> None:
    """A server of ours goes with all that is in it."""


def _check_room(parameters: StationsParameters, server: Server) -> None:
    """See before anything is written that it fits; of a user's server nobody can know."""
    if server.root is None or parameters.is_users_server:
        return
    needed = parameters.written_bytes + _ROOM_BYTES
    free = shutil.disk_usage(server.root).free
    if free < needed:
        raise UnmetNeed(
            f"{parameters.stations} stations have files of {needed / 1e6:.0f} MB; "
            f"{server.root} has room for {free / 1e6:.0f} MB",
            hint="give a smaller file_size_bytes, or ask for fewer stations",
        )


def _hosts(parameters: StationsParameters, client: End) -> list[_Host]:
    """The stations, spread over the hosts that there are: each has one at least."""
    ends: Sequence[End] = (client, *client.others)
    # Memory is each engine's own, and files of a directory are not the network's.
    if parameters.service in ("memory", "directory"):
        ends = (client,)
    ends = ends[: parameters.stations]
    share, more = divmod(parameters.stations, len(ends))
    hosts, first = [], 0
    for place, end in enumerate(ends):
        count = share + (place < more)
        hosts.append(_Host(end, first, count))
        first += count
    return hosts


def _spec(parameters: StationsParameters, target: Request) -> Request:
    open_loop = None
    if parameters.loop == "open":
        open_loop = {
            "rate_per_s": parameters.rate_operations_per_s,
            "arrivals": parameters.arrivals,
        }
    time_s, each = parameters.time_s, parameters.readings_each
    if each is None and time_s is None:
        # The interval may never be narrow enough.
        time_s = 600.0
    return {
        "service": {
            **{key: value for key, value in target.items() if value is not None},
            "timeout_ns": nanoseconds(parameters.timeout_s),
        },
        "working_name": f"lanlab-{secrets.token_hex(6)}",
        "token": secrets.token_hex(16),
        "stations": parameters.stations,
        "own": {"first": 0, "count": parameters.stations},
        "operation": parameters.operation,
        "read_ratio": parameters.read_ratio,
        "access": parameters.access,
        "message_size_bytes": parameters.message_size_bytes,
        "file_size_bytes": parameters.own_file_size_bytes,
        "think_ns": nanoseconds(parameters.think_time_s),
        "open_loop": open_loop,
        "sync": parameters.sync,
        "until": {
            "readings_per_station": each,
            "time_ns": None if time_s is None else nanoseconds(time_s),
            "interval_ratio": parameters.interval_ratio,
        },
        "most_readings": parameters.kept_readings,
        "retries": parameters.retries,
        "seed": parameters.seed,
        "verify": parameters.verify,
        "connects_at_once": parameters.connects_at_once,
        "threads": parameters.threads,
    }


def _trial(
    exchange: Exchange,
    parameters: StationsParameters,
    spec: Request,
    server: Server,
    hosts: Sequence[_Host],
    lead_s: float,
    on_progress: Callable[[Progress], None] | None,
    note_emptied: Callable[[], None],
) -> None:
    setup = exchange.setup
    ask = _Asking(hosts[0].end.engine, parameters)
    emptying = Emptying(parameters, "stations_empty", ask, setup, note_emptied)
    try:
        setup["prepared"] = ask({"type": "stations_prepare", "spec": spec})
        for attempt in range(_START_ATTEMPTS):
            try:
                before = server.cpu_s()
                together = _Together(parameters, spec, hosts, on_progress)
                error = together.work(lead_s)
                exchange.listener = server.seen_since(before)
                break
            except EngineError as late:
                if late.code != "arm.late" or attempt + 1 == _START_ATTEMPTS:
                    raise
                lead_s *= 2
        exchange.connector = together.told()
        if error is not None:
            raise error
    except BaseException:
        emptying.empty_after_failure(spec)
        raise
    emptying.empty(spec)


class _Asking:
    """Requests to an engine, each to its end; one that is not waited for is cancelled."""

    def __init__(self, engine: Engine, parameters: StationsParameters) -> None:
        self._engine, self._parameters = engine, parameters

    def __call__(self, request: Request) -> dict[str, Any]:
        asked = self._engine.start(request)
        most_s = _files_s(self._parameters)
        try:
            return asked.result(most_s)
        except BaseException as error:
            cancel(self._engine, asked)
            raise _cause(error, (self._engine,), most_s) from None


class _Together:
    """The stations of all hosts, from their connecting to their results."""

    def __init__(
        self,
        parameters: StationsParameters,
        spec: Request,
        hosts: Sequence[_Host],
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self._parameters, self._spec, self._hosts = parameters, spec, hosts
        self._on_progress = on_progress
        self._lines: list[dict[str, Any]] = []
        self._slices: list[dict[str, Any]] = []
        self._parts: list[dict[str, Any]] = []
        #: By host, the last that it told: messages, octets.
        self._progress: dict[int, tuple[int, int]] = {}

    def work(self, lead_s: float) -> LabError | None:
        """Connect, start together, and wait until all are done; the error of the first host that
        has one, whatever the others came to.

        Raises:
            EngineError: The start came too late for one of them, or it could not be set up.
        """
        asked = [self._start(place, host) for place, host in enumerate(self._hosts)]
        engines = [host.end.engine for host in self._hosts]
        try:
            for measurement in asked:
                measurement.wait_ready(_setup_s(self._parameters))
            self._arm(asked, lead_s)
        except BaseException as error:
            self._cancel(asked)
            raise _cause(error, engines, _setup_s(self._parameters)) from None
        failed: LabError | None = None
        try:
            for measurement in asked:
                try:
                    self._parts.append(measurement.result(_longest_s(self._parameters)))
                except EngineError as error:
                    failed = failed or error
                    if error.partial is not None:
                        self._parts.append(dict(error.partial))
        except BaseException as error:
            self._cancel(asked)
            raise _cause(error, engines, _longest_s(self._parameters)) from None
        return failed

    def _start(self, place: int, host: _Host) -> Measurement:
        service = self._spec["service"]
        if "bind" in service:
            service = {**service, "bind": host.end.address}
        own = {"first": host.first, "count": host.count}
        request = {"type": "stations", "spec": {**self._spec, "service": service, "own": own}}
        measurement = host.end.engine.start(request)
        measurement.on_readings = self._lines.append
        measurement.on_slices = self._slices.append

        def on_progress(line: dict[str, Any]) -> None:
            self._progress[place] = (line["messages"], line["bytes"])
            if place == 0 and self._on_progress is not None:
                counts = list(self._progress.values())
                messages, octets = (sum(each) for each in zip(*counts, strict=True))
                self._on_progress(Progress(line["elapsed_ns"] / 1e9, messages, octets, None))

        measurement.on_progress = on_progress
        return measurement

    def _arm(self, asked: Sequence[Measurement], lead_s: float) -> None:
        """Give all the same start, each on its own clock."""
        first = self._hosts[0].end
        at_ns = first.engine.ask({"type": "ping"})["monotonic_ns"] + round(lead_s * 1e9)
        for host, measurement in zip(self._hosts, asked, strict=True):
            own_ns = at_ns
            if host.end is not first and not _share_a_clock(first, host.end):
                ours_ns, theirs_ns = first.engine.clock_offset(), host.end.engine.clock_offset()
                own_ns += theirs_ns[0] - ours_ns[0]
            arm = {"type": "arm", "target": measurement.id, "at_ns": own_ns}
            host.end.engine.ask(arm)

    def _cancel(self, asked: Sequence[Measurement]) -> None:
        for host, measurement in zip(self._hosts, asked, strict=True):
            with contextlib.suppress(LabError):
                cancel(host.end.engine, measurement)

    def told(self) -> dict[str, Any] | None:
        """What all hosts together told; `None` if none has told anything."""
        if not self._parts:
            return None
        told = merged(self._parts)
        how, stations = told["thinned"], self._parameters.stations
        readings = columns_of(self._lines, self._parameters.message_size_bytes)
        self._lines.clear()
        if not within(readings, told["outcomes"], stations):
            raise EngineError("engine.defect", "readings that cannot be")
        slices = None
        if how is not None:
            from lanlab.workloads.station_slices import slices_of

            slices = slices_of(self._slices, readings, how["slice_ns"], stations)
        self._slices.clear()
        told["readings_count"] = told["readings"]
        told["readings"] = thinned(readings, 1 if how is None else how["every"])
        if how is not None:
            how["kept"] = len(told["readings"]["station"])
        summed(self._parameters, told, slices)
        return told


def _share_a_clock(one: End, other: End) -> bool:
    return one.boot_id is not None and one.boot_id == other.boot_id


def _cause(overdue: BaseException, engines: Sequence[Engine], most_s: float) -> BaseException:
    """Engines that have no end, and yet answer that they are cancelled, wait for their server."""
    if not isinstance(overdue, EngineOverdue) or any(engine.is_lost for engine in engines):
        return overdue
    return EngineError(
        "stations.too_long",
        f"{overdue.host}: not done within {most_s:g} s",
        hint="see why the server is so slow, or allow more by `--longest`",
        host=overdue.host,
    )


def _setup_s(parameters: StationsParameters) -> float:
    """What connecting may take."""
    # Seven attempts of one, a second of pauses and more between them.
    usual_s = _SETUP_S + _SETUP_EACH_S * parameters.stations + 7 * parameters.timeout_s
    return parameters.longest_s or usual_s


def _files_s(parameters: StationsParameters) -> float:
    """What writing and removing the files may take."""
    written_s = 8 * parameters.written_bytes / _SLOWEST_BPS
    usual_s = _SETUP_S + _SETUP_EACH_S * parameters.stations + written_s
    return parameters.longest_s or usual_s


def _longest_s(parameters: StationsParameters) -> float:
    """What the work of all stations may take."""
    if parameters.longest_s is not None:
        return parameters.longest_s + (parameters.time_s or 0)
    waits_s = 2 * (parameters.retries + 1) * parameters.timeout_s + _SETUP_S
    # Many readings have to be told, and stations take their leave.
    waits_s += 0.05 * parameters.stations
    if parameters.time_s is not None:
        return waits_s + parameters.time_s
    if parameters.readings_each is None:
        return waits_s + 600.0
    each_s = 1 / _SLOWEST_PER_S + parameters.think_time_s
    if parameters.rate_operations_per_s is not None:
        each_s = max(each_s, parameters.stations / parameters.rate_operations_per_s)
    return waits_s + parameters.readings_each * each_s
