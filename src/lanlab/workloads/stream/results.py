"""The results of a `stream` trial from the counts of both ends and the link between them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanlab.errors import EngineError
from lanlab.trial_data import Flow, Intervals, RoleResult, StreamReceived, StreamSent
from lanlab.workloads.metrics import time_metrics
from lanlab.workloads.outcome import CounterChanges, TrialOutcome
from lanlab.workloads.processor_time import cost_metrics, cpu_metrics, interrupt_metrics
from lanlab.workloads.stream.fairness import jain_index
from lanlab.workloads.stream.losses import lost_by_place

if TYPE_CHECKING:
    from lanlab.workloads.stream.parameters import StreamParameters

Metrics = dict[str, float | int]

#: Shorter gaps can be due to a busy machine or a retransmission.
_LEAST_OUTAGE_NS = 500_000_000
_ONE_WAY = ("min", "p50", "p99")


def stream_metrics(
    parameters: StreamParameters, outcome: TrialOutcome, changes: CounterChanges
) -> Metrics:
    """
    A trial's results. The receiver's count is the result.

    Args:
        parameters: The condition.
        outcome: Outcome of a successful trial.
        changes: Changes of the counters of the hosts' interfaces.

    Returns:
        Values by the keys of `Stream.metrics` and some more. Unknown values are absent.
    """
    sent, received = outcome.results["sender"], outcome.results["receiver"]
    size = parameters.message_size_bytes
    metrics = sent_metrics(parameters, sent)
    metrics["receive_calls"] = received["receive_calls"]
    metrics |= window_metrics(received)
    if "goodput_bps" in metrics and metrics.get("offered_bps"):
        metrics["goodput_ratio"] = metrics["goodput_bps"] / metrics["offered_bps"]
    intervals, messages = received["intervals"], received["total_messages"]
    metrics |= outage_metrics(intervals, parameters.warmup_s, messages)
    if parameters.transport == "tcp":
        window = (received["window_bytes"], received["window_ns"])
        check_arrived(*window, received["total_bytes"])
        metrics |= _tcp_metrics(size, sent, received)
    else:
        metrics |= _udp_metrics(size, outcome, changes)
    metrics |= one_way_metrics(outcome)
    metrics |= sharing_metrics(parameters.congestion_controls, received["flows"])
    for role, result in (("sender", sent), ("receiver", received)):
        metrics |= cpu_metrics(role, result["cpu"], outcome.capabilities(role))
        metrics |= cost_metrics(role, metrics)
    return metrics | interrupt_metrics(outcome)


def sent_metrics(parameters: StreamParameters, sent: StreamSent) -> Metrics:
    size = parameters.message_size_bytes
    metrics: Metrics = {
        "offered_messages": sent["offered_messages"],
        "offered_bytes": sent["offered_messages"] * size,
        "sent_messages": sent["sent_messages"],
        "sent_bytes": sent["sent_messages"] * size,
        "refused_messages": sent["refused_messages"],
        "unsent_messages": sent["unsent_messages"],
        "skipped_messages": sent["skipped_messages"],
        "late_messages": sent["late_messages"],
        "max_lateness_ns": sent["max_lateness_ns"],
        "start_skew_ns": sent["start_skew_ns"],
        # Messages that a window can miss at either end.
        "burst_messages": sent["burst_messages"],
    }
    if sent["elapsed_ns"] > 0:
        for name in ("offered", "sent"):
            metrics[f"{name}_bps"] = 8e9 * metrics[f"{name}_bytes"] / sent["elapsed_ns"]
        # Flows wait independently of each other.
        sending_ns = sent["elapsed_ns"] * parameters.flows
        metrics["blocked_ratio"] = min(1.0, sent["blocked_ns"] / sending_ns)
    return metrics | (_pacing(sent) if parameters.has_rate else {})


def window_metrics(received: StreamReceived) -> Metrics:
    if received["window_ns"] <= 0:
        return {}
    return {
        "goodput_bps": 8e9 * received["window_bytes"] / received["window_ns"],
        "received_messages_per_s": 1e9 * received["window_messages"] / received["window_ns"],
    }


def outage_metrics(intervals: Intervals, warmup_s: float, messages: int) -> Metrics:
    """
    The longest gap within a stream in which messages were due, and the rate of the rest; empty if
    there was none.

    Args:
        intervals: Arrivals over time.
        warmup_s: Time excluded from the figures.
        messages: Total of messages that arrived.

    Examples:
        >>> arrived = {"interval_ns": 10**8, "bytes": [6] * 20 + [0] * 30 + [12] * 20}
        >>> outage_metrics(arrived, 1.0, 1000)
        {'outage_ns': 3000000000, 'outage_from_ns': 2000000000, 'rate_outside_outage_bps': 800.0}
        >>> outage_metrics(arrived, 1.0, 3)
        {}
    """
    width_ns, octets = intervals["interval_ns"], intervals["bytes"]
    arrivals = [place for place, count in enumerate(octets) if count]
    gaps = [
        ((later - earlier - 1) * width_ns, (earlier + 1) * width_ns)
        for earlier, later in itertools.pairwise(arrivals)
        if later * width_ns > 1e9 * warmup_s
    ]
    longest_ns, from_ns = max(gaps, default=(0, 0))
    due_ns = len(octets) * width_ns / max(1, messages)
    if longest_ns < max(_LEAST_OUTAGE_NS, 3 * due_ns):
        return {}
    first = math.ceil(1e9 * warmup_s / width_ns)
    rest_ns = (arrivals[-1] + 1 - first) * width_ns - longest_ns
    rest_bps = 8e9 * sum(octets[first:]) / max(width_ns, rest_ns)
    return {"outage_ns": longest_ns, "outage_from_ns": from_ns, "rate_outside_outage_bps": rest_bps}


def check_arrived(window_bytes: int, window_ns: int, total_bytes: int) -> None:
    """
    Fail a stream of which nothing arrived in the measured time: it has no rate.

    Raises:
        EngineError: Nothing arrived.
    """
    if window_ns > 0 and window_bytes == 0:
        raise EngineError(
            "stream.nothing_arrived",
            f"nothing arrived in the measured {window_ns / 1e9:.1f} s; {total_bytes} B did before "
            "or after it",
            hint="an end is slow or pauses: measure longer with `--time`",
        )


def _pacing(sent: StreamSent) -> Metrics:
    metrics: Metrics = {"back_to_back_messages": sent["back_to_back_messages"]}
    return metrics | time_metrics("gap", sent["gap"], ("p1", "p50", "p99"))


def _udp_metrics(size: int, outcome: TrialOutcome, changes: CounterChanges) -> Metrics:
    sent, received = outcome.results["sender"], outcome.results["receiver"]
    metrics = datagram_metrics(received)
    # Without the mark the measured messages are unknown, so no number is reported.
    if received["mark_seen"]:
        count = received["measured_messages"]
        metrics["received_messages"] = count
        metrics["received_bytes"] = count * size
        metrics["lost_messages"] = sent["sent_messages"] - count
        unseen = _unseen_places(outcome, changes)
        lost = lost_by_place(sent, received, changes)
        metrics |= {place: count for place, count in lost.items() if place not in unseen}
        if sent["sent_messages"] > 0:
            metrics["loss_ratio"] = 1 - count / sent["sent_messages"]
        if sent["offered_messages"] > 0:
            metrics["received_ratio"] = count / sent["offered_messages"]
    return metrics


def datagram_metrics(received: StreamReceived) -> Metrics:
    metrics: Metrics = {
        name: received[name]
        for name in (
            "duplicate_messages",
            "reordered_messages",
            "stale_messages",
            "foreign_datagrams",
        )
    }
    names = ("mean", "p50", "p90", "p99", "max", "smoothed")
    return metrics | time_metrics("delay_variation", received.get("delay_variation"), names)


def _unseen_places(outcome: TrialOutcome, changes: CounterChanges) -> set[str]:
    """Places of loss that have no counter here. Their losses are included in those of the link; a 0
    would claim that there were none.
    """
    received = outcome.results["receiver"]
    unseen = set()
    if received["socket_dropped_datagrams"] is None:
        unseen.add("lost_socket_buffer_messages")
    if received.get("host") is None and "rx_drops" not in changes.of("receiver"):
        unseen.add("lost_backlog_messages")
    sender = outcome.capabilities("sender")
    # If the kernel reports drops of its queue to the sender, those messages count as refused, not
    # as sent.
    if "qdisc_drops" not in changes.of("sender") and not sender.get("local_drop_reports"):
        unseen.add("lost_sender_queue_messages")
    return unseen


def _tcp_metrics(size: int, sent: StreamSent, received: StreamReceived) -> Metrics:
    # TCP keeps no messages and loses none: everything sent, including the warm-up, must have
    # arrived.
    total_bytes = sent["total_messages"] * size
    metrics: Metrics = {
        "received_messages": received["window_messages"],
        "received_bytes": received["window_bytes"],
        "lost_messages": sent["total_messages"] - received["total_messages"],
    }
    if total_bytes > 0:
        metrics["received_ratio"] = received["total_bytes"] / total_bytes
        metrics["loss_ratio"] = 1 - metrics["received_ratio"]
    return metrics | segment_metrics(size, sent)


def segment_metrics(size: int, sent: StreamSent | RoleResult) -> Metrics:
    """Segment counts from the sender's kernel; empty if not reported."""
    facts = [tcp for flow in sent["flows"] if (tcp := flow.get("tcp")) is not None]
    metrics: Metrics = {}
    if facts:
        segments = sum(flow["data_segments_sent"] for flow in facts)
        metrics["retransmitted_segments"] = sum(flow["retransmitted_segments"] for flow in facts)
        metrics["data_segments_sent"] = segments
        if segments > 0:
            metrics["messages_per_segment"] = sent["total_messages"] / segments
            metrics["bytes_per_segment"] = sent["total_messages"] * size / segments
    return metrics


