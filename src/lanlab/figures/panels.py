"""Figures with more than a reader can tell apart, in parts with the same axes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from lanlab.figures.chart import Chart, line_across
from lanlab.figures.look_matplotlib import style_of

_BETWEEN = ", "
_MOST_SERIES = 6
_MOST_ROWS = 24
#: Maximum distributions of a figure.
_MOST_GROUPS = 8


def panels(chart: Chart) -> tuple[Chart, ...]:
    """
    A figure in parts: distributions by their number; many series or rows by what their names share,
    such as `read` and `write`; many lines without that by their number. Others are unchanged.
    """
    names = chart.x.categories
    groups: list[tuple[str, Sequence[int]]]
    if chart.shapes:
        groups = _in_turn(len(names), _MOST_GROUPS)
    elif chart.sideways:
        groups = _by_name(names, _MOST_ROWS)
    else:
        groups = _by_name([one.name.partition(": ")[0] for one in chart.series], _MOST_SERIES)
        if not groups and all(one.kind == "line" for one in chart.series):
            groups = _in_turn(len(chart.series), _MOST_SERIES)
    if len(groups) < 2:
        return (chart,)
    # Distributions far from each other would leave most of a common axis empty.
    shared = chart if chart.shapes else replace(chart, y=replace(chart.y, ends=_ends(chart)))
    cut = _with_rows if chart.shapes or chart.sideways else with_series
    return tuple(
        replace(
            cut(shared, places, title),
            title=chart.title + (title if title[0] == " " else f": {title}"),
        )
        for title, places in groups
    )


def _in_turn(length: int, most: int) -> list[tuple[str, Sequence[int]]]:
    """Parts of about equal size that keep pairs together, such as IPv4 and IPv6."""
    count = -(-length // most) or 1
    step = 2 if length % 2 == 0 else 1
    firsts = [step * (number * length // count // step) for number in range(count + 1)]
    return [(f" ({n} of {count})", range(*ends)) for n, ends in enumerate(pairwise(firsts), 1)]


def _by_name(names: Sequence[str], most: int) -> list[tuple[str, Sequence[int]]]:
    """The fewest groups of up to `most` names that have a part in common; empty if there are
    none.
    """
    words = [name.split(_BETWEEN) for name in names]
    best: list[tuple[str, Sequence[int]]] = []
    size = (len(names), 0)
    if len(names) <= most:
        return best
    for part in (*range(min(map(len, words))), -1):
        groups: dict[str, list[int]] = {}
        for place, own in enumerate(words):
            groups.setdefault(own[part], []).append(place)
        largest = max(map(len, groups.values()))
        if largest <= most and (len(groups), largest) < size:
            size, best = (len(groups), largest), list(groups.items())
    return best


def _ends(chart: Chart) -> tuple[float, float] | None:
    if chart.y.ends is not None or chart.sideways:
        return chart.y.ends
    points = [point for one in chart.series for point in one.points]
    every = [y for p in points for y in (p.y, *p.trials)]
    every += [mark.y for one in chart.published for mark in one.marks]
    every += [y for limit in chart.limits for _, y in limit.points]
    if chart.y.logarithmic:
        above = [y for y in every if y > 0]
        return (min(above) / 1.1, max(above) * 1.1) if above else None
    return 0.0, 1.06 * max(every)


def with_series(chart: Chart, places: Collection[int], part: str = "") -> Chart:
    """Some series of a chart, and what belongs to them, without the part that their names share.
    Published values of no series are those of the others if they are named like them.
    """
    at, bare = {place: new for new, place in enumerate(places)}, partial(_without, part)
    others = {word for one in chart.series for word in one.name.split(_BETWEEN)}
    others -= {word for place in places for word in chart.series[place].name.split(_BETWEEN)}

    return replace(
        chart,
        series=tuple(replace(chart.series[n], name=bare(chart.series[n].name)) for n in places),
        limits=tuple(
            replace(one, series=None if one.series is None else at[one.series])
            for one in chart.limits
            if one.series is None or one.series in at
        ),
        published=tuple(
            replace(one, name=bare(one.name), series=None if own is None else at[own])
            for one in chart.published
            for own in (one.series,)
            if (own is None and not others & set(one.name.split(_BETWEEN))) or own in at
        ),
    )


def _without(part: str, name: str) -> str:
    subject, colon, rest = name.partition(": ")
    words = [word for word in subject.split(_BETWEEN) if word != part]
    return f"{_BETWEEN.join(words)}{colon}{rest}" if words else name


def _with_rows(chart: Chart, places: Collection[int], part: str) -> Chart:
    at = {float(place): float(new) for new, place in enumerate(places)}
    return replace(
        chart,
        x=replace(chart.x, categories=tuple(_without(part, chart.x.categories[n]) for n in places)),
        series=tuple(
            replace(one, points=own, style=style_of(chart, index))
            for index, one in enumerate(chart.series)
            if (own := tuple(replace(p, x=at[p.x]) for p in one.points if p.x in at))
        ),
        shapes=tuple(replace(one, x=at[one.x]) for one in chart.shapes if one.x in at),
        published=tuple(
            replace(one, marks=marks)
            for one in chart.published
            if (marks := tuple(replace(m, x=at[m.x]) for m in one.marks if m.x in at))
        ),
        limits=tuple(
            line_across(one.name, tuple(dict.fromkeys(y for _, y in one.points)), len(at))
            for one in chart.limits
        ),
    )
