"""
What the kernel of a sender knew of a TCP connection in the course of a trial, and what limited it.

The samples are a series of the store. A report takes some of them, which are put where the series
stood.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lanlab.analysis.series_rows import rows_in, with_rows
from lanlab.roles import REVERSE_PREFIX
from lanlab.store import TrialRecord

if TYPE_CHECKING:
    from lanlab.store.series import Series

#: Where a sender's result names the series.
_KEY = "tcp_samples"
#: Whose kernel was asked in each direction of a stream.
SENDER, REVERSE_SENDER = "sender", f"{REVERSE_PREFIX}sender"
#: Samples that a figure shows.
_MOST_SAMPLES = 200
#: Share of a step in which something must have limited the sender, to be named.
_MOST_OF = 0.5
#: Least length of such a step.
_STEP_NS = 100_000_000

#: What can limit a sender.
RECEIVE_WINDOW = "limited by the receiver's window"
SEND_BUFFER = "limited by the send buffer"
NOTHING_TO_SEND = "nothing to send"


@dataclass(frozen=True)
class TcpSample:
    """What the kernel knew at one moment."""

    at_ns: int
    congestion_window_bytes: int
    peer_window_bytes: int
    round_trip_ns: int
    retransmitted_segments: int
    pacing_rate_bps: int
    delivery_rate_bps: int
    busy_ns: int
    receive_window_limited_ns: int
    send_buffer_limited_ns: int


_FIELDS = tuple(TcpSample.__dataclass_fields__)


@dataclass(frozen=True)
class LimitedPart:
    """A part of a trial's time in which one thing limited the sender for most of it."""

    start_ns: int
    end_ns: int
    by: str


def with_samples(
    trials: Sequence[TrialRecord],
    read: Callable[[TrialRecord, str], Series],
    numbers: frozenset[int],
) -> list[TrialRecord]:
    """
    Trials of TCP streams with samples of their first flow.

    Args:
        trials: Of a run.
        read: Gives the series of a trial by name. One that is lost leaves its trial as it is.
        numbers: Of the trials that are drawn; all others stay as they are.
    """
    return [_with(trial, read) if trial.number in numbers else trial for trial in trials]


def samples_of(trial: TrialRecord, role: str = SENDER) -> list[TcpSample]:
    """The samples that were put into a trial's record; none where they were not.

    Args:
        role: `REVERSE_SENDER` for those of the second direction.
    """
    return [TcpSample(*row) for row in rows_in(trial, role, _KEY)]


def limited_parts(samples: Sequence[TcpSample]) -> list[LimitedPart]:
    """
    What limited a sender, where the kernel says so: parts of its time in order, none in which only
    the network did. Each is judged over 100 ms or more, as a sender waits for a window in every
    round trip, and what is alike and follows is joined.

    Examples:
        >>> base = dict.fromkeys(_FIELDS, 0)
        >>> def at(ms, busy, window):
        ...     times = {"at_ns": ms, "busy_ns": busy, "receive_window_limited_ns": window}
        ...     return TcpSample(**(base | {key: 1_000_000 * n for key, n in times.items()}))
        >>> samples = [at(0, 0, 0), at(99, 99, 0), at(100, 100, 80), at(200, 200, 170)]
        >>> found = limited_parts([*samples, at(300, 210, 170), at(400, 310, 170)])
        >>> [(part.start_ns // 1_000_000, part.end_ns // 1_000_000, part.by) for part in found]
        [(0, 200, "limited by the receiver's window"), (200, 300, 'nothing to send')]
    """
    parts: list[LimitedPart] = []
    judged = [*samples[:1]]
    for sample in samples[1:]:
        if sample.at_ns - judged[-1].at_ns >= _STEP_NS:
            judged.append(sample)
    for before, after in itertools.pairwise(judged):
        by = _limited_by(before, after)
        if by is None:
            continue
        last = parts[-1] if parts else None
        if last is not None and last.by == by and last.end_ns == before.at_ns:
            parts[-1] = replace(last, end_ns=after.at_ns)
        else:
            parts.append(LimitedPart(before.at_ns, after.at_ns, by))
    return parts


def _limited_by(before: TcpSample, after: TcpSample) -> str | None:
    """What limited the sender for most of the time between two samples, if anything did but the
    network. The kernel's busy time holds the times limited by window and buffer."""
    enough_ns = _MOST_OF * (after.at_ns - before.at_ns)
    if after.receive_window_limited_ns - before.receive_window_limited_ns > enough_ns:
        return RECEIVE_WINDOW
    if after.send_buffer_limited_ns - before.send_buffer_limited_ns > enough_ns:
        return SEND_BUFFER
    idle_ns = (after.at_ns - before.at_ns) - (after.busy_ns - before.busy_ns)
    return NOTHING_TO_SEND if idle_ns > enough_ns else None


def _with(trial: TrialRecord, read: Callable[[TrialRecord, str], Series]) -> TrialRecord:
    for role in (SENDER, REVERSE_SENDER):
        trial = with_rows(trial, role, _KEY, read, _first_flow)
    return trial


def _first_flow(columns: Mapping[str, Any], _: Mapping[str, Any]) -> list[list[int]]:
    """Some of the samples of the first flow, evenly apart: numbers in the order of `TcpSample`."""
    flows = columns["flow"].tolist()
    places = [place for place, flow in enumerate(flows) if flow == 0]
    kept = places[:: -(-len(places) // _MOST_SAMPLES) or 1]
    numbers = [columns[name].tolist() for name in _FIELDS]
    return [[int(column[place]) for column in numbers] for place in kept]
