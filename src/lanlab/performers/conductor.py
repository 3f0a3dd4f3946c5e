"""
The timed step of a trial: sets up its parts, starts them together, and ends them, also after an
error.

When all are ready they receive the same start time, each on its own clock, in advance: an engine
that receives it too late reports an error instead of starting late, and the step begins again with
more lead.
"""

from __future__ import annotations

import contextlib
import importlib
import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from lanlab.engine import Measurement
from lanlab.errors import EngineError, EngineOverdue, LabError
from lanlab.performers.base import OnProgress
from lanlab.performers.clocks import Clocks, clock_record, read_clocks
from lanlab.performers.engine_host import EngineHost, cancel, too_long
from lanlab.testbeds.base import HasMedium
from lanlab.trial_data import Line, MediumSeen, Request, RoleResult, Setup, SimulatedSent
from lanlab.workloads.outcome import TrialOutcome
from lanlab.workloads.steps import Before, EngineReport, Part, Steps

#: Codes of errors about the peer, and of requests that lanlab cancelled.
_OF_THE_PEER = "peer."
_CANCELLED = "cancelled"
#: Up to this number of hosts, starts are sent in turn; to more, in parallel.
_ARMED_IN_TURN = 2
_ARMED_AT_ONCE = 64
#: Round trips that setting up a part may take beyond its time: for one flow, and for each
#: sequential step of more flows.
_SETUP_ROUND_TRIPS, _FLOW_ROUND_TRIPS = 6, 2
#: Attempts at a start; each has four times the lead of the late one.
_START_ATTEMPTS = 5
_COUNTED = ("frames", "bytes")


class SentOnMedium:
    """
    The readings of a medium around the timed step of a trial.

    Args:
        medium: The testbed that has it.
        hosts: Hosts of the trial by role.
    """

    def __init__(self, medium: HasMedium, hosts: Mapping[str, Sequence[EngineHost]]) -> None:
        self._medium = medium
        self._roles = {host.engine.name: role for role, own in hosts.items() for host in own}
        self._before: dict[str, dict[str, int]] = {}

    def begin(self) -> None:
        self._before = self._read()

    def until_now(self) -> MediumSeen | None:
        """
        For the record: `sent` since the beginning, by role, and the medium's `lateness` meanwhile.

        Returns:
            `None` for a link without a medium.
        """
        now = self._read()
        read = self._medium.medium_read()
        if read is None:
            return None
        sent = {
            role: {name: count - self._before[role][name] for name, count in counts.items()}
            for role, counts in now.items()
        }
        return {"sent": cast("dict[str, SimulatedSent]", sent), "lateness": read["lateness"]}

    def _read(self) -> dict[str, dict[str, int]]:
        found = {role: dict.fromkeys(_COUNTED, 0) for role in self._roles.values()}
        for interface, counts in self._medium.medium_counters().items():
            role = self._roles.get(interface.partition("/")[0])
            if role is not None:
                for name in _COUNTED:
                    found[role][name] += counts[f"medium_{name}"]
        return found


def conduct_timed(
    steps: Steps,
    groups: Sequence[Sequence[Part]],
    host_of: Callable[[Part], EngineHost],
    lead_s: float,
    on_progress: OnProgress | None,
    outcome: TrialOutcome,
    sent: SentOnMedium | None = None,
) -> None:
    """
    Run the timed step. Its results, also of a failed step, go into `outcome`.

    Args:
        steps: Steps of the trial.
        groups: The parts, in the order of their set-up.
        host_of: The host of a part.
        lead_s: Time from announcing the start to the start.
        on_progress: Called from another thread a few times a second.
        outcome: Outcome of the trial.
        sent: Counts the hosts' frames meanwhile.

    Raises:
        LabError: A part failed, or was given up.
    """
    parts = [part for group in groups for part in group]
    hosts = {name: host_of(part) for name, part in zip(_names(parts), parts, strict=True)}
    if len(parts) > _ARMED_IN_TURN:
        # Import it now, and not between the set-up and the start.
        importlib.import_module("concurrent.futures.thread")
    clocks = read_clocks(hosts)
    lead_s += steps.lead_beyond_s()
    setup = outcome.setup
    setup["hosts"] = {name: host.engine.label for name, host in hosts.items()}
    setup["capabilities"] |= {
        part.role: host_of(part).engine.hello["capabilities"] for part in parts
    }
    try:
        for attempt in range(1, _START_ATTEMPTS + 1):
            setup["start_attempts"] = attempt
            run = _TimedRun(steps, hosts, clocks, on_progress, sent)
            is_late, is_last = False, attempt == _START_ATTEMPTS
            try:
                run.run(groups, lead_s, setup)
            except EngineError as error:
                is_late = error.code == "arm.late" and not is_last
                if not is_late:
                    raise
            finally:
                outcome.results = run.collected()
            if is_last or not (is_late or steps.missed_their_time(outcome.results)):
                break
            lead_s *= 4
    except LabError:
        setup["clocks"] = clock_record(clocks, None)
        raise
    after = None
    # A lost engine has already sent its results; the next trial will notice.
    with contextlib.suppress(LabError):
        after = read_clocks(hosts)
    setup["clocks"] = clock_record(clocks, after)


