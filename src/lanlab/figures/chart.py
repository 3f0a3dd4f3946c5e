"""A figure as data: its content in the units of its axes, without any style.

A renderer makes a file from it. The report takes tooltips and the table next to the figure from the
same data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

from lanlab.figures.number_text import counted, number
from lanlab.frozen import dataclass


def _text(value: str | float) -> str:
    text = value if isinstance(value, str) else number(value)
    return text.rstrip("0").rstrip(".") if "." in text and text != value else text


@dataclass(frozen=True)
class Axis:
    """One axis. With categories, positions are 0, 1, … and the labels are the categories' names."""

    name: str
    unit: str
    logarithmic: bool = False
    categories: tuple[str, ...] = ()
    ends: tuple[float, float] | None = None

    @property
    def label(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name


#: Share of the distance between two categories that bars take.
_BARS_WIDTH = 0.64
#: How far a limit extends beyond its bar.
_BEYOND = 0.02


def bar_span(place: float, series: int, count: int) -> tuple[float, float]:
    """Left and right end of a bar, for the series at index `series` of `count`."""
    width = _BARS_WIDTH / count
    left = place - _BARS_WIDTH / 2 + series * width
    return left, left + width


def limit_span(place: float, series: int, count: int) -> tuple[float, float]:
    """Left and right end of the limit of a bar."""
    left, right = bar_span(place, series, count)
    return left - _BEYOND, right + _BEYOND


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    #: 95 % interval; `None` with fewer than three trials.
    low: float | None = None
    high: float | None = None
    #: One value per trial; empty if the point is not a mean of trials.
    trials: tuple[float, ...] = ()
    condition: str = ""
    #: 95 % interval of x, if x is measured.
    x_low: float | None = None
    x_high: float | None = None
    label: str = ""
    #: Number of trials whose values are unknown; `None`: as many as in `trials`, if any.
    n: int | None = None

    @property
    def count(self) -> int | None:
        return self.n if self.n is not None else len(self.trials) or None


Kind = Literal["line", "points", "bars", "stack", "bound"]


@dataclass(frozen=True)
class Series:
    """Points that belong together, ascending in x or in the order of their line."""

    name: str
    points: tuple[Point, ...]
    #: In a `stack` each series starts on top of the ones before it: areas, or bars if x has
    #: categories. A `bound` is a line without measured points.
    kind: Kind = "line"
    #: Index of the renderer's colour and pattern, so that the same thing looks the same in every
    #: figure; `None` for its position among the series.
    style: int | None = None


@dataclass(frozen=True)
class Limit:
    name: str
    #: Of the limit of a series of bars, its height at each of them.
    points: tuple[tuple[float, float], ...]
    #: Index of the series to which the limit applies; `None` for all.
    series: int | None = None
    #: A `physical` limit bounds what can be measured, a `guide` only helps the eye.
    kind: Literal["physical", "guide"] = "physical"
    in_pairs: bool = False

    def with_gaps(self) -> list[tuple[float, float]]:
        if not self.in_pairs:
            return list(self.points)
        pairs = zip(self.points[::2], self.points[1::2], strict=True)
        return [place for pair in pairs for place in (*pair, (math.nan, math.nan))]


def line_across(name: str, heights: Sequence[float], rows: int) -> Limit:
    """A guide across all rows, at each of some values."""
    points = tuple((row, at) for at in heights for row in (-0.5, rows - 0.5))
    return Limit(name, points, kind="guide", in_pairs=True)


@dataclass(frozen=True)
class Band:
    """A shaded part of the x axis; parts with the same name look the same."""

    name: str
    x_low: float
    x_high: float


@dataclass(frozen=True)
class Shape:
    """A distribution at one position of x, drawn to both sides of the position."""

    x: float
    #: Values of y, ascending, each with the width to either side, in units of x.
    outline: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class PublishedMark:
    """A published number. Without x, it is a level across the whole figure."""

    x: float | None
    y: float
    printed: str


@dataclass(frozen=True)
class PublishedSeries:
    """Published numbers of a series; in a figure of published numbers, measured or simulated."""

    name: str
    marks: tuple[PublishedMark, ...]
    #: Kind in the legend: `published`, with its role in a fit, `measured here` or `simulated here`.
    kind: str = "published"
    #: Index of the series whose bars or rows the marks belong to.
    series: int | None = None

    @property
    def label(self) -> str:
        return f"{self.kind}: {self.name}" if self.name else self.kind


@dataclass(frozen=True)
class Chart:
    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    limits: tuple[Limit, ...] = ()
    published: tuple[PublishedSeries, ...] = ()
    bands: tuple[Band, ...] = ()
    shapes: tuple[Shape, ...] = ()
    caption: str = ""
    interval: str = "95 %"
    #: Whether categories of x are rows, and y is horizontal: for long names. The horizontal axis
    #: then covers the data and need not start at zero.
    sideways: bool = False
    #: Text that says what is missing if the figure is empty.
    empty: str = "no results"

    def has(self, kind: Kind) -> bool:
        return any(series.kind == kind for series in self.series)

    @property
    def is_empty(self) -> bool:
        return not any(series.points for series in self.series)

    @property
    def has_one_x(self) -> bool:
        """Whether all points of a line are at one place, so that there is nothing to compare. A
        guide shows another place.
        """
        are_lines = all(series.kind == "line" for series in self.series)
        is_along = are_lines and not self.x.categories and not self._is_plane
        is_guided = any(limit.kind == "guide" for limit in self.limits)
        xs = {point.x for series in self.series for point in series.points}
        return is_along and not is_guided and len(xs) == 1

    @property
    def _is_plane(self) -> bool:
        return any(p.x_low is not None for series in self.series for p in series.points)

    @property
    def is_set_apart(self) -> bool:
        """Whether to draw several series slightly apart, because their intervals overlap."""
        if not self.x.categories or self.sideways:
            # On a numeric axis every point is drawn at its own position.
            return False
        wide = [
            {p.x for p in s.points if p.low is not None and p.low != p.high}
            for s in self.series
            if s.kind in ("line", "points")
        ]
        return len(set().union(*wide)) < sum(map(len, wide))

    def is_of_bars(self, limit: Limit) -> bool:
        return limit.series is not None and self.series[limit.series].kind == "bars"

    def line_of(self, limit: Limit) -> list[tuple[float, float]]:
        """Where a limit is drawn: those of bars wherever these stand among the series."""
        if limit.series is None or not self.is_of_bars(limit):
            return limit.with_gaps()
        count = len(self.series)
        ends = [(x, y) for at, y in limit.points for x in limit_span(at, limit.series, count)]
        return replace(limit, points=tuple(ends), in_pairs=True).with_gaps()

    def across(
        self, xs: Sequence[float], ys: Sequence[float]
    ) -> tuple[Sequence[float], Sequence[float]]:
        """Positions from left to right, and from bottom to top."""
        return (ys, xs) if self.sideways else (xs, ys)

    def floors(self, index: int) -> dict[float, float]:
        """The base of a series in a stack: at each x, the sum of the series before it."""
        floors: dict[float, float] = {}
        for place, series in enumerate(self.series):
            if series.kind == "stack":
                for point in series.points:
                    height = point.y if place < index else 0.0
                    floors[point.x] = floors.get(point.x, 0.0) + height
        return dict(sorted(floors.items()))

    def columns(self) -> tuple[str, ...]:
        x, y = self.x.label, self.y.label
        ends, across = (
            [f"{of}, {self.interval} {end}" for end in ("low", "high")] for of in (y, x)
        )
        return ("series", "condition", x, y, *ends, "trials", *(across if self._is_plane else ()))

    def rows(self) -> Iterator[tuple[str | float | int | None, ...]]:
        more = (None, None) if self._is_plane else ()
        for series in self.series:
            for point in series.points:
                ends = (point.low, point.high, point.count)
                across = (point.x_low, point.x_high) if self._is_plane else ()
                x_shown = self._x_shown(point.x)
                yield (series.name, point.condition, x_shown, point.y, *ends, *across)
        for limit in self.limits:
            if limit.kind == "physical":
                for x, y in limit.points:
                    yield (limit.name, "", self._x_shown(x), y, None, None, None, *more)
        for published in self.published:
            for mark in published.marks:
                where = None if mark.x is None else self._x_shown(mark.x)
                yield (published.label, mark.printed, where, mark.y, None, None, None, *more)
        for band in self.bands:
            until = f"until {band.x_high:.4g} {self.x.unit}".rstrip()
            yield (band.name, until, band.x_low, None, None, None, None, *more)

    def band_names(self) -> list[str]:
        return list(dict.fromkeys(band.name for band in self.bands))

    def description(self) -> str:
        if self.is_empty:
            return f"{self.title}: {self.empty}."
        parts = [f"{self.title}. {self.y.label} against {self.x.label or 'condition'}."]
        for series in self.series:
            if not series.points:
                continue
            least = min(series.points, key=lambda point: point.y)
            most = max(series.points, key=lambda point: point.y)
            low, high = (f"{_text(p.y)} at {_text(self._x_shown(p.x))}" for p in (least, most))
            ends = low if low == high else f"from {low} to {high}"
            parts.append(f"{series.name}: {counted(len(series.points), 'point')}, {ends}.")
        printed = [one for one in self.published if one.kind.startswith("published")]
        if printed:
            names = ", ".join(published.name or "the study" for published in printed)
            parts.append(f"Published values are marked: {names}.")
        for name in self.band_names():
            total = sum(band.x_high - band.x_low for band in self.bands if band.name == name)
            parts.append(f"Shaded: {name}, {_text(total)} {self.x.unit} in all.")
        if len(printed) < len(self.published):
            kinds = {one.kind for one in self.published if one not in printed}
            parts.append(f"Values {' and '.join(sorted(kinds))} are marked.")
        return " ".join(parts)

    def _x_shown(self, x: float) -> str | float:
        return self.x.categories[round(x)] if self.x.categories else x


def chart_of_rows(
    title: str,
    rows: Sequence[str],
    y: Axis,
    series: Sequence[Series],
    limits: Sequence[Limit] = (),
    **more: Any,
) -> Chart:
    """A chart with a row for each condition, and other fields."""
    x = Axis("condition", "", categories=tuple(rows))
    return Chart(title, x, y, tuple(series), tuple(limits), sideways=True, **more)


@dataclass(frozen=True)
class Mark:
    x: float
    y: float
    #: For example `series-0` or `published-1`.
    group: str
    text: str


def point_text(chart: Chart, series: Series, point: Point) -> str:
    """The tooltip of a point, as in `500 B: 95.20 Mbit/s (95 % 94.80 … 95.60), 5 trials`."""
    unit = f" {chart.y.unit}" if chart.y.unit else ""
    named = ", ".join(filter(None, [point.condition, series.name]))
    subject = named if series.kind == "stack" else point.condition or series.name
    text = f"{subject}: {number(point.y)}{unit}"
    if point.low is not None and point.high is not None:
        text += f" ({chart.interval} {number(point.low)} … {number(point.high)})"
    if point.x_low is not None and point.x_high is not None:
        across = f", {number(point.x)} {chart.x.unit}".rstrip()
        text += f"{across} ({chart.interval} {number(point.x_low)} … {number(point.x_high)})"
    return f"{text}, {counted(len(point.trials), 'trial')}" if point.trials else text


def mark_text(chart: Chart, published: PublishedSeries, mark: PublishedMark) -> str:
    unit = f" {chart.y.unit}" if chart.y.unit else ""
    return f"{published.label}: {number(mark.y)}{unit}; {mark.printed}"
