"""`stream`: messages from a sender to a receiver that counts them, over UDP or TCP."""

from __future__ import annotations

import math
from typing import Literal, cast

from pydantic import model_validator

from lanlab.roles import BOTH, REVERSE_PREFIX, ROLES
from lanlab.trial_data import Amount, Rate, RoleResult, SimulatedWork, Spec, World
from lanlab.workloads.arrivals import check_stream
from lanlab.workloads.both_ways import BothWays, of_reverse
from lanlab.workloads.definitions import Flag, parameter
from lanlab.workloads.metrics import STREAM
from lanlab.workloads.outcome import CounterChanges, TrialOutcome
from lanlab.workloads.parameters import (
    MAX_TCP_BYTES,
    FlowParameters,
    RateBps,
    Seconds,
    Share,
    SizeBytes,
    nanoseconds,
)
from lanlab.workloads.peer_results import peer_metrics
from lanlab.workloads.peer_steps import PeerSteps
from lanlab.workloads.peers import check_peer
from lanlab.workloads.registry import Habits, Workload
from lanlab.workloads.small_stack import ADDRESS_HELP, MEMORY_HELP, PROFILE_HELP
from lanlab.workloads.steps import MARGIN_S, Steps, TwoEnds
from lanlab.workloads.stream_results import stream_metrics
from lanlab.workloads.without_effect import STREAM_NEEDS, refuse_without_effect

#: Overhead of a UDP message over IPv4: headers 8 and 20, and 38 of the Ethernet frame.
_UDP_FRAME_BYTES = 66
_TCP_FRAMES_RATIO = 1538 / 1448


