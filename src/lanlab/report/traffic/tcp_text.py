"""Counts of one end alone in a stream: those of TCP in the sender's kernel, and those of a peer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from lanlab.figures.number_text import number
from lanlab.messages import TcpFacts
from lanlab.report.traffic.stream_columns import resent_text
from lanlab.store import TrialRecord
from lanlab.units import format_rate, format_size, format_time

#: Waits that took a smaller share of the sender's time did not limit it.
_LEAST_RATIO = 0.01


def tcp_lines(trial: TrialRecord) -> Iterator[tuple[str, str]]:
    """Label and text of each line; values that the sender's kernel does not report get no line."""
    metrics = trial.metrics
    if "received_bytes" in metrics:
        yield "received", _received(trial)
    if metrics.get("data_segments_sent"):
        text = (
            f"{metrics['data_segments_sent']:,} sent, "
            f"{metrics['retransmitted_segments']:,} retransmitted ({resent_text(metrics)})"
        )
        if "bytes_per_segment" in metrics:
            text += f", {number(metrics['bytes_per_segment'], 4)} B in each"
        yield "segments", text
    if round_trip := round_trip_text(trial):
        least = _times(_facts(trial), "minimum_round_trip_ns")
        shortest = f", shortest {least}" if least else ""
        yield "round trip", f"{round_trip} at the end{shortest} (the sender's kernel)"
    if window := window_text(trial):
        yield "window", f"congestion window {window} at the end{_limited(_facts(trial))}"


def round_trip_text(trial: TrialRecord) -> str:
    return _times(_facts(trial), "round_trip_ns")


def window_text(trial: TrialRecord) -> str:
    """The congestion window at the end, or the minimum and maximum of several flows."""
    sizes = [
        one["congestion_window_segments"] * one["maximum_segment_bytes"]
        for one in _facts(trial)
        if one.get("congestion_window_segments") and one.get("maximum_segment_bytes")
    ]
    return _span([format_size(size) for size in sorted(sizes)])


def _facts(trial: TrialRecord) -> list[TcpFacts]:
    flows = trial.result("sender").get("flows") or ()
    return [tcp for flow in flows if (tcp := flow.get("tcp")) is not None]


def _received(trial: TrialRecord) -> str:
    metrics = trial.metrics
    text = f"{format_size(int(metrics['received_bytes']))} in the measured time"
    unread = int(metrics.get("lost_messages", 0)) * int(trial.parameters["message_size_bytes"])
    if unread > 0:
        # TCP delivers everything unless the connection breaks.
        text += f"; {format_size(unread)} that were sent were never read"
    return text


def _times(
    facts: Sequence[TcpFacts], key: Literal["round_trip_ns", "minimum_round_trip_ns"]
) -> str:
    return _span([format_time(time / 1e9) for time in sorted(f[key] for f in facts if f.get(key))])


def _span(ascending: Sequence[str]) -> str:
    ends = list(dict.fromkeys((*ascending[:1], *ascending[-1:])))
    return " to ".join(ends)


def _limited(facts: Sequence[TcpFacts]) -> str:
    """What limited the sender besides the network, as shares of the time in which it had data."""
    busy_ns = sum(one.get("busy_ns", 0) for one in facts)
    said = []
    for limited_ns, what in (
        ([one.get("receive_window_limited_ns", 0) for one in facts], "the receiver's window"),
        ([one.get("send_buffer_limited_ns", 0) for one in facts], "the send buffer"),
    ):
        share = sum(limited_ns) / busy_ns if busy_ns else 0.0
        if share >= _LEAST_RATIO:
            said.append(f"by {what} for {100 * share:.0f} % of the time")
    return f"; limited {' and '.join(said)}" if said else ""


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
        said = [f"{_whole(metrics['peer_received_bytes'])} bytes received"]
        if "peer_goodput_bps" in metrics:
            said.append(format_rate(metrics["peer_goodput_bps"]))
        if "peer_lost_messages" in metrics:
            said.append(
                f"{_whole(metrics['peer_lost_messages'])} messages lost, "
                f"jitter {format_time(metrics['peer_jitter_ns'] / 1e9)}"
            )
        yield "peer says", ", ".join(said)
        if "total_acknowledged_bytes" in metrics:
            here = f"{_whole(metrics['total_acknowledged_bytes'])} bytes acknowledged"
        else:
            here = f"{_whole(metrics['total_sent_messages'])} messages sent"
        yield "counted", f"{here}, with warm-up as the peer counts"
    if "peer_sent_bytes" in metrics:
        yield "peer says", f"{_whole(metrics['peer_sent_bytes'])} bytes sent"
        lost = metrics.get("lost_messages")
        rest = "" if lost is None else f", {_whole(lost)} messages lost"
        here = f"{_whole(metrics['total_received_bytes'])} bytes received{rest}"
        yield "counted", f"{here}, with warm-up as the peer counts"


def _whole(count: float) -> str:
    return f"{int(count):,}"
