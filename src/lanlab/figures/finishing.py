"""The last steps of charts: distinct labels, no distant limits, a readable unit, and the same style
for the same series on a page.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from lanlab.figures.chart import (
    Chart,
    Limit,
    Point,
    PublishedMark,
    PublishedSeries,
    Series,
)
from lanlab.figures.gather import far_apart
from lanlab.figures.look_matplotlib import COLOURS, style_of
from lanlab.figures.number_text import number
from lanlab.figures.panels import with_series
from lanlab.figures.wording import readable_unit, usual_unit

_Placed = TypeVar("_Placed", Point, PublishedMark)

_BETWEEN = ", "
#: If a linear axis is longer than the data by this factor, differences are invisible.
_FAR = 4.0
#: Up to as many published series keep the names that they have in common, such as a system's.
_MOST_IN_FULL = 4
#: Maximum published series with marks of their own.
_MOST_APART = 8


def with_distinct_labels(chart: Chart) -> Chart:
    """Remove common parts from the names of a figure's series, categories, published values and
    limits. The caption contains them.
    """
    before = [series.name for series in chart.series]
    if chart.x.categories:
        # The marks stand at the bars or rows of their series.
        marks = (
            replace(one, name="" if before[one.series or 0] == one.name else one.name)
            if one.series is not None
            else one
            for one in chart.published
        )
        chart = replace(chart, published=tuple(marks))
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
        published=_told_apart(
            [replace(one, name=name) for one, name in zip(chart.published, theirs, strict=True)]
        ),
        limits=tuple(replace(one, name=_without(one.name, shared)) for one in chart.limits),
    )


def _told_apart(published: Sequence[PublishedSeries]) -> tuple[PublishedSeries, ...]:
    """Published series, or one of them all that readers cannot tell apart: each mark names its."""
    if len(published) <= _MOST_APART or len({one.series for one in published}) > 1:
        return tuple(published)
    every = ((one.name, mark) for one in published for mark in one.marks)
    marks = tuple(replace(mark, printed=f"{name}: {mark.printed}") for name, mark in every)
    return (replace(published[0], name="", marks=marks),)


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names without their common parts."""
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
    return chart if chart.is_empty else _moved(chart, unit, size)


def _moved(chart: Chart, unit: str, size: float, x_of: Callable[[float], float] = float) -> Chart:
    """A chart in another unit of y, whose size is in the present one, and with other places."""
    if unit == chart.y.unit and x_of is float:
        return chart

    def moved(one: _Placed) -> _Placed:
        changed: dict[str, Any] = {} if one.x is None else {"x": x_of(one.x)}
        if isinstance(one, Point):
            ends = {"low": one.low, "high": one.high}
            changed |= {name: None if end is None else end / size for name, end in ends.items()}
            changed["trials"] = tuple(value / size for value in one.trials)
        return replace(one, y=one.y / size, **changed)

    return replace(
        chart,
        y=replace(chart.y, unit=unit),
        series=tuple(replace(o, points=tuple(map(moved, o.points))) for o in chart.series),
        limits=tuple(
            replace(one, points=tuple((x_of(x), y / size) for x, y in one.points))
            for one in chart.limits
        ),
        shapes=tuple(
            replace(one, outline=tuple((y / size, half) for y, half in one.outline))
            for one in chart.shapes
        ),
        published=tuple(replace(o, marks=tuple(map(moved, o.marks))) for o in chart.published),
    )


def with_page_styles(charts: Sequence[Chart], styles: dict[str, int]) -> list[Chart]:
    """
    Give each name of a series one style on the whole page. If there are more names than colours,
    names in different charts may share a style. Stacks have their own styles.

    Args:
        styles: The styles of the page's other charts. Those of these charts are added.
    """
    named = [[(_subject(chart, one), one) for one in chart.series] for chart in charts]
    drawn = [[name for name, one in each if _has_no_style(one)] for each in named]
    for name in dict.fromkeys(itertools.chain.from_iterable(drawn)):
        if name not in styles:
            taken = set(styles.values())
            if len(taken) >= len(COLOURS):
                taken = {
                    styles[n] for names in drawn if name in names for n in names if n in styles
                }
            styles[name] = next(style for style in itertools.count() if style not in taken)
    found = []
    for chart, each in zip(charts, named, strict=True):
        series = [replace(o, style=styles[n]) if _has_no_style(o) else o for n, o in each]
        chart = replace(chart, series=tuple(series))
        order = sorted(range(len(series)), key=lambda place: series[place].style or 0)
        # Legends of a page list the same names in the same order.
        found.append(with_series(chart, order) if all(map(_is_ordered, series)) else chart)
    return found


def _subject(chart: Chart, series: Series) -> str:
    """What a series shows, without what its name says of it in this chart alone."""
    subjects = [one.name.partition(": ")[0] for one in chart.series]
    return series.name.partition(": ")[0] if len(set(subjects)) == len(subjects) else series.name


