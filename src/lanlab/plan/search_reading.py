"""The meaning of one trial of a search for the network and for the sender."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

#: A message that leaves later than this after its slot is late (`late_messages`).
_ON_TIME_S = 0.001


class SearchReading(NamedTuple):
    loss_ratio: float
    #: The load that the sender could offer, as a share of the requested load.
    offered_ratio: float
    #: Messages actually offered, and those lost on the way; 0 if unknown.
    messages: float = 0
    lost_messages: float = 0


def search_reading(metrics: Mapping[str, float | int], metric: str) -> SearchReading | None:
    """
    The reading of a trial with these results; `None` if it did not measure the metric.

    A sender omits messages (unsent, skipped) for one of two reasons. If the system made it wait for
    buffer space, its own link was full: that is a property of the link, and the messages count as
    lost at the requested load. Otherwise the sender itself was too slow, and the trial says nothing
    about loads above what it offered. `blocked_ratio` separates them: the sender's rate in the time
    in which it did not wait is what it could offer.

    A `goodput_ratio` compares two counts in one window. A message due just before its end may be
    counted just after; so a shortfall of up to one batch of messages at either end, or of the
    messages due in 1 ms if they are more, is no loss: a message 1 ms off its slot is not late. A
    `received_ratio` compares the same messages and is exact; half a message there is rounding.

    Args:
        metrics: Results of a `stream` trial by their keys.
        metric: `goodput_ratio` or `received_ratio`.
    """
    value = metrics.get(metric)
    if value is None or math.isnan(value):
        return None
    offered = metrics.get("offered_messages", 0)
    left_out = metrics.get("unsent_messages", 0) + metrics.get("skipped_messages", 0)
    offered_ratio = 1.0
    if offered and left_out:
        # Without data on waiting, the sender did not wait.
        free_ratio = 1 - min(1.0, metrics.get("blocked_ratio", 0.0))
        taken_ratio = 1 - left_out / offered
        offered_ratio = 1.0 if taken_ratio >= free_ratio else taken_ratio / free_ratio
    if offered_ratio <= 0:
        return None
    edge_messages = 0.5
    if metric == "goodput_ratio":
        off_slot = _ON_TIME_S * _messages_per_s(metrics)
        edge_messages += 2 * max(1, metrics.get("burst_messages", 1), off_slot)
    loss_ratio = 1 - value / offered_ratio
    if loss_ratio * offered * offered_ratio <= edge_messages and (offered or loss_ratio < 1e-9):
        loss_ratio = 0.0
    messages = offered * offered_ratio
    # Counted per message: no edge of a window hides a loss.
    lost = metrics.get("lost_messages", max(0.0, loss_ratio) * messages)
    return SearchReading(
        loss_ratio, offered_ratio, messages, lost + metrics.get("refused_messages", 0)
    )


def _messages_per_s(metrics: Mapping[str, float | int]) -> float:
    """Messages due per second; 0 if unknown."""
    offered_bytes = metrics.get("offered_bytes")
    if not offered_bytes or "offered_bps" not in metrics:
        return 0.0
    return metrics["offered_messages"] * metrics["offered_bps"] / (8 * offered_bytes)
