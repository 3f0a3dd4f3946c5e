"""`echo`: request/response round trips over UDP or TCP, closed loop or at a fixed rate."""

from __future__ import annotations

from typing import ClassVar, cast

from pydantic import model_validator

from lanlab.roles import ROLES
from lanlab.trial_data import EchoAmount, RoleResult, SimulatedWork, Spec, World
from lanlab.workloads.arrivals import check_echo
from lanlab.workloads.definitions import parameter
from lanlab.workloads.echo.peer import PeerEchoSteps, check_answered, check_echo_peer
from lanlab.workloads.metrics import ECHO, ROUND_TRIP_STATISTICS, time_metrics
from lanlab.workloads.outcome import CounterChanges, TrialOutcome
from lanlab.workloads.parameters import FlowParameters, Seconds, nanoseconds
from lanlab.workloads.processor_time import cpu_metrics, interrupt_metrics
from lanlab.workloads.registry import Habits, Workload
from lanlab.workloads.steps import MARGIN_S, Steps, TwoEnds
from lanlab.workloads.without_effect import ECHO_NEEDS, refuse_without_effect

#: Maximum requests in flight with messages of one byte, and maximum bytes in flight over TCP.
MOST_TINY_REQUESTS = 64
MOST_TCP_BYTES = 65_536


class EchoParameters(FlowParameters):
    """Parameters of one `echo` condition. Exactly one of time and requests is given. Without a rate
    the loop is closed: the next request is sent when a reply arrives or times out. With a rate
    requests are sent on schedule, and latency counts from the scheduled time.
    """

    workload = "echo"

    peer: str | None = parameter(
        None,
        "Host without lanlab: an echo service (echo://nas), TCP connection set-up (tcp://nas:445) "
        "or ping (icmp://router).",
        metavar="URL",
    )
    time_s: Seconds | None = parameter(
        None, "Stop after this time, e.g. 3 or 250ms.", short="-t", ge=0.001, le=86_400
    )
    requests: int | None = parameter(None, "Stop after this many requests.", ge=1, le=2**32)
    rate_requests_per_s: float | None = parameter(
        None,
        "Requests/s on a fixed schedule; latency counts from the scheduled time. Default: send "
        "the next request when the reply arrives.",
        option="--rate",
        gt=0,
        le=10_000_000,
    )
    outstanding_requests: int | None = parameter(
        None,
        "Requests in flight; over TCP at most 65,536 bytes in total. Default: 1.",
        option="--outstanding",
        ge=1,
        le=16_384,
    )
    timeout_s: Seconds | None = parameter(
        None,
        "Reply time-out; later replies count as timed out. Default: 1 s, or three round trips if "
        "longer.",
        ge=0.001,
        le=60,
    )
    #: Default time-out, unless the path's round trips take longer, seconds.
    default_timeout_s: ClassVar[float] = 1.0

    @model_validator(mode="after")
    def _amount(self) -> EchoParameters:
        if (self.time_s is None) == (self.requests is None):
            raise ValueError("need exactly one of time_s, requests")
        refuse_without_effect(self, ECHO_NEEDS)
        self._outstanding_fit()
        if self.peer is not None:
            check_echo_peer(self.peer, self, self.outstanding_requests or 1)
        return self

    @property
    def usual_timeout_s(self) -> float:
        return self.default_timeout_s if self.timeout_s is None else self.timeout_s

    def _outstanding_fit(self) -> None:
        requests, size = self.outstanding_requests or 1, self.message_size_bytes
        if size == 1 and requests > MOST_TINY_REQUESTS:
            raise ValueError(
                f"outstanding_requests {requests} is above the limit for messages of 1 byte "
                f"({MOST_TINY_REQUESTS})"
            )
        if self.transport == "tcp" and requests > 1 and requests * size > MOST_TCP_BYTES:
            raise ValueError(
                f"outstanding_requests {requests} of {size} bytes exceed the {MOST_TCP_BYTES} "
                "bytes that fit into any connection"
            )


