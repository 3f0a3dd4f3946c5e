"""What happened to the messages that a UDP sender had to send: received, or lost at a place."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from lanlab.store import TrialRecord
from lanlab.store.large_runs import column, names_of
from lanlab.workloads.stream.losses import LOST_ON_THE_WAY

#: The keys of `NOT_RECEIVED` and `LOST_IN_THE_MEDIUM` in words, in order from sender to receiver.
PLACES: Mapping[str, str] = {
    "skipped_messages": "skipped, as the next was due",
    "unsent_messages": "not sent in time",
    "refused_messages": "refused by the sending host",
    "lost_sender_queue_messages": "dropped in the sender's queue",
    "lost_adapter_queue_messages": "dropped in the adapter's queue",
    "lost_chance_messages": "lost by chance, as the link was asked to",
    "lost_collisions_messages": "given up after 16 collisions",
    "lost_switch_queue_messages": "dropped in the switch's queue",
    "lost_link_messages": "lost on the link",
    "lost_backlog_messages": "dropped in the receiving host's backlog",
    "lost_socket_buffer_messages": "dropped in the receiver's socket buffer",
    "lost_late_messages": "arrived after the end",
}
RECEIVED = "received"

#: Metrics of the shares, by key: `received` or a place of loss.
SHARES: Mapping[str, str] = {
    RECEIVED: "received_share_ratio",
    **{place: place.removesuffix("_messages") + "_share_ratio" for place in PLACES},
}
#: Their keys.
SHARED: Mapping[str, str] = {metric: place for place, metric in SHARES.items()}


def not_received(metrics: Mapping[str, float | int]) -> dict[str, int]:
    """Messages that were not received, by place, without zeros."""
    return {place: int(metrics[place]) for place in PLACES if metrics.get(place)}


def shares_of(metrics: Sequence[Mapping[str, float | int]], metric: str) -> list[float | None]:
    """
    What happened to the requested messages of trials, as shares.

    Args:
        metrics: Metrics of `stream` trials.
        metric: One of `SHARES`.

    Returns:
        For each trial, 0 to 1; all shares of a trial add up to 1. `None` if nothing was offered, if
            the number of arrivals is unknown, or for TCP, which loses no messages.
    """
    offered, place = column(metrics, "offered_messages"), SHARED[metric]
    parts: Sequence[Any] = column(metrics, "received_messages" if place == RECEIVED else place)
    known = column(metrics, "lost_link_messages")
    if place != RECEIVED:
        parts = [part or 0 for part in parts]
    return [
        part / whole if whole and whole > 0 and lost is not None else None
        for part, whole, lost in zip(parts, offered, known, strict=True)
    ]


def unseen_places(metrics: Container[str]) -> list[str]:
    """Places without a counter, whose losses are included in those of the link."""
    if "lost_link_messages" not in metrics:
        return []
    return [place for place in LOST_ON_THE_WAY if place not in metrics]


def place_words(trials: Sequence[TrialRecord]) -> dict[str, str]:
    """The name of every share for these trials. Losses are attributed to the link only if all other
    places have counters.
    """
    words = {RECEIVED: RECEIVED, **PLACES}
    different = names_of(trial.metrics for trial in trials)
    unseen = [p for p in LOST_ON_THE_WAY if any(p in unseen_places(keys) for keys in different)]
    if unseen:
        words["lost_link_messages"] += f", or {' or '.join(PLACES[place] for place in unseen)}"
    return words
