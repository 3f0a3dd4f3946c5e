"""The data that arrives over the time of each stream's trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lanlab.analysis.attempts import counting
from lanlab.analysis.over_time import (
    MOST_TRIALS,
    REVERSE_RECEIVER,
    Step,
    steps_of,
)
from lanlab.analysis.summary import limit_of
from lanlab.analysis.wires import wire_of
from lanlab.figures.chart import Axis, Chart, Limit, Point, Series
from lanlab.figures.gather import FigureData, axis
from lanlab.figures.wording import quantity
from lanlab.roles import RECEIVER
from lanlab.store import TrialRecord


def goodput_over_time(data: FigureData) -> Chart:
    """
    Goodput in equal steps of time, with up to four lines: one for each trial, or for each direction
    of a bidirectional trial. A vertical line marks the end of the warm-up. Trials without steps
    (`lanlab.analysis.over_time`) are not drawn.
    """
    y = quantity(data.study, "goodput_bps")
    own = [
        trial
        for trial in counting(data.trials)
        if trial.experiment in data.figure.experiments and steps_of(trial)
    ]
    drawn, series = _drawn(own, data, y.shown)
    top = max((p.y for one in series for p in one.points), default=0.0)
    last = max((p.x for one in series for p in one.points), default=0.0)
    limits = []
    if drawn:
        link = wire_of(data.run)
        limit = limit_of("goodput_bps", drawn[0].parameters, link)
        if link is not None and limit is not None:
            level = y.shown(limit)
            limits.append(Limit(link.limit_name, ((0.0, level), (last, level))))
        warmup_s = float(drawn[0].parameters.get("warmup_s", 0.0))
        if warmup_s > 0:
            ends = ((warmup_s, 0.0), (warmup_s, top))
            limits.append(Limit("end of the warm-up", ends, kind="guide"))
    said = "What arrived at the receiver in each step; what is counted begins after the warm-up."
    every = [t for t in counting(data.trials) if t.experiment in data.figure.experiments]
    if len(every) > len(drawn):
        said += f" {len(drawn)} of {len(every)} trials."
    return data.chart(
        Axis("time since the start", "s"),
        axis(data.study, "goodput_bps"),
        series,
        said,
        drawn="Steps of one trial are not independent of each other.",
        limits=tuple(limits),
        empty="the steps of its time are not in the store",
    )


def _drawn(
    own: Sequence[TrialRecord], data: FigureData, shown: Callable[[float], float]
) -> tuple[list[TrialRecord], list[Series]]:
    drawn: list[TrialRecord] = []
    series: list[Series] = []
    for trial in own:
        lines = _lines(trial, data, shown, len(own) > 1)
        if len(series) + len(lines) > MOST_TRIALS:
            break
        drawn.append(trial)
        series += lines
    return drawn, series


def _lines(
    trial: TrialRecord, data: FigureData, shown: Callable[[float], float], several: bool
) -> list[Series]:
    words = data.called(trial.factors)
    name = f"trial {trial.number}" if several or not words else words
    name = f"{name}, {words}" if several and words else name
    if not steps_of(trial, REVERSE_RECEIVER):
        return [_series(trial, RECEIVER, name, shown)]
    ways = ((RECEIVER, "first to second host"), (REVERSE_RECEIVER, "second to first host"))
    return [_series(trial, role, f"{name}, {way}", shown) for role, way in ways]


def _series(trial: TrialRecord, role: str, name: str, shown: Callable[[float], float]) -> Series:
    points = tuple(
        Point(
            x=(step.start_ns + step.width_ns / 2) / 1e9,
            y=shown(8e9 * step.octets / step.width_ns),
            condition=f"{name}, {step.width_ns / 1e6:.0f} ms",
        )
        for step in _whole(trial, role)
    )
    return Series(name, points)


def _whole(trial: TrialRecord, role: str) -> list[Step]:
    window_ns = int((trial.raw.get(role) or {}).get("window_ns") or 0)
    end_ns = 1e9 * float(trial.parameters.get("warmup_s", 0.0)) + window_ns
    return [step for step in steps_of(trial, role) if step.start_ns + step.width_ns <= end_ns]