def sharing_metrics(controls: Sequence[str], flows: Sequence[Flow]) -> Metrics:
    """The fairness of several flows. Flows have the same order at both ends, and use the congestion
    controls in turn.
    """
    if len(flows) < 2:
        return {}
    goodputs = flow_goodputs_bps(flows)
    metrics: Metrics = {
        "flow_goodput_min_bps": min(goodputs),
        "flow_goodput_max_bps": max(goodputs),
    }
    if max(goodputs) > 0:
        metrics["jain_index"] = jain_index(goodputs)
        if len(set(controls)) > 1:
            first = [
                goodput
                for place, goodput in enumerate(goodputs)
                if controls[place % len(controls)] == controls[0]
            ]
            metrics["first_control_share_ratio"] = sum(first) / sum(goodputs)
    return metrics


def flow_goodputs_bps(flows: Sequence[Flow]) -> list[float]:
    """Goodput of each flow by its receiver's count, bit/s; 0 for a flow that delivered nothing."""
    return [
        8e9 * flow["window_bytes"] / flow["window_ns"] if flow["window_ns"] > 0 else 0.0
        for flow in flows
    ]


def one_way_metrics(outcome: TrialOutcome) -> dict[str, float | int]:
    """The one-way delays that a receiver measured, and `clock_error_ns`, their accuracy. Empty
    without a known relation of the clocks, or if messages carry no send time.
    """
    delay = (outcome.results.get("receiver") or {}).get("one_way_delay")
    if delay is None or delay["samples"] == 0 or "clocks" not in outcome.setup:
        return {}
    found = time_metrics("one_way_delay", delay, _ONE_WAY)
    return found | {"clock_error_ns": outcome.setup["clocks"]["bound_ns"]}