def _names(parts: Sequence[Part]) -> list[str]:
    return [part.role if part.place == 0 else f"{part.role} {part.place}" for part in parts]


class _TimedRun:
    def __init__(
        self,
        steps: Steps,
        hosts: Mapping[str, EngineHost],
        clocks: Clocks,
        on_progress: OnProgress | None,
        sent: SentOnMedium | None,
    ) -> None:
        self._steps, self._clocks, self._on_progress = steps, clocks, on_progress
        self._sent = sent
        self._hosts = list(hosts.values())
        self._names = list(hosts)
        self._asked: list[Measurement] = []
        self._reports: list[EngineReport] = []
        self._over: queue.SimpleQueue[int] = queue.SimpleQueue()
        #: Round trip between the hosts: the testbed's value, then the one measured during set-up.
        self._round_trip_ns = 2 * max(host.delay_ns for host in self._hosts)
        self._progress: list[Line | None] = [None] * len(self._hosts)
        #: Time limit for the parts' current step, seconds.
        self._within_s = steps.setup_s
        self._error: BaseException | None = None

    def run(self, groups: Sequence[Sequence[Part]], lead_s: float, setup: Setup) -> None:
        setup["requests"] = {}
        try:
            before = Before(clock=self._clocks.last().to_json())
            measured: list[int] = []
            for group in groups:
                first = len(self._asked)
                for part in group:
                    self._start(part, before, setup)
                for place in range(first, len(self._asked)):
                    with self._keeping_partial(place):
                        ready = self._asked[place].wait_ready(self._setup_s(setup, place))
                    ports = ready.get("ports") or ()
                    listening = {**before.listening, self._names[place]: ports}
                    before = Before(ports, before.clock, listening)
                    if (round_trip_ns := ready.get("setup_round_trip_ns")) is not None:
                        measured.append(round_trip_ns)
            # A busy machine lengthens round trips; none is shorter than the path.
            setup["setup_round_trip_ns"] = min(measured, default=None)
            self._round_trip_ns = max(self._round_trip_ns, min(measured, default=0))
            if self._sent is not None:
                self._sent.begin()
            setup["start"] = self._start_together(lead_s, min(measured, default=0))
            self._take_results()
            if self._sent is not None:
                setup["medium"] = self._sent.until_now()
        except BaseException as error:
            self._error = error
            better = self._end_all(error)
            if better is not error:
                raise better from error
            raise

    def _start(self, part: Part, before: Before, setup: Setup) -> None:
        place = len(self._asked)
        if part.clock_of is not None:
            clock = self._clocks.between(part.clock_of, self._names[place])
            before = replace(before, clock=clock.to_json())
        request = part.request(before)
        setup["requests"][self._names[place]] = without_secrets(request)
        report = EngineReport(part.role, self._hosts[place].engine.label)
        self._reports.append(report)
        measurement = self._hosts[place].engine.start(request, asked=self._asked)
        measurement.on_over = lambda: self._over.put(place)
        measurement.on_data = lambda line: report.lines.setdefault(line["type"], []).append(line)
        measurement.on_progress = lambda line: self._take_progress(place, line)

    def _setup_s(self, setup: Setup, place: int) -> float:
        flows: int = setup["requests"][self._names[place]].get("spec", {}).get("flows", 1)
        round_trips = _SETUP_ROUND_TRIPS + _FLOW_ROUND_TRIPS * flows
        return self._steps.setup_s + round_trips * self._round_trip_ns / 1e9

    @contextlib.contextmanager
    def _keeping_partial(self, place: int) -> Iterator[None]:
        try:
            yield
        except EngineError as error:
            if error.partial is not None:
                self._reports[place].result = cast("RoleResult", {**error.partial})
            raise

    def _take_progress(self, place: int, line: Line) -> None:
        self._progress[place] = line
        if place == 0 and self._on_progress is not None:
            self._on_progress(self._steps.progress(self._progress))

    def _start_together(self, lead_s: float, round_trip_ns: int) -> dict[str, object]:
        starts_ns = self._clocks.starts_ns(time.monotonic_ns() + round(lead_s * 1e9))

        def arm(place: int) -> int:
            request = {
                "type": "arm",
                "target": self._asked[place].id,
                "at_ns": starts_ns[place],
                "round_trip_ns": round_trip_ns,
            }
            margin_ns: int = self._hosts[place].engine.ask(request)["margin_ns"]
            return margin_ns

        places = range(len(self._asked))
        if len(places) <= _ARMED_IN_TURN:
            margins = [arm(place) for place in places]
        else:
            from concurrent.futures import ThreadPoolExecutor

            # Over a network each answer takes a round trip.
            with ThreadPoolExecutor(max_workers=min(len(places), _ARMED_AT_ONCE)) as pool:
                margins = list(pool.map(arm, places))
        return {
            "lead_s": lead_s,
            "shared_clock": self._clocks.are_one_clock,
            "clock_error_ns": self._clocks.bound_ns,
            "margins_ns": margins,
        }

    def _take_results(self) -> None:
        """Collect the results of all parts, in any order. If one fails the others are not waited
        for, because they may hang, unless each ends by itself.
        """
        path_s = self._steps.round_trips() * self._round_trip_ns / 1e9
        longest_s = self._within_s = self._steps.longest_s() + path_s
        deadline = time.monotonic() + longest_s
        waiting = set(range(len(self._asked)))
        failed: LabError | None = None
        moved = 0
        while waiting:
            try:
                place = self._over.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                # A slow peer may still receive data in flight; the engines end once nothing moves.
                if failed is None and moved < (now_moved := self._moved_bytes()):
                    moved, deadline = now_moved, time.monotonic() + longest_s
                    continue
                raise failed or self._asked[min(waiting)].overdue(longest_s) from None
            waiting.remove(place)
            try:
                with self._keeping_partial(place):
                    self._reports[place].result = cast("RoleResult", self._asked[place].result(0.0))
            except EngineError as error:
                if not self._steps.are_alike:
                    raise
                failed = failed or error
        if failed is not None:
            raise failed

    def _moved_bytes(self) -> int:
        moved = 0
        for line in self._progress:
            if line is not None:
                moved += line["bytes"] + (line.get("tcp") or {}).get("acknowledged_bytes", 0)
        return moved

    def _end_all(self, error: BaseException) -> BaseException:
        """End every part of a failed step, and keep their results so far.

        Returns:
            Why the step failed. If one end only reports that its peer is gone, the peer may have
                reported the reason.
        """
        others: list[EngineError] = []
        for host, measurement, report in zip(self._hosts, self._asked, self._reports, strict=False):
            if report.result is None:
                report.result = cast("RoleResult | None", cancel(host.engine, measurement, others))
        if isinstance(error, EngineOverdue):
            return too_long(error, self._hosts, self._within_s, self._steps.too_long_hint)
        if isinstance(error, EngineError) and error.code.startswith(_OF_THE_PEER):
            said = (o for o in others if not o.code.startswith((_OF_THE_PEER, _CANCELLED)))
            return next(said, error)
        return error

    def collected(self) -> dict[str, RoleResult]:
        try:
            return self._steps.collect(self._reports)
        except LabError:
            if self._error is None:
                raise
            # Errors while the other parts are ended must not hide the reason.
            return {
                report.role: report.result for report in self._reports if report.result is not None
            }


def without_secrets(request: Request) -> Request:
    """A request without tokens and passwords, for the record."""
    kept: dict[str, object] = {
        key: without_secrets(cast("Request", value)) if isinstance(value, dict) else value
        for key, value in request.items()
        if key not in ("session", "token", "credentials")
    }
    if credentials := request.get("credentials"):
        kept["user"] = credentials["user"]
    return cast("Request", kept)
