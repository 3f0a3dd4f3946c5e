"""The share of lost messages, by time within the trial and by sending rate."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lanlab.analysis.loss_over_time import (
    IntervalLoss,
    common_width_ns,
    losses_over_time,
    rate_factor,
)
from lanlab.analysis.over_time import REVERSE_RECEIVER
from lanlab.figures.chart import Axis, Cells, Chart, Limit, Point, Series
from lanlab.figures.gather import FigureData
from lanlab.figures.number_text import plain
from lanlab.roles import RECEIVER
from lanlab.store import Level, TrialRecord

_MOST_ROWS = 40
_WAYS = {RECEIVER: "first to second host", REVERSE_RECEIVER: "second to first host"}
_WITHOUT_RATE = "no factor of UDP streams is a sending rate"
_WITHOUT_LOSSES = "no stored interval has a count of lost messages"


def loss_over_time_and_rate(data: FigureData) -> Chart:
    """
    A row of cells for each condition and direction, from the lowest sending rate up. A cell is an
    interval of time over all trials of the condition. Intervals without expected messages have no
    cell.
    """
    own = [
        trial
        for trial in data.counting
        if trial.experiment in data.figure.experiments and rate_factor(trial)
    ]
    width_ns = common_width_ns(own)
    found = _rows(data, own, width_ns)
    said = "All trials of a condition are joined. A lost message counts when it was due."
    if len(found) > _MOST_ROWS:
        said += f" The first {_MOST_ROWS} of {len(found)} rows."
    others = {key for trial in own for key in trial.factors if key != rate_factor(trial)}
    warmups = {float(trial.parameters.get("warmup_s", 0.0)) for trial in own}
    warmup_s = warmups.pop() if len(warmups) == 1 else 0.0
    ends = ((warmup_s, 0.0), (warmup_s, 1.0))
    return data.chart(
        Axis("time since the start", "s"),
        Axis("lost messages", "%"),
        found[:_MOST_ROWS],
        said,
        drawn="",
        limits=(Limit("end of the warm-up", ends, kind="guide"),) if found and warmup_s else (),
        cells=Cells(
            width=width_ns / 1e9,
            rows="condition" if others else "sending rate",
            none="none lost",
            missing="no message expected",
        ),
        empty=_WITHOUT_LOSSES if own else _WITHOUT_RATE,
    )


def _rows(data: FigureData, own: Sequence[TrialRecord], width_ns: int) -> list[Series]:
    conditions: dict[tuple[tuple[str, Level], ...], list[TrialRecord]] = {}
    for trial in own:
        conditions.setdefault(tuple(trial.factors.items()), []).append(trial)
    rest: dict[tuple[tuple[str, Level], ...], int] = {}
    placed = []
    for factors, trials in conditions.items():
        key = rate_factor(trials[0]) or ""
        others = tuple((name, level) for name, level in factors if name != key)
        level = dict(factors)[key]
        rate = math.inf if isinstance(level, str) else float(level)
        placed.append((rest.setdefault(others, len(rest)), rate, dict(factors), trials))
    placed.sort(key=lambda one: one[:2])
    rows = []
    for _, _, factors_, trials in placed:
        ways = {role: losses_over_time(trials, role, width_ns) for role in _WAYS}
        is_both = all(ways.values())
        for role, losses in ways.items():
            words = data.called(factors_)
            name = f"{words}, {_WAYS[role]}" if is_both else words
            if losses:
                rows.append(Series(name, tuple(_point(name, one) for one in losses), kind="cells"))
    return rows


def _point(name: str, loss: IntervalLoss) -> Point:
    first_s, last_s = loss.start_ns / 1e9, (loss.start_ns + loss.width_ns) / 1e9
    trials = f"{loss.trials} trial{'' if loss.trials == 1 else 's'}"
    return Point(
        x=(loss.start_ns + loss.width_ns / 2) / 1e9,
        y=100 * loss.lost_messages / loss.expected_messages,
        condition=(
            f"{name}, {plain(first_s)} to {plain(last_s)} s, lost {loss.lost_messages:,} of "
            f"{loss.expected_messages:,} messages of {trials}"
        ),
        n=loss.trials,
    )
