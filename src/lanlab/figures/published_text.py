"""Figures of numbers in the text that describe plots, some of which are lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lanlab.figures.chart import Axis, Chart, Point, Series, line_across
from lanlab.figures.gather import far_apart, printed
from lanlab.figures.published_tables import PublishedFigure, table_figures
from lanlab.figures.published_values import (
    DESCRIBING,
    ends_of,
    level_title,
    levels_text,
    shown_as,
    varied_keys,
)
from lanlab.figures.wording import BOUNDS, Quantity, quantity
from lanlab.studies import Published, PublishedValue, Study

_OWN_KINDS = frozenset({"text", "derived"})
_OF_TWO = frozenset({"ratio", "gain", "deficit"})
_SIDES = ("numerator", "denominator")
_NAMES = {"mean": "mean", "minimum": "least", "maximum": "greatest"}


def text_figures(study: Study, published: Published) -> list[PublishedFigure]:
    """Ratios, shares of the link, and levels, each if the study published at least two."""
    own = [
        value
        for value in published.value
        if value.kind in _OWN_KINDS and value.statistic not in DESCRIBING
    ]
    ratios = [v for v in own if v.statistic in _OF_TWO and all(k in v.condition for k in _SIDES)]
    shares = [value for value in own if value.statistic == "share_of_link"]
    found = []
    if len(ratios) > 1:
        found.append(_ratios(published, ratios))
    if len(shares) > 1:
        found.append(_shares(published, shares))
    varied = {factor.name for factor in published.factor}
    levels = [v for v in own if v.statistic in _NAMES and v.metric not in varied]
    for metric in dict.fromkeys(value.metric for value in levels):
        same = [value for value in levels if value.metric == metric]
        if len({value.si for value in same}) > 1:
            found.append(_levels(study, published, metric, same))
    return found


def _ratios(published: Published, values: Sequence[PublishedValue]) -> PublishedFigure:
    rows, points = [], []
    for place, value in enumerate(values):
        one, other = (_named(published, value.condition[side]) for side in _SIDES)
        rest = [key for key in value.condition if key not in _SIDES]
        at = levels_text(published, value.condition, rest)
        rows.append(f"{one} / {other}{f', {at}' if at else ''}")
        points.append(_point(place, _as_ratio(value), None, f"{rows[-1]}{_bound(value)}", value))
    chart = _chart(
        "Printed ratios",
        rows,
        Axis("ratio, logarithmic", "", logarithmic=True),
        [Series("put as a ratio", tuple(points), "points")],
        "What the text says of one against another; no spread is printed.",
        ("the same", 1.0),
    )
    return PublishedFigure("text-ratios", chart, (), Quantity("ratio", "ratio", "", 1.0, ""))


def _shares(published: Published, values: Sequence[PublishedValue]) -> PublishedFigure:
    varied = varied_keys(values)
    rows = [levels_text(published, value.condition, varied) for value in values]
    points = tuple(
        _point(place, 100 * value.si, None, f"{row}{_bound(value)}", value)
        for place, (row, value) in enumerate(zip(rows, values, strict=True))
    )
    chart = _chart(
        "Printed shares of the link",
        rows,
        Axis("share of the link", "%"),
        [Series("put as a share", points, "bars")],
        "What the text says of how much of the link was used; no spread is printed.",
        ("the whole link", 100.0),
    )
    return PublishedFigure("text-shares", chart, (), Quantity("share", "share", "%", 0.01, ""))


def _chart(
    title: str,
    rows: Sequence[str],
    y: Axis,
    series: Sequence[Series],
    caption: str,
    guide: tuple[str, float] | None = None,
) -> Chart:
    limits = [] if guide is None else [line_across(guide[0], (guide[1],), len(rows))]
    x = Axis("condition", "", categories=tuple(rows))
    own = tuple(series), tuple(limits)
    return Chart(title, x, y, *own, caption=caption, sideways=True)


def _levels(
    study: Study, published: Published, metric: str, values: Sequence[PublishedValue]
) -> PublishedFigure:
    plain = quantity(study, metric)
    title = next((one.title for one in published.metric if one.name == metric), plain.name)
    named = shown_as(study, published, values)
    shown = Quantity(metric, title, named.unit, named.si_per_unit, named.si_unit)
    varied = varied_keys(values)
    texts = [levels_text(published, value.condition, varied) or "all" for value in values]
    rows = list(dict.fromkeys(texts))
    groups: dict[str, list[Point]] = {}
    places = []
    every_ends = [ends_of(published, value) for value in values]
    for row, value, ends in zip(texts, values, every_ends, strict=True):
        pair = None if ends is None else (shown.shown(ends.low), shown.shown(ends.high))
        said = f"{row}{_bound(value)}{', worked out' * (value.kind == 'derived')}"
        point = _point(rows.index(row), shown.shown(value.si), pair, said, value)
        point = replace(point, n=None if ends is None else ends.n)
        groups.setdefault(_NAMES[value.statistic], []).append(point)
        if value.statistic == "mean":
            places.append((point.x, value))
    is_wide = far_apart([point.y for points in groups.values() for point in points])
    spread = "Intervals of 95 % where a standard deviation is printed."
    chart = _chart(
        f"{title[0].upper()}{title[1:]} in the text",
        rows,
        Axis(f"{title}, logarithmic" if is_wide else title, shown.unit, is_wide),
        [Series(name, tuple(points), "points") for name, points in groups.items()],
        "Numbers as the text prints them, or as they follow from it. "
        + (spread if any(every_ends) else "No spread is printed."),
    )
    return PublishedFigure(f"text-{metric}".replace("_", "-"), chart, tuple(places), shown)


def _point(
    x: int, y: float, ends: tuple[float, float] | None, condition: str, value: PublishedValue
) -> Point:
    where = printed(value) if value.published else value.where
    low, high = ends or (None, None)
    return Point(float(x), y, low, high, (), f"{condition}: {where}")


def _as_ratio(value: PublishedValue) -> float:
    if value.statistic == "gain":
        return 1 + value.si
    return 1 - value.si if value.statistic == "deficit" else value.si


def _bound(value: PublishedValue) -> str:
    return f", {BOUNDS[value.bound]}" if value.bound else ""


def _named(published: Published, level: object) -> str:
    for factor in published.factor:
        if any(one.level == level for one in factor.levels):
            return level_title(published, factor.name, str(level))
    return str(level).capitalize()


def published_figures(study: Study, published: Published) -> list[PublishedFigure]:
    """Every figure of a study's published values; empty if it published nothing."""
    return [*table_figures(study, published), *text_figures(study, published)]
