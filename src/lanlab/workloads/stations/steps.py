"""
The steps of one trial of stations: write the files of all stations, let them work on one host or
several, and clean up, also after a failure.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from lanlab.errors import EngineError, UnmetNeed, UsageError
from lanlab.services import SERVICES
from lanlab.trial_data import (
    BlockCheck,
    CpuTime,
    Line,
    OpenLoop,
    OwnStations,
    Request,
    RoleResult,
    Spec,
    Target,
    Thinned,
)
from lanlab.workloads.parameters import nanoseconds
from lanlab.workloads.registry import Habits
from lanlab.workloads.services.parameters import set_parts, working_name
from lanlab.workloads.services.simulated import SIMULATED_DIRECTORY, simulated_target
from lanlab.workloads.stations.readings import columns_of, start_skew_ns, thinned, within
from lanlab.workloads.stations.results import summed
from lanlab.workloads.steps import TOO_LONG_HINT, Before, EngineReport, Part, Server, Stage, Steps

if TYPE_CHECKING:
    from lanlab.workloads.stations.parameters import StationsParameters

_SETUP_S = 120.0
_SETUP_EACH_S = 0.5
_SLOWEST_BPS = 1e6
#: A station with fewer operations per second is given up with its trial.
_SLOWEST_PER_S = 1.0
#: Maximum modelled stations: one of a world's machines is the server.
_MOST_SIMULATED = 255
#: Time per station between the announcement of a start and the start: to wake up and wait for it,
#: either on its own thread (for a directory) or on a shared one.
_LEAD_ALONE_S = 2e-4
_LEAD_TOGETHER_S = 2e-5
#: Free space that a server's disk needs in addition to the stations' files, bytes.
_ROOM_BYTES = 64 * 2**20
_ENDS = ("no_station", "cancelled", "full", "interval", "time", "readings")
_SUMS = (
    "stations",
    "threads",
    "readings",
    "bytes",
    "retries",
    "unstarted",
    "reconnects",
    "ended_stations",
)
_MOST_NAMED = 64


class StationsSteps(Steps):
    are_alike = True
    too_long_hint = TOO_LONG_HINT

    def __init__(self, parameters: StationsParameters) -> None:
        self._parameters = parameters
        self.setup_s = _setup_s(parameters)
        self._spec: Spec
        self._remove: Callable[[BaseException | None], None]

    def open(self, stage: Stage) -> None:
        parameters = self._parameters
        server = stage.serve(parameters, parameters.stations)
        _check_room(parameters, server, stage)
        self._spec = _spec(parameters, server.target)
        within_s = _files_s(parameters)
        self._remove = stage.to_remove(parameters, "stations_empty", self._spec, within_s)

    def prepare(self, stage: Stage) -> None:
        request: Request = {"type": "stations_prepare", "spec": self._spec}
        stage.setup["prepared"] = stage.ask("client", request, _files_s(self._parameters))

    def timed(self, stage: Stage) -> Sequence[Sequence[Part]]:
        """The stations, distributed over the hosts: each has at least one."""
        parameters = self._parameters
        # Memory is local to each engine, and files of a directory do not use the network.
        is_local = SERVICES[parameters.service].is_local
        hosts = 1 if is_local else min(stage.hosts("client"), parameters.stations)
        share, more = divmod(parameters.stations, hosts)
        parts, first = [], 0
        for place in range(hosts):
            count = share + (place < more)
            request = self._request(first, count, stage.address("client", place))
            parts.append(Part("client", request, place))
            first += count
        return [parts]

    def _request(self, first: int, count: int, address: str) -> Callable[[Before], Request]:
        service = self._spec["service"]
        if "bind" in service:
            service = {**service, "bind": address}
        own: OwnStations = {"first": first, "count": count}
        request: Request = {
            "type": "stations",
            "spec": {**self._spec, "service": service, "own": own},
        }
        return lambda _: request

    def longest_s(self) -> float:
        parameters = self._parameters
        if parameters.longest_s is not None:
            return parameters.longest_s + (parameters.time_s or 0)
        waits_s = 2 * (parameters.retries + 1) * parameters.timeout_s + _SETUP_S
        # Engines report many readings, and stations log out.
        waits_s += 0.05 * parameters.stations
        if parameters.time_s is not None:
            return waits_s + parameters.time_s
        if parameters.readings_each is None:
            return waits_s + 600.0
        each_s = 1 / _SLOWEST_PER_S + parameters.think_time_s
        if parameters.rate_operations_per_s is not None:
            each_s = max(each_s, parameters.stations / parameters.rate_operations_per_s)
        return waits_s + parameters.readings_each * each_s

    def lead_beyond_s(self) -> float:
        """See `Steps.lead_beyond_s`: all stations must learn of the start."""
        is_alone = self._parameters.service == "directory"
        return (_LEAD_ALONE_S if is_alone else _LEAD_TOGETHER_S) * self._parameters.stations

    def collect(self, reports: Sequence[EngineReport]) -> dict[str, RoleResult]:
        """Results of all hosts together, with their readings and the resulting metrics."""
        known = [(part.host, part.result) for part in reports if part.result is not None]
        if not known:
            return {}
        joined = merged([result for _, result in known], [host for host, _ in known])
        return {"client": with_readings(self._parameters, joined, [part.lines for part in reports])}

    def empty(self, stage: Stage, failed: BaseException | None) -> None:
        self._remove(failed)


def with_readings(
    parameters: StationsParameters,
    joined: RoleResult,
    lines: Sequence[Mapping[str, Sequence[Line]]],
) -> RoleResult:
    """
    Results of all hosts together, with their readings and the resulting metrics.

    Args:
        lines: What each host reported before its result, by kind.
    """
    how, stations = joined["thinned"], parameters.stations
    readings = columns_of(_all(lines, "station_readings"), parameters.message_size_bytes)
    if not within(readings, joined["outcomes"], stations):
        raise EngineError("engine.defect", "impossible readings")
    if "hosts" in joined and parameters.loop == "closed":
        joined["start_skew_ns"] = max(joined["start_skew_ns"], start_skew_ns(readings))
    slices = None
    if how is not None:
        from lanlab.workloads.stations.slices import slices_of

        slices = slices_of(_all(lines, "station_slices"), readings, how["slice_ns"], stations)
    joined["readings_count"] = joined["readings"]
    kept = thinned(readings, 1 if how is None else how["every"])
    joined["readings"] = cast("int", kept)
    if how is not None:
        how["kept"] = len(kept["station"])
    summed(parameters, joined, slices)
    return joined


def _all(lines: Sequence[Mapping[str, Sequence[Line]]], kind: str) -> list[Line]:
    return [line for of_host in lines for line in of_host.get(kind, ())]


def simulated_spec(parameters: StationsParameters, habits: Habits) -> Spec:
    """
    Stations on modelled machines, each on its own machine.

    Raises:
        UsageError: There are more stations than machines, or the service cannot be simulated.
    """
    if parameters.stations > _MOST_SIMULATED:
        raise UsageError(
            f"stations: found {parameters.stations}; allowed on testbed `simulated`: 1 to "
            f"{_MOST_SIMULATED}, each on a machine of its own"
        )
    target = simulated_target(parameters, waits_on=habits.waits_on)
    spec: Spec = {**_spec(parameters, target), **SIMULATED_DIRECTORY}
    if habits.patience_ns is not None:
        spec["service"]["timeout_ns"] = habits.patience_ns
    return spec if habits.retries is None else {**spec, "retries": habits.retries}


def _check_room(parameters: StationsParameters, server: Server, stage: Stage) -> None:
    if server.root is None or parameters.is_users_server:
        return
    needed = parameters.written_bytes + _ROOM_BYTES
    free = stage.free_bytes("server", server.root)
    if free is not None and free < needed:
        raise UnmetNeed(
            f"{parameters.stations} stations have files of {needed / 1e6:.0f} MB; "
            f"{server.root} has room for {free / 1e6:.0f} MB",
            hint="use a smaller file_size_bytes or fewer stations",
        )


def _spec(parameters: StationsParameters, target: Target) -> Spec:
    open_loop: OpenLoop | None = None
    if parameters.loop == "open":
        assert parameters.rate_operations_per_s is not None
        open_loop = {
            "rate_per_s": parameters.rate_operations_per_s,
            "arrivals": parameters.arrivals,
        }
    time_s, each = parameters.time_s, parameters.readings_each
    if each is None and time_s is None:
        # The interval may never become narrow enough.
        time_s = 600.0
    return {
        "service": {**set_parts(target), "timeout_ns": nanoseconds(parameters.timeout_s)},
        "working_name": working_name(parameters),
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


def _setup_s(parameters: StationsParameters) -> float:
    # Seven attempts of one operation, with pauses of a second and more between them.
    usual_s = _SETUP_S + _SETUP_EACH_S * parameters.stations + 7 * parameters.timeout_s
    return parameters.longest_s or usual_s


def _files_s(parameters: StationsParameters) -> float:
    written_s = 8 * parameters.written_bytes / _SLOWEST_BPS
    usual_s = _SETUP_S + _SETUP_EACH_S * parameters.stations + written_s
    return parameters.longest_s or usual_s


def merged(parts: Sequence[RoleResult], names: Sequence[str]) -> RoleResult:
    """
    One result for several hosts: counts are added, the longest times and the widest skew kept.

    Distributions and other details are those of the first host; each host's own result is kept in
    `hosts`. Statistics of response times always use all readings.

    Args:
        names: Names of the hosts.
    """
    if len(parts) == 1:
        return parts[0].copy()
    first, numbers = parts[0].copy(), [cast("dict[str, int]", part) for part in parts]
    added = cast("dict[str, int]", first)
    for name in _SUMS:
        added[name] = sum(part[name] for part in numbers)
    first["thinned"] = _most_thinned(parts)
    for name in ("elapsed_ns", "start_skew_ns"):
        added[name] = max(part[name] for part in numbers)
    ended = sorted((end for part in parts for end in part["ended"]), key=lambda end: end["at_ns"])
    first["ended"] = ended[:_MOST_NAMED]
    ends = [part["ended_by"] for part in parts]
    # A host without stations left does not end the others.
    if any(end != "no_station" for end in ends):
        ends = [end for end in ends if end != "no_station"]
    first["ended_by"] = min(ends, key=_ENDS.index)
    first["errors"] = _added([part["errors"] for part in parts])
    first["reconnect_errors"] = _added([part["reconnect_errors"] for part in parts])
    first["setup"] = {
        **first["setup"],
        "elapsed_ns": max(part["setup"]["elapsed_ns"] for part in parts),
        "errors": _added([part["setup"]["errors"] for part in parts]),
    }
    checks = [part["checked"] for part in parts]
    counts = [{k: v for k, v in check.items() if k != "first_wrong"} for check in checks]
    wrong = next((check["first_wrong"] for check in checks if check["first_wrong"]), None)
    first["checked"] = cast("BlockCheck", {**_added(counts), "first_wrong": wrong})
    first["cpu"] = cast("CpuTime", _added([part["cpu"] for part in parts]))
    carried = [counted for part in parts if (counted := part.get("carrier")) is not None]
    first["carrier"] = _added(carried) if carried else None
    busiest = [part["busiest_thread_ratio"] for part in parts]
    known = [ratio for ratio in busiest if ratio is not None]
    first["busiest_thread_ratio"] = max(known) if known else None
    first["hosts"] = [
        cast("RoleResult", {"name": name, **part}) for name, part in zip(names, parts, strict=True)
    ]
    return first


def _most_thinned(parts: Sequence[RoleResult]) -> Thinned | None:
    thinned = [how for part in parts if (how := part["thinned"]) is not None]
    if not thinned:
        return None
    numbers = cast("list[dict[str, int]]", thinned)
    names = ("kept", "every", "slice_ns")
    return cast("Thinned", {name: max(each[name] for each in numbers) for name in names})


def _added(counts: Sequence[Mapping[str, object]]) -> dict[str, int]:
    numbers = cast("Sequence[Mapping[str, int]]", counts)
    names = {name: None for each in numbers for name in each}
    return {name: sum(each.get(name, 0) for each in numbers) for name in names}