class Echo(Workload[EchoParameters]):
    name = "echo"
    roles = ROLES[name]
    Parameters = EchoParameters
    metrics = ECHO
    scan_metrics = ("rtt_mean_ns", "rtt_p99_ns")
    counted = "replies"
    has_short_series = True
    has_one_count = False

    def expected_time_s(self, parameters: EchoParameters) -> float:
        """Minimum duration of a trial in seconds; 1 s if unknown."""
        if parameters.time_s is not None:
            return parameters.warmup_s + parameters.time_s
        if parameters.rate_requests_per_s is not None and parameters.requests is not None:
            return parameters.warmup_s + parameters.requests / parameters.rate_requests_per_s
        return parameters.warmup_s + 1.0

    def carried_bits(self, parameters: EchoParameters) -> float:
        """Zero: on a slow link messages are lost instead."""
        return 0.0

    def steps(self, parameters: EchoParameters) -> Steps:
        """The responder listens and answers, the requester connects and measures; or a peer
        answers.
        """
        spec = engine_spec(parameters)
        longest_s = self.expected_time_s(parameters) + MARGIN_S
        if parameters.requests is not None:
            # Every request may time out.
            longest_s += parameters.requests * parameters.usual_timeout_s
        longest_s += max(parameters.longest_silence_s, 3 * parameters.usual_timeout_s)
        if parameters.peer is not None:
            replies = parameters.requests or 0
            return PeerEchoSteps(parameters.peer, parameters, replies, spec, longest_s)
        return TwoEnds(
            self.roles,
            listen={
                "type": "echo_respond",
                "spec": spec,
                **parameters.listening_ports(),
                "processor": parameters.receiver_processor,
            },
            connect={
                "type": "echo_request",
                "spec": spec,
                "processor": parameters.sender_processor,
            },
            longest_s=longest_s,
            one_port=True,
            replies=parameters.requests or 0,
        )

    def summarise(
        self, parameters: EchoParameters, outcome: TrialOutcome, changes: CounterChanges
    ) -> dict[str, float | int]:
        """
        A trial's results from the requester's measurements.

        Raises:
            EngineError: No request was answered.
        """
        if parameters.peer is not None:
            check_answered(parameters.peer, parameters, outcome.results["requester"])
        check_echo(
            parameters.message_size_bytes,
            parameters.timeout_s,
            outcome.results["requester"],
            changes,
        )
        return self.measured(outcome)

    def measured(self, outcome: TrialOutcome) -> dict[str, float | int]:
        requested = outcome.results["requester"]
        counts = cast("dict[str, int]", requested)
        metrics: dict[str, float | int] = {
            name: counts[name]
            for name in (
                "offered_requests",
                "requests",
                "replies",
                "timeouts",
                "late_replies",
                "duplicate_replies",
                "refused_requests",
                "foreign_datagrams",
                "start_skew_ns",
            )
        }
        # A peer reports no counts.
        for role in filter(outcome.results.__contains__, self.roles):
            cpu = outcome.results[role]["cpu"]
            metrics |= cpu_metrics(role, cpu, outcome.capabilities(role))
        metrics |= interrupt_metrics(outcome)
        if requested["sending_ns"] > 0:
            rate_per_s = 1e9 * requested["sending_replies"] / requested["sending_ns"]
            metrics["replies_per_s"] = rate_per_s
        for prefix, times in (
            ("rtt", requested["round_trip"]),
            ("kernel_rtt", requested["kernel_round_trip"]),
        ):
            metrics |= time_metrics(prefix, times, ROUND_TRIP_STATISTICS)
        return metrics

    def simulated_work(self, parameters: EchoParameters, habits: Habits) -> SimulatedWork:
        asked = parameters
        if asked.outstanding_requests is None and asked.rate_requests_per_s is None:
            asked = asked.model_copy(update={"outstanding_requests": habits.outstanding_requests})
        return {"ip_version": asked.ip_version, "spec": engine_spec(asked)}

    def simulated_results(self, parameters: EchoParameters, result: World) -> dict[str, RoleResult]:
        return dict(zip(self.roles, cast("list[RoleResult]", result["outcomes"]), strict=True))


def engine_spec(parameters: EchoParameters) -> Spec:
    amount: EchoAmount
    if parameters.time_s is not None:
        amount = {"time_ns": nanoseconds(parameters.time_s)}
    else:
        assert parameters.requests is not None
        amount = {"requests": parameters.requests}
    return {
        "transport": parameters.transport,
        "message_size_bytes": parameters.message_size_bytes,
        "amount": amount,
        "rate_requests_per_s": parameters.rate_requests_per_s,
        "outstanding_requests": parameters.outstanding_requests or 1,
        "timeout_ns": nanoseconds(parameters.usual_timeout_s),
        "timeout_follows_path": parameters.timeout_s is None,
        "receive": parameters.receive,
        "timestamps": parameters.timestamps,
        "socket": parameters.socket_options(),
        "warmup_ns": nanoseconds(parameters.warmup_s),
        "silence_ns": nanoseconds(parameters.silence_s),
    }
