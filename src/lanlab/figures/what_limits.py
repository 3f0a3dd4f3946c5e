"""Goodput of simulated conditions along a load or size, with the bottleneck in each section."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.attempts import condition_key
from lanlab.analysis.limiting import cause_of
from lanlab.analysis.summary import Summary
from lanlab.figures.chart import Chart, Point, Series
from lanlab.figures.gather import FigureData, axis, points_of
from lanlab.figures.number_text import plain
from lanlab.figures.wording import quantity
from lanlab.studies.scaling import is_numeric

_TEXT = (
    "The name of each curve says what limits it, and from where on something else does: there it "
    "bends. Causes are read off how busy wire and processors were, and where frames were lost."
)


def what_limits(data: FigureData) -> Chart:
    """A metric against the figure's factor, a series for each level of the others."""
    metric = data.metric("goodput", "goodput_bps")
    found = data.own_summaries(metric)
    factor = data.figure.factor or _first_numeric(found) or "rate_bps"
    x, y = quantity(data.study, factor), quantity(data.study, metric)

    def place(summary: Summary) -> float | None:
        level = summary.factors.get(factor)
        is_number = isinstance(level, int | float) and not isinstance(level, bool)
        return x.shown(float(level)) if is_number and level is not None else None

    causes = {
        condition_key(one.factors): cause_of(one.trials)
        for name in dict.fromkeys(summary.experiment for summary in found)
        for one in data.conditions(name)
    }
    series = []
    for name, group in data.in_series(found, (factor,)).items():
        points = points_of(group, place, y, data.study)
        by_condition = {
            point.condition: causes[condition_key(summary.factors)]
            for summary in group
            for point in points_of([summary], place, y, data.study)
        }
        named = _limits(points, by_condition, x.unit)
        series.append(Series(f"{name}: {named}" if named else name, points))
    return data.chart(axis(data.study, factor), metric, series, _TEXT)


def _first_numeric(found: Sequence[Summary]) -> str | None:
    return next(
        (
            name
            for summary in found[:1]
            for name in reversed(list(summary.factors))
            if is_numeric(summary.workload, name)
        ),
        None,
    )


def _limits(points: Sequence[Point], causes: dict[str, str | None], unit: str) -> str:
    """The bottlenecks along the points, each with its first point; the first bottleneck without."""
    found: list[str] = []
    before = None
    for place, point in enumerate(points):
        cause = causes.get(point.condition)
        if cause and cause != before:
            where = f" from {plain(point.x)} {unit}".rstrip() if place else ""
            found.append(cause + where)
            before = cause
    return ", ".join(found)
