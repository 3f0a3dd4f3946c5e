"""The last steps of charts: distinct labels, no distant limits, a readable unit, and the same style
for the same series on a page.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from lanlab.figures.chart import Chart, Limit, Point, PublishedSeries, Series
from lanlab.figures.look_matplotlib import COLOURS, style_of
from lanlab.figures.number_text import number
from lanlab.figures.wording import readable_unit

_BETWEEN = ", "
#: If a linear axis is longer than the data by this factor, differences are invisible.
_FAR = 8.0
#: Up to as many published series keep the names that they have in common, such as a system's.
_MOST_IN_FULL = 4


def with_distinct_labels(chart: Chart) -> Chart:
    """Remove common parts from the names of a figure's series, categories, published values and
    limits. The caption contains them.
    """
    before = [series.name for series in chart.series]
    shared = shared_parts(before)
    names = [_without(name, shared) for name in before]
    theirs = tuple(_without(one.name, shared) for one in chart.published)
    theirs = distinct(theirs) if len(theirs) > _MOST_IN_FULL else theirs
    said = [part for part in before[0].split(_BETWEEN) if part in shared] if shared else []
    return replace(
        chart,
        caption=f"{chart.caption} {_BETWEEN.join(said)} throughout." if said else chart.caption,
        x=replace(chart.x, categories=distinct(chart.x.categories)),
        series=tuple(
            replace(series, name=name) for series, name in zip(chart.series, names, strict=True)
        ),
        published=tuple(
            replace(one, name=name) for one, name in zip(chart.published, theirs, strict=True)
        ),
        limits=tuple(replace(one, name=_without(one.name, shared)) for one in chart.limits),
    )


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """
    Names without their common parts.

    Examples:
        >>> distinct(["IPv4, 64 B", "IPv6, 64 B"]), distinct(["IPv4, 64 B"])
        (('IPv4', 'IPv6'), ('IPv4, 64 B',))
    """
    shared = shared_parts(names)
    return tuple(_without(name, shared) for name in names)


def shared_parts(names: Sequence[str]) -> frozenset[str]:
    """The common parts of several names; empty if nothing else would remain of one."""
    # After a colon, commas do not separate parts.
    if len(set(names)) < 2 or any(": " in name for name in names):
        return frozenset()
    parts = [set(name.split(_BETWEEN)) for name in names]
    shared = frozenset(set.intersection(*parts))
    return frozenset() if any(one <= shared for one in parts) else shared


def _without(name: str, shared: frozenset[str]) -> str:
    return _BETWEEN.join(part for part in name.split(_BETWEEN) if part not in shared)


def without_far_limits(chart: Chart) -> Chart:
    """The chart without limits that would compress the data; its caption names them."""
    heights = [y for one in chart.series for p in one.points for y in (p.y, *p.trials)]
    heights += [mark.y for one in chart.published for mark in one.marks]
    top = max(heights, default=0.0)
    if chart.y.logarithmic or chart.y.ends is not None or top <= 0:
        return chart
    far = [one for one in chart.limits if _least(one) > _FAR * top]
    if not far:
        return chart
    levels: dict[str, list[Limit]] = {}
    for one in far:
        levels.setdefault(f"{number(_least(one))} {chart.y.unit}".strip(), []).append(one)
    names = {height: name_in_common(own) for height, own in levels.items()}
    said = ", ".join(
        name if height in name else f"{name} ({height})" for height, name in names.items()
    )
    return replace(
        chart,
        limits=tuple(one for one in chart.limits if one not in far),
        caption=f"{chart.caption} Too far above to be drawn: {said}.".strip(),
    )


def _least(limit: Limit) -> float:
    return min((y for _, y in limit.points), default=0.0)


def name_in_common(limits: Sequence[Limit]) -> str:
    named = [limit.name.split(_BETWEEN) for limit in limits]
    return _BETWEEN.join(word for word in named[0] if all(word in words for words in named))


def in_readable_unit(chart: Chart) -> Chart:
    means = [point.y for one in chart.series for point in one.points]
    means += [mark.y for one in chart.published for mark in one.marks]
    unit, size = readable_unit(chart.y.unit, means)
    if chart.is_empty or unit == chart.y.unit:
        return chart

    def rescaled(point: Point) -> Point:
        low, high = (None if end is None else end / size for end in (point.low, point.high))
        trials = tuple(value / size for value in point.trials)
        return replace(point, y=point.y / size, low=low, high=high, trials=trials)

    def marks(one: PublishedSeries) -> PublishedSeries:
        return replace(one, marks=tuple(replace(mark, y=mark.y / size) for mark in one.marks))

    return replace(
        chart,
        y=replace(chart.y, unit=unit),
        series=tuple(replace(o, points=tuple(map(rescaled, o.points))) for o in chart.series),
        limits=tuple(
            replace(one, points=tuple((x, y / size) for x, y in one.points)) for one in chart.limits
        ),
        shapes=tuple(
            replace(one, outline=tuple((y / size, half) for y, half in one.outline))
            for one in chart.shapes
        ),
        published=tuple(map(marks, chart.published)),
    )


def with_page_styles(charts: Sequence[Chart]) -> list[Chart]:
    """The charts of a page with a style for each name of a series: the first that no other series
    in the same charts has. Stacks and cells have their own styles.
    """
    drawn = [[one.name for one in chart.series if _has_no_style(one)] for chart in charts]
    styles: dict[str, int] = {}
    for name in dict.fromkeys(itertools.chain.from_iterable(drawn)):
        taken = {styles.get(other) for names in drawn if name in names for other in names}
        styles[name] = next(style for style in itertools.count() if style not in taken)
    return [
        replace(
            chart,
            series=tuple(
                replace(one, style=styles[one.name]) if _has_no_style(one) else one
                for one in chart.series
            ),
        )
        for chart in charts
    ]


def _has_no_style(series: Series) -> bool:
    return series.style is None and series.kind not in ("stack", "cells")


#: Kinds of series that stay readable when overlaid.
_KINDS = ("line", "points")


def overlaid(charts: Sequence[tuple[str, Chart]]) -> Chart | None:
    """
    One figure made from several, with the run in the name of each series.

    Returns:
        `None` if their axes differ, or they cannot be overlaid.
    """
    (_, first), *others = charts
    kinds = {series.kind for _, chart in charts for series in chart.series}
    if not others or not kinds <= set(_KINDS) or any(chart.is_empty for _, chart in charts):
        return None
    for _, chart in others:
        if (chart.x, chart.y, chart.sideways) != (first.x, first.y, first.sideways):
            return None
    are_single = all(len(chart.series) == 1 for _, chart in charts)
    # All figures have the same published values; only the names may differ.
    published: dict[object, PublishedSeries] = {}
    for _, chart in charts:
        for one in chart.published:
            published.setdefault(tuple((mark.x, mark.y) for mark in one.marks), one)
    return replace(
        first,
        series=tuple(
            replace(
                series,
                name=name if len(chart.series) == 1 else f"{series.name}, {name}",
                # A series keeps its colour; its markers differ between runs.
                style=run if are_single else style_of(chart, place) + run * len(COLOURS),
            )
            for run, (name, chart) in enumerate(charts)
            for place, series in enumerate(chart.series)
        ),
        published=tuple(published.values()),
        caption=" ".join(f"{name[0].upper()}{name[1:]}: {chart.caption}" for name, chart in charts),
    )
