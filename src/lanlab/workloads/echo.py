"""`echo`: request/response round trips over UDP or TCP, closed loop or at a fixed rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import Field, model_validator

from lanlab.workloads.drivers.registry import OWN, driver
from lanlab.workloads.exchange import (
    CounterChanges,
    End,
    Exchange,
    Progress,
    new_session,
    run_exchange,
)
from lanlab.workloads.parameters import FlowParameters, Seconds, nanoseconds
from lanlab.workloads.processor_time import cpu_metrics, interrupt_metrics
from lanlab.workloads.without_effect import ECHO_NEEDS, refuse_without_effect

#: What is told of a distribution of round-trip times.
_STATISTICS = ("mean", "sd", "min", "p1", "p50", "p90", "p99", "p999", "max")


class EchoParameters(FlowParameters):
    """Parameters of one `echo` condition. Exactly one of time and requests is given.
    Without a rate the loop is closed: the next request leaves when the reply is there or
    overdue. With a rate requests leave on schedule and latency counts from the intended time."""

    workload = "echo"

    time_s: Seconds | None = Field(default=None, gt=0, le=86_400)
    requests: int | None = Field(default=None, ge=1, le=2**32)
    rate_requests_per_s: float | None = Field(default=None, gt=0, le=10_000_000)
    timeout_s: Seconds = Field(default=1.0, ge=0.001, le=60)

    @model_validator(mode="after")
    def _amount(self) -> EchoParameters:
        if (self.time_s is None) == (self.requests is None):
            raise ValueError("need exactly one of time_s, requests")
        refuse_without_effect(self, ECHO_NEEDS)
        return self


class Echo:
    """The `echo` workload."""

    name = "echo"
    Parameters = EchoParameters
    metrics: Mapping[str, str] = {
        **{f"rtt_{name}_ns": "ns" for name in _STATISTICS},
        **{f"kernel_rtt_{name}_ns": "ns" for name in _STATISTICS},
        "requests": "requests",
        "replies": "replies",
        "timeouts": "requests",
        "late_replies": "replies",
        "duplicate_replies": "replies",
        "replies_per_s": "1/s",
        "requester_cpu_s": "s",
        "requester_cpu_user_s": "s",
        "requester_cpu_system_s": "s",
        "responder_cpu_s": "s",
        "responder_cpu_user_s": "s",
        "responder_cpu_system_s": "s",
        "interrupt_cpu_s": "s",
        "start_skew_ns": "ns",
    }

    def expected_time_s(self, parameters: EchoParameters) -> float:
        """Seconds that a trial takes at least; 1 s where unknown."""
        if parameters.time_s is not None:
            return parameters.warmup_s + parameters.time_s
        if parameters.rate_requests_per_s is not None and parameters.requests is not None:
            return parameters.warmup_s + parameters.requests / parameters.rate_requests_per_s
        return parameters.warmup_s + 1.0

    def carried_bits(self, parameters: EchoParameters) -> float:
        """None that its time would not tell: a link that is too slow loses messages instead."""
        return 0.0

    def run(
        self,
        parameters: EchoParameters,
        source: End,
        target: End,
        lead_s: float,
        on_progress: Callable[[Progress], None] | None,
    ) -> Exchange:
        """Send requests from `source` to `target`, which answers."""
        if parameters.driver != OWN:
            from lanlab.workloads.drivers.trial import run_driver

            expected_s = self.expected_time_s(parameters)
            entry = driver(parameters.driver)
            return run_driver(entry, self.name, parameters, source, target, expected_s)
        spec = _spec(parameters)
        session = new_session()
        expected_s = self.expected_time_s(parameters)
        if parameters.requests is not None:
            # Every single request may run into its time-out.
            expected_s += parameters.requests * parameters.timeout_s
        return run_exchange(
            target,
            source,
            {
                "type": "echo_respond",
                "spec": spec,
                "bind": target.address,
                "peer": source.address,
                "session": session,
                "processor": parameters.receiver_processor,
            },
            lambda ports: {
                "type": "echo_request",
                "spec": spec,
                "bind": source.address,
                "peer": target.address,
                "port": ports[0],
                "session": session,
                "processor": parameters.sender_processor,
            },
            lead_s=lead_s,
            expected_s=expected_s,
            silence_s=max(parameters.silence_s, 3 * parameters.timeout_s),
            on_progress=on_progress,
        )

    def summarise(
        self, parameters: EchoParameters, exchange: Exchange, changes: CounterChanges
    ) -> dict[str, float | int]:
        """A trial's results from what the requester measured."""
        if parameters.driver != OWN:
            from lanlab.workloads.drivers.trial import driver_metrics

            return driver_metrics(driver(parameters.driver), self.name, parameters, exchange)
        requested, responded = exchange.connector, exchange.listener
        assert requested is not None
        assert responded is not None
        metrics: dict[str, float | int] = {
            name: requested[name]
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
        capabilities = exchange.setup.get("capabilities") or {}
        for name, end, told in (
            ("requester", "connector", requested),
            ("responder", "listener", responded),
        ):
            metrics |= cpu_metrics(name, told["cpu"], capabilities.get(end) or {})
        metrics |= interrupt_metrics(exchange)
        if requested["elapsed_ns"] > 0:
            metrics["replies_per_s"] = 1e9 * requested["replies"] / requested["elapsed_ns"]
        for prefix, key in (("rtt", "round_trip"), ("kernel_rtt", "kernel_round_trip")):
            round_trip = requested[key]
            if round_trip is not None and round_trip["samples"] > 0:
                for name in _STATISTICS:
                    metrics[f"{prefix}_{name}_ns"] = round_trip[f"{name}_ns"]
        return metrics


def _spec(parameters: EchoParameters) -> dict[str, object]:
    """What the engines are told of a condition."""
    amount: dict[str, int]
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
        "timeout_ns": nanoseconds(parameters.timeout_s),
        "receive": parameters.receive,
        "timestamps": parameters.timestamps,
        "socket": parameters.socket_options(),
        "warmup_ns": nanoseconds(parameters.warmup_s),
        "silence_ns": nanoseconds(parameters.silence_s),
    }
