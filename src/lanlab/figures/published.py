"""Figures of a study's published tables and of the numbers in its text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from lanlab.analysis.published.values import amount_of, points_for
from lanlab.analysis.trials.summary import Summary
from lanlab.figures.chart import (
    Axis,
    Chart,
    Point,
    PublishedMark,
    PublishedSeries,
    Series,
    chart_of_rows,
    line_across,
)
from lanlab.figures.gather import far_apart, printed
from lanlab.figures.number_text import counted
from lanlab.figures.published_values import (
    DESCRIBING,
    Ends,
    ends_of,
    level_title,
    levels_text,
    shown_as,
    varied_keys,
)
from lanlab.figures.wording import BOUNDS, Quantity, condition_text, obtained, quantity
from lanlab.frozen import dataclass
from lanlab.studies.model import Study
from lanlab.studies.published import Published, PublishedTable, PublishedValue
from lanlab.studies.tables import laid_out

#: Maximum series of one figure; if there are more, the conditions become rows.
_MOST_SERIES = 4
_LEAST_ON_AN_AXIS = 3
_DOTS = "Small dots are the single trials."


@dataclass(frozen=True)
class PublishedFigure:
    name: str
    chart: Chart
    #: The number behind each point of the chart, by its position and the name of its series, to
    #: draw measured ones next to it; empty if a point is not a single number.
    places: tuple[tuple[float, str, PublishedValue], ...]
    shown: Quantity


def table_figures(study: Study, published: Published) -> list[PublishedFigure]:
    """A figure for each metric and statistic of each table, from its measurements. A table that
    only describes the test bed gets one of the description. A single number is not drawn.
    """
    return [figure for table in published.table for figure in _of_table(study, published, table)]


def with_measured(
    figure: PublishedFigure, study: Study, published: Published, found: Sequence[Summary]
) -> Chart:
    """A published figure with marks for the measurements at the same conditions; unchanged if there
    are none.
    """
    marks: dict[tuple[str, str], dict[tuple[float, float], str]] = {}
    for summary in found if figure.places else ():
        belonging = {point.value.id for point in points_for(summary, published, study)}
        for x, of, value in figure.places:
            ours = summary.sd if value.statistic == "sd" else summary.mean
            if value.statistic == "sd" and study.is_simulated:
                continue  # the spread over seeds is none of repeated measurements
            if value.id in belonging and ours is not None:
                where = condition_text(study, summary.factors) or "the one condition"
                rest = {k: v for k, v in summary.factors.items() if v != x}
                # Rows have a place for each series.
                row = of if figure.chart.x.categories else ""
                name = "" if row else condition_text(study, rest)
                own = marks.setdefault((name, row), {})
                own.setdefault(
                    (x, figure.shown.shown(ours)), f"{where}, {counted(summary.n, 'trial')}"
                )
    if not marks:
        return figure.chart
    names = [one.name for one in figure.chart.series]
    drawn = tuple(
        PublishedSeries(
            name,
            tuple(PublishedMark(x, y, text) for (x, y), text in sorted(own.items())),
            f"{obtained(study)} here",
            names.index(row) if row else None,
        )
        for (name, row), own in marks.items()
    )
    chart = figure.chart
    if min(mark.y for series in drawn for mark in series.marks) <= 0:
        # A linear axis includes zero: the deviation of two equal trials is zero.
        chart = replace(chart, y=replace(chart.y, logarithmic=False))
    return replace(chart, published=(*chart.published, *drawn))


def _of_table(study: Study, published: Published, table: PublishedTable) -> list[PublishedFigure]:
    laid = laid_out(published, table).rows
    cells = [cell for _, row in laid for cell in row if isinstance(cell, PublishedValue)]
    row_titles = {
        cell.id: words[0].partition(" (")[0]
        for words, row in laid
        for cell in row
        if table.rows and cell is not None
    }
    measured = [cell for cell in cells if cell.statistic not in DESCRIBING]
    groups: dict[tuple[str, str], list[PublishedValue]] = {}
    for cell in measured or cells:
        groups.setdefault((cell.metric, cell.statistic), []).append(cell)
    levels: dict[str, set[str]] = {}
    for column in table.columns:
        for key, level in column.at.items():
            levels.setdefault(key, set()).add(repr(level))
    in_columns = {key for key, own in levels.items() if len(own) > 1}
    found = []
    for (metric, statistic), values in groups.items():
        if len(values) < 2:
            continue
        rows = {row_titles.get(value.id, "") for value in values}
        drawn = _Group(study, published, tuple(values), rows.pop() if len(rows) == 1 else "")
        kind = "" if statistic == "mean" else f"-{statistic}"
        name = f"{table.id}-{metric}{kind}".replace("_", "-").replace(".", "-")
        chart, places = drawn.chart(f"{table.where}: {table.title}", in_columns)
        if len(groups) > 1:
            chart = replace(chart, title=f"{chart.title}, {drawn.name}")
        found.append(PublishedFigure(name, chart, places, drawn.shown))
    return found


@dataclass(frozen=True)
class _Group:
    study: Study
    published: Published
    values: tuple[PublishedValue, ...]
    #: The table's name for the quantity in its rows; empty if rows are conditions.
    row_title: str

    @property
    def name(self) -> str:
        return self.row_title or self.shown.name

    @property
    def shown(self) -> Quantity:
        return shown_as(self.study, self.published, self.values)

    @property
    def varied(self) -> list[str]:
        order = [factor.name for factor in self.published.factor]
        found = varied_keys(self.values)
        return sorted(found, key=lambda key: order.index(key) if key in order else len(order))

    def chart(
        self, title: str, in_columns: set[str]
    ) -> tuple[Chart, tuple[tuple[float, str, PublishedValue], ...]]:
        ends = {value.id: ends_of(self.published, value) for value in self.values}
        known = [one for one in ends.values() if one is not None]
        numeric = next((key for key in reversed(self.varied) if self._is_numeric(key)), None)
        make = self._rows if numeric is None else self._curves
        chart, places = make(numeric or "", in_columns, ends)
        printed = "; ".join(dict.fromkeys(value.where.split(",")[0] for value in self.values))
        about = [f"Numbers as printed: {printed}."]
        put = [v for v in self.values if not math.isclose(v.value, self.shown.shown(v.si))]
        if put:
            texts = ", ".join(dict.fromkeys(f"`{value.published}`" for value in put))
            about.append(f"Converted to {self.shown.unit}: {texts}.")
        if any(one.trials for one in known):
            about.append(f"Intervals of 95 % from the printed trials. {_DOTS}")
        elif any(one.name == "95 %" for one in known):
            about.append("Intervals of 95 % from the printed standard deviations.")
        elif known:
            about.append("Bars of error: one step of the clock more or less.")
        elif self.values[0].statistic == "mean":
            about.append("No spread is printed.")
        if self.values[0].metric == "elapsed_ns" and len(self._amounts) > 1:
            about.append("Times of different amounts do not compare; rates do.")
        interval = known[0].name if known else "95 %"
        return replace(chart, title=title, caption=" ".join(about), interval=interval), places

    @property
    def _amounts(self) -> set[float | None]:
        return {amount_of(self.published, value.condition) for value in self.values}

    def _is_numeric(self, key: str) -> bool:
        levels = {value.condition.get(key) for value in self.values}
        numbers = {one for one in levels if isinstance(one, int | float) and one is not True}
        return len(numbers) == len(levels) >= _LEAST_ON_AN_AXIS

    def _curves(
        self, x_key: str, in_columns: set[str], ends: Mapping[str, Ends | None]
    ) -> tuple[Chart, tuple[tuple[float, str, PublishedValue], ...]]:
        rest = [key for key in self.varied if key != x_key]
        lines: dict[str, list[Point]] = {}
        places = []
        for value in self.values:
            x = float(value.condition[x_key])
            words = levels_text(self.published, value.condition, rest) or "as printed"
            lines.setdefault(words, []).append(self._point(x, value, ends[value.id]))
            places.append((x, words, value))
        series = tuple(
            Series(words, tuple(sorted(points, key=lambda point: point.x)))
            for words, points in lines.items()
        )
        ys = [point.y for points in lines.values() for point in points]
        x_axis = Axis(self._title(x_key), "B" if x_key.endswith("_bytes") else "")
        y_axis = Axis(self.name, self.shown.unit, far_apart(ys))
        return Chart("", x_axis, y_axis, series), tuple(places)

    def _rows(
        self, _: str, in_columns: set[str], ends: Mapping[str, Ends | None]
    ) -> tuple[Chart, tuple[tuple[float, str, PublishedValue], ...]]:
        in_cell = [key for key in self.varied if key in in_columns]
        if len(in_cell) == len(self.varied):
            in_cell = []
        if not in_cell and len(self.varied) > 1:
            counts = {key: len({v.condition.get(key) for v in self.values}) for key in self.varied}
            fitting = [key for key in self.varied if counts[key] <= _MOST_SERIES]
            in_cell = [max(fitting, key=counts.__getitem__)] if fitting else []
        rest = [key for key in self.varied if key not in in_cell]
        rows: list[str] = []
        bars: dict[str, list[Point]] = {}
        places = []
        for value in self.values:
            row = levels_text(self.published, value.condition, rest) or "all"
            if row not in rows:
                rows.append(row)
            x = float(rows.index(row))
            words = levels_text(self.published, value.condition, in_cell)
            words = words or (f"{self._title(in_cell[0])} not stated" if in_cell else self.name)
            bars.setdefault(words, []).append(self._point(x, value, ends[value.id]))
            places.append((x, words, value))
        ys = [point.y for points in bars.values() for point in points]
        series = tuple(Series(words, tuple(points), "bars") for words, points in bars.items())
        y_axis = Axis(self.name, self.shown.unit, far_apart(ys))
        return chart_of_rows("", rows, y_axis, series), tuple(places)

    def _title(self, key: str) -> str:
        return next((f.title for f in self.published.factor if f.name == key), key)

    def _point(self, x: float, value: PublishedValue, ends: Ends | None) -> Point:
        shown = self.shown
        condition = levels_text(self.published, value.condition, self.varied)
        about = f", {value.status}" if value.status else ""
        return Point(
            x=x,
            y=shown.shown(value.si),
            low=None if ends is None else shown.shown(ends.low),
            high=None if ends is None else shown.shown(ends.high),
            trials=() if ends is None else tuple(map(shown.shown, ends.trials)),
            condition=f"{condition}{about}: {printed(value)}",
            n=None if ends is None else ends.n,
        )


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
    chart = chart_of_rows(
        "Printed ratios",
        rows,
        Axis("ratio", "", logarithmic=True),
        [Series("put as a ratio", tuple(points), "points")],
        [line_across("the same", (1.0,), len(rows))],
        caption="What the text says of one against another; no spread is printed.",
    )
    return PublishedFigure("text-ratios", chart, (), Quantity("ratio", "ratio", "", 1.0, ""))


def _shares(published: Published, values: Sequence[PublishedValue]) -> PublishedFigure:
    varied = varied_keys(values)
    rows = [levels_text(published, value.condition, varied) for value in values]
    points = tuple(
        _point(place, 100 * value.si, None, f"{row}{_bound(value)}", value)
        for place, (row, value) in enumerate(zip(rows, values, strict=True))
    )
    chart = chart_of_rows(
        "Printed shares of the link",
        rows,
        Axis("share of the link", "%"),
        [Series("put as a share", points, "bars")],
        [line_across("the whole link", (100.0,), len(rows))],
        caption="What the text says of how much of the link was used; no spread is printed.",
    )
    return PublishedFigure("text-shares", chart, (), Quantity("share", "share", "%", 0.01, ""))


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
            places.append((point.x, _NAMES[value.statistic], value))
    spread = "Intervals of 95 % where a standard deviation is printed."
    chart = chart_of_rows(
        f"{title[0].upper()}{title[1:]} in the text",
        rows,
        Axis(title, shown.unit, far_apart([p.y for own in groups.values() for p in own])),
        [Series(name, tuple(points), "points") for name, points in groups.items()],
        caption="Numbers as the text prints them, or as they follow from it. "
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
