"""
Lost messages in each interval of a UDP stream's time, over all trials of a condition.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lanlab.analysis.traffic.over_time import INTERVALS, REVERSE_RECEIVER
from lanlab.analysis.traffic.series_rows import Rows
from lanlab.frozen import dataclass
from lanlab.roles import RECEIVER, has_streams
from lanlab.store import TrialRecord
from lanlab.store.series import Column

RATES = ("rate_bps", "rate_messages_per_s")
_MOST_INTERVALS = 60
#: Messages more or less in an interval that an even rate can have.
_FEW = 3


@dataclass(frozen=True)
class IntervalLoss:
    start_ns: int
    width_ns: int
    #: Messages sent in the interval, received or lost; late ones may arrive in a later interval.
    expected_messages: int
    #: Negative if more messages arrived late than were lost.
    lost_messages: int
    trials: int


def rate_factor(trial: TrialRecord) -> str | None:
    """The factor that sets the sending rate of a UDP stream's trial; `None` if there is none."""
    if not has_streams(trial.workload) or trial.parameters.get("transport") != "udp":
        return None
    return next((key for key in RATES if key in trial.factors), None)


def has_losses(trial: TrialRecord) -> bool:
    """Whether the intervals in a trial's record show missing messages."""
    rows = (row for role in (RECEIVER, REVERSE_RECEIVER) for row in LOSSES.of(trial, role))
    return any(lost for *_, lost in rows)


def losses_over_time(
    trials: Sequence[TrialRecord], role: str = RECEIVER, width_ns: int | None = None
) -> list[IntervalLoss]:
    """
    The losses of several trials, added by interval. Intervals of which nothing is known are
    omitted: a receiver that is behind counts messages that were sent in other intervals, or none.

    Args:
        trials: Trials of one condition.
        role: `REVERSE_RECEIVER` for the second direction.
        width_ns: A multiple of the width of each trial's intervals; `None`: `common_width_ns`.
    """
    width_ns = common_width_ns(trials) if width_ns is None else width_ns
    sums: dict[int, list[int]] = {}
    for trial in trials:
        own: dict[int, list[int]] = {}
        for start_ns, _, messages, lost in LOSSES.of(trial, role):
            cell = own.setdefault(start_ns // width_ns, [0, 0])
            cell[0] += messages + lost
            cell[1] += lost
        # A stream is sent at an even rate.
        sent = sum(expected for expected, _ in own.values()) / (1 + max(own, default=0))
        known = {at: c for at, c in own.items() if abs(c[0] - sent) <= sent / 2 + _FEW}
        for place, (expected, lost) in {**known, **_all_lost(trial, role, width_ns)}.items():
            cell = sums.setdefault(place, [0, 0, 0])
            cell[0] += expected
            cell[1] += lost
            cell[2] += 1
    return [
        IntervalLoss(place * width_ns, width_ns, *sums[place])
        for place in sorted(sums)
        if sums[place][0] > 0
    ]


def _all_lost(trial: TrialRecord, role: str, width_ns: int) -> dict[int, tuple[int, int]]:
    """The intervals that count if none of their messages arrived, each with what was sent."""
    sender, received = trial.result(role.replace(RECEIVER, "sender")), trial.result(role)
    sent, elapsed_ns = sender.get("sent_messages"), sender.get("elapsed_ns")
    if received.get("measured_messages") != 0 or not sent or not elapsed_ns:
        return {}
    first_ns = round(1e9 * float(trial.parameters.get("warmup_s") or 0))
    lost = round(sent * width_ns / elapsed_ns)
    places = range(-(-first_ns // width_ns), (first_ns + elapsed_ns) // width_ns)
    return dict.fromkeys(places, (lost, lost))


def common_width_ns(trials: Sequence[TrialRecord]) -> int:
    """An interval width that suits all of these trials and fits into a figure."""
    rows = [
        row
        for trial in trials
        for role in (RECEIVER, REVERSE_RECEIVER)
        for row in LOSSES.of(trial, role)
    ]
    width_ns = math.lcm(*{width for _, width, *_ in rows}) if rows else 1
    last_ns = max((start + width for start, width, *_ in rows), default=0)
    return width_ns * max(1, -(-last_ns // (width_ns * _MOST_INTERVALS)))


def _rows(columns: Mapping[str, Column], _: object) -> list[list[int]]:
    names = ("start_ns", "width_ns", "messages", "lost_messages")
    numbers = [columns[name].tolist() for name in names]
    return [list(row) for row in zip(*numbers, strict=True) if None not in row]


#: For scans over the sending rate.
LOSSES = Rows((RECEIVER, REVERSE_RECEIVER), INTERVALS, _rows, rate_factor, "losses_over_time")
