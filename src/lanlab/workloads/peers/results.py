"""
The results of a stream with a peer, from the counts of this end and the peer's report; if they
differ, both are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanlab.errors import EngineError
from lanlab.roles import REVERSE_PREFIX
from lanlab.trial_data import Acknowledged, Capabilities, PeerReportFlow, RoleResult, StreamReceived
from lanlab.workloads.outcome import TrialOutcome
from lanlab.workloads.peers.steps import REPORT
from lanlab.workloads.processor_time import cost_metrics, cpu_metrics
from lanlab.workloads.stream.results import (
    Metrics,
    check_arrived,
    datagram_metrics,
    outage_metrics,
    segment_metrics,
    sent_metrics,
    sharing_metrics,
    window_metrics,
)

if TYPE_CHECKING:
    from lanlab.workloads.stream.parameters import StreamParameters


#: A server is asked for a longer test, which this end terminates. Some servers report the requested
#: time instead of the actual one.
_BEYOND_S = 30


def peer_metrics(parameters: StreamParameters, outcome: TrialOutcome) -> Metrics:
    """
    A trial's results.

    Args:
        outcome: Outcome of a successful trial.

    Returns:
        Values by the keys of `Stream.metrics`. Those that only the peer could count are absent.

    Raises:
        EngineError: Nothing arrived, or nothing was acknowledged.
    """
    report = outcome.results.get(REPORT)
    flows = [] if report is None else report["streams"]
    metrics: Metrics = {}
    if (sent := outcome.results.get("sender")) is not None:
        metrics = _sent(parameters, outcome, sent)
        metrics |= _reported_received(parameters, flows[: parameters.flows], report)
        if parameters.transport == "udp" and metrics.get("peer_received_bytes") == 0:
            raise EngineError("stream.nothing_arrived", "the peer reports that no message arrived")
    for prefix in ("", REVERSE_PREFIX):
        received = outcome.results.get(f"{prefix}receiver")
        if received is None:
            continue
        role = f"{prefix}receiver"
        back = _received(parameters, received, outcome.capabilities(role))
        back |= _reported_sent(report, flows[-parameters.flows :])
        if "peer_sent_messages" in back:
            sent_messages = back["peer_sent_messages"]
            lost = _checked(sent_messages - back["total_received_messages"], sent_messages)
            back |= {"lost_messages": lost, "loss_ratio": lost / max(1, sent_messages)}
        metrics |= {f"{prefix}{key}": value for key, value in back.items()}
    for role in ("sender", "receiver"):
        if (stack := outcome.results.get(role, {}).get("stack")) is not None:
            metrics["stack_held_bytes"] = stack["held_bytes"]
    return metrics


def _received(
    parameters: StreamParameters, received: StreamReceived, capabilities: Capabilities
) -> Metrics:
    if received["total_bytes"] == 0:
        raise EngineError("stream.nothing_arrived", "the peer sent nothing")
    check_arrived(received["window_bytes"], received["window_ns"], received["total_bytes"])
    is_udp = parameters.transport == "udp"
    intervals, messages = received["intervals"], received["total_messages"]
    metrics: Metrics = {
        **window_metrics(received),
        **outage_metrics(intervals, parameters.warmup_s, messages),
        **(datagram_metrics(received) if is_udp else {}),
        "received_messages": received["window_messages"],
        "received_bytes": received["window_bytes"],
        "total_received_messages": received["total_messages"],
        "total_received_bytes": received["total_bytes"],
        **sharing_metrics(parameters.congestion_controls, received["flows"]),
    }
    if parameters.time_s is not None and 0 < received["window_ns"] < 0.99e9 * parameters.time_s:
        # The peer has sent everything and closed.
        metrics["elapsed_s"] = received["window_ns"] / 1e9
    metrics |= cpu_metrics("receiver", received["cpu"], capabilities)
    return metrics | cost_metrics("receiver", metrics)


def _checked(lost: float, messages: float) -> float:
    if not 0 <= lost <= messages:
        raise EngineError(
            "peer.report", f"the peer reports {messages:,} messages, which leaves {lost:,} lost"
        )
    return lost


def _reported_received(
    parameters: StreamParameters, flows: Sequence[PeerReportFlow], report: RoleResult | None
) -> Metrics:
    """The peer's own report of what it received, including the warm-up. Its rate omits the time in
    which this end waits until all is read.
    """
    if not flows or report is None:
        return {}
    metrics: Metrics = {"peer_received_bytes": sum(flow["bytes"] for flow in flows)}
    if any(flow["packets"] for flow in flows):
        messages = sum(flow["packets"] for flow in flows)
        lost = _checked(sum(flow["errors"] for flow in flows), messages)
        metrics |= {"peer_lost_messages": lost, "peer_received_messages": messages - lost}
        metrics["peer_jitter_ns"] = round(1e9 * max(flow["jitter"] for flow in flows))
    lasted_s = max(flow["end_time"] - flow["start_time"] for flow in flows)
    lasted_s -= report.get("waited_ns", 0) / 1e9
    asked_s = None if parameters.time_s is None else parameters.warmup_s + parameters.time_s
    if asked_s is not None and lasted_s > asked_s + _BEYOND_S / 2:
        lasted_s = asked_s
    if lasted_s > 0:
        metrics["peer_goodput_bps"] = 8 * metrics["peer_received_bytes"] / lasted_s
    return metrics


def _reported_sent(report: RoleResult | None, flows: Sequence[PeerReportFlow]) -> Metrics:
    if report is None:
        return {}
    metrics: Metrics = {"peer_sent_bytes": sum(flow["bytes"] for flow in flows)}
    if any(flow["packets"] for flow in flows):
        metrics["peer_sent_messages"] = sum(flow["packets"] for flow in flows)
    is_known = all(flow["retransmits"] >= 0 for flow in flows)
    if report["sender_has_retransmits"] == 1 and is_known:
        metrics["peer_retransmitted_segments"] = sum(flow["retransmits"] for flow in flows)
    return metrics


def _sent(parameters: StreamParameters, outcome: TrialOutcome, sent: RoleResult) -> Metrics:
    metrics = sent_metrics(parameters, sent) | segment_metrics(parameters.message_size_bytes, sent)
    metrics |= _acknowledged(sent.get("acknowledged"))
    if "acknowledged_bps" in metrics:
        messages = sent["total_messages"]
        metrics |= outage_metrics(sent["intervals"], parameters.warmup_s, messages)
    metrics["total_sent_messages"] = sent["total_messages"]
    if returned := sent.get("returned_bytes"):
        metrics["returned_bytes"] = returned
    return metrics | cpu_metrics("sender", sent["cpu"], outcome.capabilities("sender"))


def _acknowledged(acknowledged: Acknowledged | None) -> Metrics:
    if acknowledged is None:
        return {}
    if acknowledged["total_bytes"] == 0:
        raise EngineError("stream.nothing_arrived", "the peer's TCP acknowledged nothing")
    window = (acknowledged["window_bytes"], acknowledged["window_ns"])
    check_arrived(*window, acknowledged["total_bytes"])
    metrics: Metrics = {
        "acknowledged_bytes": acknowledged["window_bytes"],
        "total_acknowledged_bytes": acknowledged["total_bytes"],
    }
    if acknowledged["window_ns"] > 0:
        window_s = acknowledged["window_ns"] / 1e9
        metrics["acknowledged_bps"] = 8 * acknowledged["window_bytes"] / window_s
    return metrics
