"""A bar for each condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lanlab.analysis.summary import Summary
from lanlab.figures.chart import Chart, Limit, PublishedMark, PublishedSeries, bar_span
from lanlab.figures.gather import (
    FigureData,
    axis,
    category_axis,
    far_apart,
    in_order,
    published_levels,
    published_of,
)
from lanlab.figures.wording import Quantity, quantity
from lanlab.studies import Published

Place = Callable[[Summary], float]

_BEYOND = 0.02


def bars(data: FigureData) -> Chart:
    """The first metric of the experiments: grouped by the last factor, one bar for each combination
    of the others.
    """
    metric = data.metric("", "goodput_bps")
    y = quantity(data.study, metric)
    found = data.own_summaries(metric)
    factor = next(reversed(found[0].factors), "") if found else ""
    levels = in_order(dict.fromkeys(s.factors[factor] for s in found if factor in s.factors))

    def place(summary: Summary) -> float:
        level = summary.factors.get(factor)
        return float(levels.index(level)) if level in levels else 0.0

    groups = data.in_series(found, (factor,))
    marks = list(published_of(groups, place, y, data.published))
    if not marks:
        marks = _levels(found, place, data.published, y)
    means = [y.shown(s.mean) for s in found if s.mean is not None]
    return data.chart(
        category_axis(data.study, data.published, factor, levels),
        axis(data.study, metric, logarithmic=far_apart(means)),
        data.lines(groups, place, y, "bars"),
        limits=_limits(groups, place, y),
        published=tuple(marks),
    )


def _levels(
    found: Sequence[Summary], place: Place, published: Published, y: Quantity
) -> list[PublishedSeries]:
    marks: dict[str, list[PublishedMark]] = {}
    for summary in found:
        for level in published_levels([summary], published, y):
            marks.setdefault(level.name, []).extend(
                replace(mark, x=place(summary)) for mark in level.marks
            )
    return [PublishedSeries(name, tuple(those)) for name, those in marks.items()]


def _limits(
    groups: Mapping[str, Sequence[Summary]], place: Place, y: Quantity
) -> tuple[Limit, ...]:
    ends = []
    for index, group in enumerate(groups.values()):
        for summary in group:
            if summary.limit is not None:
                level = y.shown(summary.limit)
                left, right = bar_span(place(summary), index, len(groups))
                ends += [(left - _BEYOND, level), (right + _BEYOND, level)]
    # Each bar has its own, so one name is enough.
    return (Limit("link limit", tuple(ends), in_pairs=True),) if ends else ()
