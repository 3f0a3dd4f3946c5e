"""`load`: round trips idle, or during streams that load the path in one direction or in both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import model_validator

from lanlab.errors import EngineError
from lanlab.roles import REVERSE_PREFIX, ROLES
from lanlab.trial_data import Line, RoleResult, Setup, result_of
from lanlab.workloads.definitions import Flag, parameter
from lanlab.workloads.echo.workload import Echo, EchoParameters
from lanlab.workloads.metrics import LOAD
from lanlab.workloads.outcome import CounterChanges, Progress, TrialOutcome
from lanlab.workloads.parameters import MAX_TCP_BYTES, FlowParameters, RateBps, Seconds, SizeBytes
from lanlab.workloads.registry import Workload
from lanlab.workloads.steps import EngineReport, Part, Stage, Steps, TwoEnds
from lanlab.workloads.stream.parameters import StreamParameters
from lanlab.workloads.stream.results import flow_goodputs_bps
from lanlab.workloads.stream.workload import Stream

ALONE = "none"
DIRECTIONS: Mapping[str, tuple[str, ...]] = {
    ALONE: (),
    "up": ("",),
    "down": (REVERSE_PREFIX,),
    "both": ("", REVERSE_PREFIX),
}
#: The streams continue for this time after the last request, so that its reply meets them too.
TAIL_S = 0.5
#: Parts of the echo's time, and the most in which a direction may deliver nothing: a stream that
#: stalls for longer is no load.
_PARTS = 10
_MOST_IDLE_PARTS = 2
_LONGEST_INTERVAL_S = 0.1
#: A longer round trip is due to the path, not to a queue of the machine.
_LONG_PATH_NS = 100_000_000
_OF_STREAMS = (
    *("ip_version", "transport", "message_size_bytes", "warmup_s", "nodelay", "flows"),
    *("congestion_control", "receive", "timestamps", "sender_processor", "receiver_processor"),
    *("send_buffer_bytes", "receive_buffer_bytes", "dscp", "silence_s", "rate_bps"),
)
_OF_ECHO = ("ip_version", "warmup_s", "receive", "silence_s", "timeout_s", "time_s")


class LoadSteps(Steps):
    """
    An echo, and streams at the same time.

    Args:
        echo: Steps of the echo.
        streams: Steps of the streams of one direction.
        prefixes: Prefixes of the streams' roles, one for each direction.
    """

    def __init__(self, echo: TwoEnds, streams: TwoEnds, prefixes: Sequence[str]) -> None:
        self._echo, self._streams, self._prefixes = echo, streams, tuple(prefixes)

    def timed(self, stage: Stage) -> Sequence[Sequence[Part]]:
        """All listeners, then all that connect. In the first direction, the listener is the first
        part and the connector the last: two hosts, whose clocks the record relates.
        """
        # The streams outlast the last reply, which may be in flight for as long as the path takes.
        self._streams.lengthen(stage.round_trip_ns())
        pairs = [self._streams.direction(stage, prefix) for prefix in self._prefixes]
        pairs.append(self._echo.direction(stage, ""))
        listens = [[listen] for listen, _ in pairs]
        connects = [[connect] for _, connect in reversed(pairs)]
        return [*listens, *connects]

    def longest_s(self) -> float:
        if not self._prefixes:
            return self._echo.longest_s()
        return max(self._echo.longest_s(), self._streams.longest_s())

    def round_trips(self) -> int:
        """Round trips of the longer of both, and one by which the streams are lengthened."""
        return 1 + max(self._echo.round_trips(), self._streams.round_trips())

    def progress(self, lines: Sequence[Line | None]) -> Progress:
        """Progress of the streams by direction, from the listener; without streams, of the echo."""
        half = len(lines) // 2
        # Connecting parts are in reverse order.
        pairs = list(zip(lines[:half], reversed(lines[half:]), strict=True))
        if not self._prefixes:
            return self._echo.progress(pairs[0])
        found = self._streams.progress(pairs[0])
        if len(self._prefixes) < 2 or pairs[1][0] is None:
            return found
        return replace(found, reverse=self._streams.progress(pairs[1]))

    def collect(self, reports: Sequence[EngineReport]) -> dict[str, RoleResult]:
        return self._streams.collect(reports)


class _EchoOfLoad(EchoParameters):
    default_timeout_s: ClassVar[float] = 3.0


class LoadParameters(FlowParameters):
    """Parameters of one `load` condition. Of the parameters that echo and stream share, time-outs
    and addresses apply to both, all others to the streams.
    """

    workload = "load"

    load: Literal["none", "up", "down", "both"] = parameter(
        "both", "Streams during the echo: `none`, `up` (to the second host), `down` or `both`."
    )
    flows: int = parameter(4, "Parallel streams in each direction.", short="-P", ge=1, le=1000)
    transport: Literal["udp", "tcp"] = parameter(
        "tcp",
        "Transport of the streams.",
        flags=(Flag(("-u",), "udp", "Use UDP, like --transport udp; needs --rate."),),
    )
    rate_bps: RateBps | None = parameter(
        None,
        "Total sending rate per direction, e.g. 5M. Default: as fast as possible (TCP).",
        ge=1,
        le=400_000_000_000,
    )
    time_s: Seconds = parameter(
        5.0, "Measure for this time, e.g. 10 or 500ms.", short="-t", ge=0.5, le=86_400
    )
    warmup_s: Seconds = parameter(
        2.0, "Uncounted time at the start, while the streams fill the queues.", ge=0, le=600
    )
    echo_transport: Literal["udp", "tcp"] = parameter("udp", "Transport of the echo.")
    echo_size_bytes: SizeBytes = parameter(
        64, "Payload of each request and reply.", ge=1, le=MAX_TCP_BYTES
    )
    echo_rate_requests_per_s: float = parameter(
        100.0,
        "Requests/s on a fixed schedule; latency counts from the scheduled time.",
        option="--echo-rate",
        gt=0,
        le=100_000,
    )
    timeout_s: Seconds | None = parameter(
        None,
        "Reply time-out; later replies count as lost. Default: 3 s, or three round trips if "
        "longer.",
        ge=0.001,
        le=60,
    )

    @model_validator(mode="after")
    def _fits(self) -> LoadParameters:
        if self.transport == "udp" and self.rate_bps is None:
            problem = ValueError("transport udp needs a rate: nothing else limits the sender")
            problem.add_note("add a rate slightly above the link's, or use tcp")
            raise problem
        # Refuse unsuitable values with the errors of echo and stream.
        self.echo()
        self.streams()
        return self

    @property
    def prefixes(self) -> tuple[str, ...]:
        return DIRECTIONS[self.load]

    def _ports(self) -> str | None:
        """Ports of the streams of each direction, then of the echo: the same for each direction of
        load, so that a firewall is opened once.
        """
        each = self.flows if self.transport == "udp" else 1
        return self.ports_for(2 * each + 1)

    def echo(self) -> EchoParameters:
        return _EchoOfLoad(
            port=self._ports(),
            transport=self.echo_transport,
            message_size_bytes=self.echo_size_bytes,
            rate_requests_per_s=self.echo_rate_requests_per_s,
            **{name: getattr(self, name) for name in _OF_ECHO},
        )

    def streams(self) -> StreamParameters:
        return StreamParameters(
            port=self._ports(),
            time_s=self.time_s + TAIL_S,
            interval_s=max(0.01, min(_LONGEST_INTERVAL_S, self.time_s / _PARTS)),
            **{name: getattr(self, name) for name in _OF_STREAMS},
        )


class Load(Workload[LoadParameters]):
    name = "load"
    roles = ROLES[name]
    Parameters = LoadParameters
    metrics = LOAD
    scan_metrics = (
        *("rtt_p50_ns", "rtt_p99_ns", "rtt_mean_ns", "echo_loss_ratio"),
        *("goodput_bps", "reverse_goodput_bps"),
    )
    counted = ""
    has_short_series = True
    has_one_count = False

    def expected_time_s(self, parameters: LoadParameters) -> float:
        tail_s = TAIL_S if parameters.prefixes else 0.0
        return parameters.warmup_s + parameters.time_s + tail_s

    def carried_bits(self, parameters: LoadParameters) -> float:
        """Zero: the duration is fixed."""
        return 0.0

    def steps(self, parameters: LoadParameters) -> Steps:
        """An echo and the streams of each direction at the same time, with one start."""
        echo, streams = Echo().steps(parameters.echo()), Stream().steps(parameters.streams())
        assert isinstance(echo, TwoEnds) and isinstance(streams, TwoEnds)
        return LoadSteps(echo, streams, parameters.prefixes)

    def summarise(
        self, parameters: LoadParameters, outcome: TrialOutcome, changes: CounterChanges
    ) -> dict[str, float | int]:
        """The echo's results, and those of each direction of the streams.

        Raises:
            EngineError: A direction did not load the path during the whole echo.
        """
        idle = [_idle_parts(parameters, outcome, prefix) for prefix in parameters.prefixes]
        for prefix, parts in zip(parameters.prefixes, idle, strict=True):
            _check_held(parameters, prefix, parts, outcome.setup)
        own = {role: outcome.results[role] for role in self.roles}
        echo = TrialOutcome(own, outcome.setup)
        metrics = Echo().measured(echo)
        if metrics["offered_requests"] > 0:
            metrics["echo_loss_ratio"] = 1 - metrics["replies"] / metrics["offered_requests"]
        if metrics.get("rtt_mean_ns", 0) > 0:
            metrics["echo_round_trips_per_minute"] = 60e9 / metrics["rtt_mean_ns"]
        if idle:
            metrics["load_idle_ratio"] = max(map(len, idle)) / _PARTS
        for prefix in parameters.prefixes:
            found = _of_streams(parameters, outcome, prefix)
            metrics |= {f"{prefix}{key}": found[key] for key in found if f"{prefix}{key}" in LOAD}
        return metrics


def _of_streams(
    parameters: LoadParameters, outcome: TrialOutcome, prefix: str
) -> dict[str, float | int]:
    roles = ROLES["stream"]
    results = {role: outcome.results[f"{prefix}{role}"] for role in roles}
    # Counters of interfaces include the echo, so they explain no loss here.
    found = Stream().summarise(parameters.streams(), TrialOutcome(results, {}), CounterChanges())
    return {key: value for key, value in found.items() if key not in _NOT_OF_STREAMS}


_NOT_OF_STREAMS = frozenset({"start_skew_ns", "interrupt_cpu_s"})


def _idle_parts(parameters: LoadParameters, outcome: TrialOutcome, prefix: str) -> list[int]:
    intervals = outcome.results[f"{prefix}receiver"]["intervals"]
    width_ns, octets = intervals["interval_ns"], intervals["bytes"]
    warmup_ns, part_ns = 1e9 * parameters.warmup_s, 1e9 * parameters.time_s / _PARTS

    def arrived(part: int) -> int:
        first = math.floor((warmup_ns + part * part_ns) / width_ns)
        last = math.ceil((warmup_ns + (part + 1) * part_ns) / width_ns)
        return sum(octets[first:last])

    return [part for part in range(_PARTS) if arrived(part) == 0]


def _check_held(parameters: LoadParameters, prefix: str, idle: Sequence[int], setup: Setup) -> None:
    if len(idle) <= _MOST_IDLE_PARTS and _PARTS - 1 not in idle:
        return
    way = "down" if prefix else "up"
    raise EngineError(
        "load.not_held",
        f"the streams {way} delivered nothing in {len(idle)} of {_PARTS} parts of the echo's "
        f"time; allowed: {_MOST_IDLE_PARTS}, but not the last one",
        hint=_hint_to_hold(setup.get("setup_round_trip_ns") or 0),
    )


def _hint_to_hold(round_trip_ns: int) -> str:
    if round_trip_ns < _LONG_PATH_NS:
        return "measure for longer by --time, or use fewer streams by --flows"
    round_trip_s = round_trip_ns / 1e9
    return (
        f"a round trip of this path takes {round_trip_s:.3g} s, and TCP doubles what it sends in "
        f"each: let the streams fill the path by --warmup {math.ceil(10 * round_trip_s)}, measure "
        "for longer by --time, or send at a rate by --transport udp --rate"
    )


def flow_goodputs(raw: Mapping[str, object]) -> dict[str, list[float]]:
    """Goodput of each stream in a trial's record, by direction (`up`, `down`), bit/s."""
    found = {}
    for way, prefix in (("up", ""), ("down", REVERSE_PREFIX)):
        if flows := result_of(raw, f"{prefix}receiver").get("flows"):
            found[way] = flow_goodputs_bps(flows)
    return found