class StreamParameters(FlowParameters):
    """Parameters of one `stream` condition. Exactly one of time, bytes and messages is given; at
    most one of the two rates (neither: as fast as possible).
    """

    workload = "stream"

    time_s: Seconds | None = parameter(
        None, "Stop after this time, e.g. 3 or 250ms.", short="-t", ge=0.001, le=86_400
    )
    bytes: SizeBytes | None = parameter(
        None, "Stop after this much payload, e.g. 10MB.", short="-n", ge=1, le=2**50
    )
    messages: int | None = parameter(None, "Stop after this many messages.", ge=1, le=2**40)
    rate_bps: RateBps | None = parameter(
        None,
        "Total sending rate, e.g. 5M or 500kB/s. Default: as fast as possible.",
        ge=1,
        le=400_000_000_000,
    )
    rate_messages_per_s: float | None = parameter(
        None, "Sending rate, messages/s.", option="--message-rate", gt=0, le=100_000_000
    )
    flows: int = parameter(1, "Parallel flows.", short="-P", simulated=[1], ge=1, le=1000)
    traffic_direction: Literal["forward", "reverse", "both"] = parameter(
        "forward",
        "Direction: to the second host, to the first, or both at once.",
        option="--direction",
        simulated=["forward"],
        flags=(
            Flag(("-R", "--reverse"), "reverse", "Send from the second host to the first."),
            Flag(
                ("--bidirectional",),
                "both",
                "Send both ways at once; each direction has its own results.",
            ),
        ),
    )
    peer: str | None = parameter(
        None,
        "Host without lanlab: an iperf3 server (iperf3://nas), or a TCP service that reads, or "
        "writes with --reverse (tcp://old-pc:5001). `tcp` starts one on the second host.",
        metavar="URL",
    )
    stack: Literal["system", "small"] = parameter(
        "system",
        "TCP of this end: the system's, or lanlab's own (`small`), with its own address on "
        "--interface or the virtual LAN.",
        simulated=["system"],
    )
    stack_address: str | None = parameter(None, ADDRESS_HELP, metavar="ADDRESS")
    stack_profile: str | None = parameter(None, PROFILE_HELP, metavar="NAME")
    stack_memory_bytes: SizeBytes = parameter(200_000, MEMORY_HELP, ge=1_000, le=2**24)
    threads: int | None = parameter(
        None,
        "Threads at each end. Default: one per flow, at most one per CPU.",
        simulated=[None, 1],
        ge=1,
        le=64,
    )
    read_bytes: SizeBytes = parameter(
        1_048_576,
        "Buffer size of each read call (TCP), e.g. 64KiB.",
        option="--read-size",
        ge=1,
        le=MAX_TCP_BYTES,
    )
    when_late: Literal["catch_up", "skip"] = parameter(
        "catch_up",
        "What a sender behind schedule does: `catch_up` without a burst, or `skip` late messages.",
        option="--on-late",
    )
    drain_s: Seconds = parameter(
        0.5,
        "Time to wait for late messages at the end (UDP); later ones count as lost.",
        ge=0,
        le=60,
    )
    receiver_quota_ratio: Share | None = parameter(
        None,
        "Slow the receiver: CPU share per receiving thread, e.g. 50%.",
        hidden=True,
        simulated=[None],
        ge=0.01,
        le=1,
    )
    receiver_work_s: Seconds = parameter(
        0,
        "Slow the receiver: processing time added per message, e.g. 5us.",
        hidden=True,
        simulated=[0],
        ge=0,
        le=1,
    )
    receiver_rivals: int = parameter(
        0,
        "Slow the receiver: competing busy threads per receiving thread.",
        hidden=True,
        simulated=[0],
        ge=0,
        le=16,
    )
    io: Literal["single", "batch", "segment", "auto"] = parameter(
        "auto",
        "I/O mode: one message per call (`single`), many (`batch`), UDP segmentation offload "
        "(`segment`), or by transport and rate (`auto`).",
        simulated=["auto", "single"],
    )
    interval_s: Seconds = parameter(
        0.1, "Interval of the goodput series.", option=None, ge=0.01, le=60
    )

    @model_validator(mode="after")
    def _amount_and_rate(self) -> StreamParameters:
        given = [k for k in ("time_s", "bytes", "messages") if getattr(self, k) is not None]
        if len(given) != 1:
            raise ValueError(
                f"need exactly one of time_s, bytes, messages; got {', '.join(given) or 'none'}"
            )
        if self.rate_bps is not None and self.rate_messages_per_s is not None:
            raise ValueError("give either rate_bps or rate_messages_per_s")
        per_s = self.rate_messages_per_s or (self.rate_bps or 0) / (8 * self.message_size_bytes)
        if per_s and (self.time_s or math.inf) * per_s < 1:
            raise ValueError(
                f"time_s: found {self.time_s:g} s; allowed at "
                f"{8 * self.message_size_bytes * per_s:g} bit/s: the time of a message, "
                f"{1 / per_s:.3g} s, or longer"
            )
        if self.io == "segment" and self.transport == "tcp":
            raise ValueError("io `segment` applies to udp; tcp takes single, batch or auto")
        refuse_without_effect(self, STREAM_NEEDS)
        if self.peer is not None:
            check_peer(self)
        self.ports_for(self.listeners)
        return self

    @property
    def listeners(self) -> int:
        """Ports that both directions need together, because both may listen on one host; 1 if there
        is one direction, whose other flows use the ports that follow.
        """
        each = self.flows if self.transport == "udp" else 1
        return 2 * each if self.traffic_direction == BOTH else 1

    @property
    def has_rate(self) -> bool:
        """Whether the sender keeps a schedule; otherwise it sends as fast as possible."""
        return self.rate_bps is not None or self.rate_messages_per_s is not None


