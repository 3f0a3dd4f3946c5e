"""TCP's own counts in a stream's trial: bytes, segments, round trip and window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lanlab.figures.number_text import number
from lanlab.store import TrialRecord
from lanlab.units import format_size, format_time

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
            f"{metrics['retransmitted_segments']:,} retransmitted ({retransmitted_text(trial)})"
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


def retransmitted_text(trial: TrialRecord) -> str:
    """The share of retransmitted segments; empty if unknown."""
    sent = trial.metrics.get("data_segments_sent")
    if not sent:
        return ""
    again = trial.metrics["retransmitted_segments"]
    return f"{number(100 * again / sent, 3)} %"


def round_trip_text(trial: TrialRecord) -> str:
    """The smoothed round-trip time at the end, or the minimum and maximum of several flows."""
    return _times(_facts(trial), "round_trip_ns")


def window_text(trial: TrialRecord) -> str:
    """The congestion window at the end, or the minimum and maximum of several flows."""
    sizes = [
        one["congestion_window_segments"] * one["maximum_segment_bytes"]
        for one in _facts(trial)
        if one.get("congestion_window_segments") and one.get("maximum_segment_bytes")
    ]
    return _span([format_size(size) for size in sorted(sizes)])


def _facts(trial: TrialRecord) -> list[Mapping[str, Any]]:
    flows = (trial.raw.get("sender") or {}).get("flows") or ()
    return [flow["tcp"] for flow in flows if flow.get("tcp") is not None]


def _received(trial: TrialRecord) -> str:
    metrics = trial.metrics
    text = f"{format_size(int(metrics['received_bytes']))} in the measured time"
    unread = int(metrics.get("lost_messages", 0)) * int(trial.parameters["message_size_bytes"])
    if unread > 0:
        # TCP delivers everything unless the connection breaks.
        text += f"; {format_size(unread)} that were sent were never read"
    return text


def _times(facts: Sequence[Mapping[str, Any]], key: str) -> str:
    return _span([format_time(time / 1e9) for time in sorted(f[key] for f in facts if f.get(key))])


def _span(ascending: Sequence[str]) -> str:
    ends = list(dict.fromkeys((*ascending[:1], *ascending[-1:])))
    return " to ".join(ends)


def _limited(facts: Sequence[Mapping[str, Any]]) -> str:
    """What limited the sender besides the network, as shares of the time in which it had data."""
    busy_ns = sum(one.get("busy_ns", 0) for one in facts)
    said = []
    for key, what in (
        ("receive_window_limited_ns", "the receiver's window"),
        ("send_buffer_limited_ns", "the send buffer"),
    ):
        share = sum(one.get(key, 0) for one in facts) / busy_ns if busy_ns else 0.0
        if share >= _LEAST_RATIO:
            said.append(f"by {what} for {100 * share:.0f} % of the time")
    return f"; limited {' and '.join(said)}" if said else ""
