"""Counts that only one end could make, in a stream with a peer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lanlab.store import TrialRecord
from lanlab.units import format_rate, format_size, format_time

Metrics = Mapping[str, float | int]


def peer_lines(trial: TrialRecord) -> Iterator[tuple[str, str]]:
    metrics = trial.metrics
    if "acknowledged_bytes" in metrics:
        rate = metrics.get("acknowledged_bps")
        said = "" if rate is None else f"{format_rate(rate)}, "
        size = format_size(int(metrics["acknowledged_bytes"]))
        yield (
            "taken",
            f"{said}{size} in the measured time, acknowledged by the peer's TCP; what its program "
            "read is not known",
        )
    elif trial.parameters.get("peer") is not None and "sent_bps" in metrics:
        yield "sent", f"{format_rate(metrics['sent_bps'])} taken by this system"
    if metrics.get("returned_bytes"):
        yield "sent back", f"{format_size(int(metrics['returned_bytes']))} by the peer, discarded"
    yield from _reports(metrics)


def _reports(metrics: Metrics) -> Iterator[tuple[str, str]]:
    if "peer_received_bytes" in metrics:
        said = [f"{_count(metrics['peer_received_bytes'])} bytes received"]
        if "peer_goodput_bps" in metrics:
            said.append(format_rate(metrics["peer_goodput_bps"]))
        if "peer_lost_messages" in metrics:
            said.append(
                f"{_count(metrics['peer_lost_messages'])} messages lost, "
                f"jitter {format_time(metrics['peer_jitter_ns'] / 1e9)}"
            )
        yield "peer says", ", ".join(said)
        if "total_acknowledged_bytes" in metrics:
            here = f"{_count(metrics['total_acknowledged_bytes'])} bytes acknowledged"
        else:
            here = f"{_count(metrics['total_sent_messages'])} messages sent"
        yield "counted", f"{here}, with warm-up as the peer counts"
    if "peer_sent_bytes" in metrics:
        yield "peer says", f"{_count(metrics['peer_sent_bytes'])} bytes sent"
        lost = metrics.get("lost_messages")
        rest = "" if lost is None else f", {_count(lost)} messages lost"
        here = f"{_count(metrics['total_received_bytes'])} bytes received{rest}"
        yield "counted", f"{here}, with warm-up as the peer counts"


def _count(count: float) -> str:
    return f"{int(count):,}"
