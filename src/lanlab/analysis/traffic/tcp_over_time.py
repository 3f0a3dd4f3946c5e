"""
The kernel's information on a sender's TCP connection over a trial, and what limited the sender.

A report adds some of the samples to the record.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from lanlab.analysis.traffic.series_rows import Rows
from lanlab.frozen import dataclass
from lanlab.roles import REVERSE_PREFIX
from lanlab.store import TrialRecord
from lanlab.store.series import Column

SENDER, REVERSE_SENDER = "sender", f"{REVERSE_PREFIX}sender"
_MOST_SAMPLES = 200
#: A limit is named if it applied for at least this share of a step.
_MOST_OF = 0.5
_STEP_NS = 100_000_000
#: A receiver that acknowledges every second segment moves its window by two segments. So a window
#: with room for this many segments or fewer counts as full.
_WINDOW_MOVES_BY = 2
_SEGMENT_BYTES = 1_448

RECEIVE_WINDOW = "limited by the receiver's window"
SEND_BUFFER = "limited by the send buffer"
NOTHING_TO_SEND = "nothing to send"


@dataclass(frozen=True)
class TcpSample:
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
    unacknowledged_segments: int
    unsent_bytes: int


_FIELDS = tuple(TcpSample.__dataclass_fields__)


@dataclass(frozen=True)
class LimitedPart:
    """A part of a trial's time during which one thing was the main limit of the sender."""

    start_ns: int
    end_ns: int
    by: str


def samples_of(trial: TrialRecord, role: str = SENDER) -> list[TcpSample]:
    """The samples added to a trial's record; empty if none were added.

    Args:
        role: `REVERSE_SENDER` for the second direction.
    """
    return [TcpSample(*row) for row in SAMPLES.of(trial, role)]


def segment_bytes_of(trial: TrialRecord) -> int:
    flows = trial.result(SENDER).get("flows") or [{}]
    tcp = flows[0].get("tcp") or {}
    return int(tcp.get("maximum_segment_bytes") or _SEGMENT_BYTES)


def limited_parts(
    samples: Sequence[TcpSample], segment_bytes: int = _SEGMENT_BYTES
) -> list[LimitedPart]:
    """
    What limited a sender, where this can be determined: parts of its time in order, without those
    in which only the network and the congestion window did. Each part covers at least 100 ms,
    because a sender waits for a window in every round trip. Successive equal parts are joined.

    The kernel's times are not sufficient. For the receiver's window, they lack the time until the
    sender tries to send again. A sender with data in flight counts as busy, even if it has nothing
    more to send. So samples are used, too: the receiver's window is the limit if data waits and the
    window is full and smaller than the congestion window; a lack of data is the limit if less than
    a segment waits.

    Args:
        samples: Samples of one connection, in order.
        segment_bytes: Payload of a full segment.

    Examples:
        >>> base = dict.fromkeys(_FIELDS, 0)
        >>> def at(ms, busy, window):
        ...     times = {"at_ns": ms, "busy_ns": busy, "receive_window_limited_ns": window}
        ...     waits = {"unsent_bytes": 9_000, "congestion_window_bytes": 9_000}
        ...     return TcpSample(
        ...         **(base | waits | {key: 1_000_000 * n for key, n in times.items()})
        ...     )
        >>> samples = [at(0, 0, 0), at(99, 99, 0), at(100, 100, 80), at(200, 200, 170)]
        >>> found = limited_parts([*samples, at(300, 210, 170), at(400, 310, 170)])
        >>> [(part.start_ns // 1_000_000, part.end_ns // 1_000_000, part.by) for part in found]
        [(0, 200, "limited by the receiver's window"), (200, 300, 'nothing to send')]
    """
    parts: list[LimitedPart] = []
    judged = [0] if samples else []
    for place, sample in enumerate(samples):
        if sample.at_ns - samples[judged[-1]].at_ns >= _STEP_NS:
            judged.append(place)
    for first, last_place in itertools.pairwise(judged):
        before, after = samples[first], samples[last_place]
        by = _limited_by(before, samples[first + 1 : last_place + 1], segment_bytes)
        if by is None:
            continue
        last = parts[-1] if parts else None
        if last is not None and last.by == by and last.end_ns == before.at_ns:
            parts[-1] = replace(last, end_ns=after.at_ns)
        else:
            parts.append(LimitedPart(before.at_ns, after.at_ns, by))
    return parts


def _limited_by(before: TcpSample, samples: Sequence[TcpSample], segment_bytes: int) -> str | None:
    """The main limit of the sender from `before` to the last sample, other than the network. The
    kernel's busy time includes the times limited by window and buffer.
    """
    after = samples[-1]
    enough = _MOST_OF * len(samples)
    enough_ns = _MOST_OF * (after.at_ns - before.at_ns)
    if after.receive_window_limited_ns - before.receive_window_limited_ns > enough_ns:
        return RECEIVE_WINDOW
    if after.send_buffer_limited_ns - before.send_buffer_limited_ns > enough_ns:
        return SEND_BUFFER
    if sum(_has_full_window(sample, segment_bytes) for sample in samples) > enough:
        return RECEIVE_WINDOW
    if sum(sample.unsent_bytes < segment_bytes for sample in samples) > enough:
        return NOTHING_TO_SEND
    idle_ns = (after.at_ns - before.at_ns) - (after.busy_ns - before.busy_ns)
    return NOTHING_TO_SEND if idle_ns > enough_ns else None


def _has_full_window(sample: TcpSample, segment_bytes: int) -> bool:
    sent = sample.unacknowledged_segments + _WINDOW_MOVES_BY
    return (
        sample.unsent_bytes >= segment_bytes
        and 0 < sample.peer_window_bytes < sample.congestion_window_bytes
        and sent * segment_bytes >= sample.peer_window_bytes
    )


def _first_flow(columns: Mapping[str, Column], _: object) -> list[list[int]]:
    flows = columns["flow"].tolist()
    places = [place for place, flow in enumerate(flows) if flow == 0]
    kept = places[:: -(-len(places) // _MOST_SAMPLES) or 1]
    numbers = [columns[name].tolist() for name in _FIELDS]
    return [[int(column[place]) for column in numbers] for place in kept]


#: Of the first flow.
SAMPLES = Rows((SENDER, REVERSE_SENDER), "tcp_samples", _first_flow)