def _is_ordered(series: Series) -> bool:
    return series.kind != "stack"


def _has_no_style(series: Series) -> bool:
    return series.style is None and _is_ordered(series)


#: Kinds of series that stay readable when overlaid.
_KINDS = ("line", "points", "bars")
#: Longest name of a run in a legend.
_MOST_LETTERS = 32


def overlaid(charts: Sequence[tuple[str, Chart]]) -> Chart | None:
    """
    One figure made from several, with the run in the name of each series. Runs on other testbeds
    may have another unit, scale, limit and other conditions.

    Returns:
        `None` if they show different quantities, or cannot be overlaid.
    """
    (_, first), *others = charts
    drawn = [series for _, chart in charts for series in chart.series]
    has_others = any(chart.is_empty or chart.shapes or chart.bands for _, chart in charts)
    if not others or has_others or any(series.kind not in _KINDS for series in drawn):
        return None
    if len({(c.x.name, c.x.unit, c.y.name, c.sideways, not c.x.categories) for _, c in charts}) > 1:
        return None
    rows = tuple(dict.fromkeys(name for _, chart in charts for name in chart.x.categories))
    if any(len(name) > _MOST_LETTERS for name, _ in charts):
        # The captions say more of each.
        charts = [(f"run {number}", chart) for number, (_, chart) in enumerate(charts, 1)]
    same = [(name, _on_rows(chart, rows)) for name, chart in charts]
    if len({chart.y.unit for _, chart in same}) > 1:
        return None
    are_single = all(len(chart.series) == 1 for _, chart in same)
    lines = [{one.name: _drawn(c, n) for n, one in enumerate(c.series)} for _, c in same]
    # What no run changes, such as an unchanged machine, is drawn once.
    alike = {n for n, own in lines[0].items() if all(each.get(n) == own for each in lines)}
    # All figures have the same published values; only the names may differ.
    published: dict[object, PublishedSeries] = {}
    series: list[Series] = []
    limits: list[Limit] = []
    for run, (name, chart) in enumerate(same):
        for one in chart.published:
            own = None if one.series is None else one.series + len(series)
            places = tuple((mark.x, mark.y) for mark in one.marks)
            published.setdefault(places, replace(one, series=own))
        for limit in chart.limits:
            own = None if limit.series is None else limit.series + len(series)
            is_known = own is None and any(limit.name == known.name for known in limits)
            called = f"{limit.name}, {name}" if is_known else limit.name
            if own is not None or limit.points not in [known.points for known in limits]:
                limits.append(replace(limit, name=called, series=own))
        series += [
            replace(
                one,
                name=one.name
                if one.name in alike and not are_single
                else (name if len(chart.series) == 1 else f"{one.name}, {name}"),
                # A series keeps its colour; its markers differ between runs.
                style=run if are_single else style_of(chart, place) + run * len(COLOURS),
            )
            for place, one in enumerate(chart.series)
        ]
    means = [point.y for one in series for point in one.points]
    tops = [max((p.y for s in chart.series for p in s.points), default=0.0) for _, chart in same]
    is_wide = any(c.y.logarithmic for _, c in same) or far_apart(means)
    # The lines of one run, such as over a slower link, would lie on each other.
    if not first.has("bars") and min(means, default=0.0) > 0:
        is_wide = is_wide or max(tops) > _FAR * min(tops)
    quantity = f"{first.y.name[0].upper()}{first.y.name[1:]} by {first.x.name or 'condition'}"
    found = in_readable_unit(
        replace(
            first,
            # A title may be of one run alone, such as of simulated machines.
            title=first.title if len({c.title for _, c in charts}) == 1 else quantity,
            x=replace(first.x, categories=rows, logarithmic=any(c.x.logarithmic for _, c in same)),
            y=replace(same[0][1].y, logarithmic=is_wide),
            series=tuple(series),
            limits=tuple(limits),
            published=tuple(published.values()),
            caption=" ".join(f"{name[0].upper()}{name[1:]}: {c.caption}" for name, c in charts),
        )
    )
    names = [one.name for one in found.series]
    return with_series(found, [n for n, name in enumerate(names) if names.index(name) == n])


def _drawn(chart: Chart, index: int) -> list[object]:
    limits = [limit.points for limit in chart.limits if limit.series == index]
    return [*((point.x, point.y) for point in chart.series[index].points), *limits]


def _on_rows(chart: Chart, rows: Sequence[str]) -> Chart:
    """A chart in its quantity's usual unit, with these categories."""

    def place(x: float) -> float:
        at = round(x)
        return rows.index(chart.x.categories[at]) + x - at

    return _moved(chart, *usual_unit(chart.y.unit), place if rows else float)
