"""`stream`: messages from a sender to a receiver that counts them, over UDP or TCP."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from lanlab.messages import Line
from lanlab.roles import BOTH, REVERSE_PREFIX, ROLES
from lanlab.trial_data import Amount, Rate, RoleResult, SimulatedWork, Spec, World
from lanlab.workloads.arrivals import check_stream
from lanlab.workloads.metrics import STREAM
from lanlab.workloads.outcome import CounterChanges, Progress, TrialOutcome
from lanlab.workloads.parameters import nanoseconds
from lanlab.workloads.peers.results import peer_metrics
from lanlab.workloads.peers.steps import PeerSteps
from lanlab.workloads.registry import Habits, Workload
from lanlab.workloads.steps import MARGIN_S, Part, Stage, Steps, TwoEnds
from lanlab.workloads.stream.parameters import StreamParameters
from lanlab.workloads.stream.results import stream_metrics

#: Overhead of a UDP message over IPv4: headers 8 and 20, and 38 of the Ethernet frame.
_UDP_FRAME_BYTES = 66
_TCP_FRAMES_RATIO = 1538 / 1448


class BothWays(TwoEnds):
    """
    The steps of a bidirectional workload with two ends.

    Each direction has its own parts, session and ports. Roles of the second direction are those of
    the first with the prefix `reverse_`. Both listeners are set up before both that connect, and
    all four start together.
    """

    def timed(self, stage: Stage) -> Sequence[Sequence[Part]]:
        """The listeners first. The first and the last part are on different hosts, because the
        record relates their clocks.
        """
        forward = self.direction(stage, "")
        reverse = self.direction(stage, REVERSE_PREFIX)
        return [[forward[0]], [reverse[0]], [reverse[1]], [forward[1]]]

    def progress(self, lines: Sequence[Line | None]) -> Progress:
        listener, back_listener, back_connector, connector = lines
        assert listener is not None
        forward = super().progress([listener, connector])
        if back_listener is None:
            return forward
        return replace(forward, reverse=super().progress([back_listener, back_connector]))


def of_reverse(outcome: TrialOutcome, roles: tuple[str, str]) -> TrialOutcome:
    setup = outcome.setup.copy()
    capabilities = outcome.setup.get("capabilities") or {}
    setup["capabilities"] = {
        role: capabilities.get(f"{REVERSE_PREFIX}{role}") or {} for role in roles
    }
    results = {role: outcome.results[f"{REVERSE_PREFIX}{role}"] for role in roles}
    return replace(outcome, results=results, setup=setup)


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