class Stream(Workload[StreamParameters]):
    name = "stream"
    roles = ROLES[name]
    Parameters = StreamParameters
    metrics = STREAM
    scan_metrics = ("goodput_bps", "received_ratio")
    # The share that arrived is shown instead.
    counted = ""
    has_short_series = True
    has_one_count = False

    def expected_time_s(self, parameters: StreamParameters) -> float:
        """Minimum duration of a trial in seconds, from its amount and rate; 1 s if unknown."""
        if parameters.time_s is not None:
            return parameters.warmup_s + parameters.time_s
        size = parameters.message_size_bytes
        messages = parameters.messages or math.ceil((parameters.bytes or 1) / size)
        if parameters.rate_messages_per_s is not None:
            return parameters.warmup_s + messages / parameters.rate_messages_per_s
        if parameters.rate_bps is not None:
            bits = 8 * messages * size
            return parameters.warmup_s + bits / parameters.rate_bps
        return parameters.warmup_s + 1.0

    def carried_bits(self, parameters: StreamParameters) -> float:
        """The frames of an amount that must arrive or is sent as fast as possible. Zero for UDP
        with a rate: a slow link loses messages instead.
        """
        is_udp = parameters.transport == "udp"
        if parameters.time_s is not None or (is_udp and parameters.has_rate):
            return 0.0
        size = parameters.message_size_bytes
        messages = parameters.messages or math.ceil((parameters.bytes or 1) / size)
        return 8.0 * messages * (size + _UDP_FRAME_BYTES if is_udp else size * _TCP_FRAMES_RATIO)

    def steps(self, parameters: StreamParameters) -> Steps:
        spec = engine_spec(parameters)
        expected_s = _longest_time_s(self.expected_time_s(parameters), parameters)
        longest_s = expected_s + parameters.longest_silence_s + MARGIN_S
        if parameters.peer is not None:
            return PeerSteps(parameters, spec, longest_s)
        return (BothWays if parameters.traffic_direction == BOTH else TwoEnds)(
            self.roles,
            listen={
                "type": "stream_receive",
                "spec": spec,
                **parameters.listening_ports(parameters.listeners),
                "processor": parameters.receiver_processor,
                "load": {
                    "quota_ratio": parameters.receiver_quota_ratio,
                    "work_ns": nanoseconds(parameters.receiver_work_s),
                    "rivals": parameters.receiver_rivals,
                },
            },
            connect={"type": "stream_send", "spec": spec, "processor": parameters.sender_processor},
            longest_s=longest_s,
            tells_clock=True,
        )

    def simulated_work(self, parameters: StreamParameters, habits: Habits) -> SimulatedWork:
        return {"ip_version": parameters.ip_version, "spec": engine_spec(parameters)}

    def simulated_results(
        self, parameters: StreamParameters, result: World
    ) -> dict[str, RoleResult]:
        return dict(zip(self.roles, cast("list[RoleResult]", result["outcomes"]), strict=True))

    def summarise(
        self, parameters: StreamParameters, outcome: TrialOutcome, changes: CounterChanges
    ) -> dict[str, float | int]:
        """
        A trial's results from the counts of both ends. The receiver's count is the result.

        Raises:
            EngineError: Nothing arrived.
        """
        if parameters.peer is not None:
            return peer_metrics(parameters, outcome)
        size, transport = parameters.message_size_bytes, parameters.transport
        is_both = parameters.traffic_direction == BOTH
        check_stream(size, transport, outcome, changes, " in the first direction" * is_both)
        metrics = stream_metrics(parameters, outcome, changes)
        if is_both:
            seen, other = of_reverse(outcome, self.roles), changes.swapped(self.roles)
            check_stream(size, transport, seen, other, " in the second direction")
            metrics |= {
                f"{REVERSE_PREFIX}{key}": value
                for key, value in stream_metrics(parameters, seen, other).items()
                # A result of both hosts, and so of both directions.
                if key != "interrupt_cpu_s"
            }
        return metrics


def _longest_time_s(expected_s: float, parameters: StreamParameters) -> float:
    """Time limit of a trial: without a rate or time its duration is unknown. The ends notice a peer
    that is gone by themselves, so this only limits an engine that hangs.
    """
    if parameters.time_s is None:
        return 10 * expected_s + 86_400
    return expected_s


def engine_spec(parameters: StreamParameters) -> Spec:
    amount: Amount
    if parameters.time_s is not None:
        amount = {"time_ns": nanoseconds(parameters.time_s)}
    elif parameters.bytes is not None:
        amount = {"bytes": parameters.bytes}
    else:
        assert parameters.messages is not None
        amount = {"messages": parameters.messages}
    rate: Rate | None = None
    if parameters.rate_bps is not None:
        rate = {"bps": parameters.rate_bps}
    elif parameters.rate_messages_per_s is not None:
        rate = {"messages_per_s": parameters.rate_messages_per_s}
    return {
        "transport": parameters.transport,
        "message_size_bytes": parameters.message_size_bytes,
        "amount": amount,
        "rate": rate,
        "flows": parameters.flows,
        "threads": parameters.threads,
        "io": parameters.io,
        "receive": parameters.receive,
        "read_bytes": parameters.read_bytes,
        "when_late": parameters.when_late,
        "timestamps": parameters.timestamps,
        "socket": parameters.socket_options(),
        "warmup_ns": nanoseconds(parameters.warmup_s),
        "drain_ns": nanoseconds(parameters.drain_s),
        "interval_ns": nanoseconds(parameters.interval_s),
        "silence_ns": nanoseconds(parameters.silence_s),
    }
