"""Times and rates in the unit in which they read best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lanlab.figures.chart import Chart, Limit, Point, PublishedMark, Series
from lanlab.figures.wording import readable_unit


def in_readable_unit(chart: Chart) -> Chart:
    means = [point.y for one in chart.series for point in one.points]
    means += [mark.y for one in chart.published for mark in one.marks]
    unit, size = readable_unit(chart.y.unit, means)
    if chart.is_empty or unit == chart.y.unit:
        return chart

    def shown(value: float) -> float:
        return value / size

    return replace(
        chart,
        y=replace(chart.y, unit=unit),
        series=tuple(_series(one, shown) for one in chart.series),
        limits=tuple(_limit(one, shown) for one in chart.limits),
        shapes=tuple(
            replace(one, outline=tuple((shown(y), half) for y, half in one.outline))
            for one in chart.shapes
        ),
        published=tuple(
            replace(one, marks=tuple(_mark(mark, shown) for mark in one.marks))
            for one in chart.published
        ),
    )


_Shown = Callable[[float], float]


def _series(series: Series, shown: _Shown) -> Series:
    return replace(series, points=tuple(_point(point, shown) for point in series.points))


def _point(point: Point, shown: _Shown) -> Point:
    return replace(
        point,
        y=shown(point.y),
        low=None if point.low is None else shown(point.low),
        high=None if point.high is None else shown(point.high),
        trials=tuple(map(shown, point.trials)),
    )


def _limit(limit: Limit, shown: _Shown) -> Limit:
    return replace(limit, points=tuple((x, shown(y)) for x, y in limit.points))


def _mark(mark: PublishedMark, shown: _Shown) -> PublishedMark:
    return replace(mark, y=shown(mark.y))
