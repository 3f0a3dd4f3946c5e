"""Figures of a study's published tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from lanlab.analysis.published import amount_of, points_for
from lanlab.analysis.summary import Summary
from lanlab.figures.chart import Axis, Chart, Point, PublishedMark, PublishedSeries, Series
from lanlab.figures.gather import far_apart, printed
from lanlab.figures.published_values import DESCRIBING, Ends, ends_of, levels_text, shown_as
from lanlab.figures.wording import Quantity, condition_text, obtained
from lanlab.frozen import dataclass
from lanlab.studies import Level, Published, PublishedValue, Study
from lanlab.studies.published import PublishedTable
from lanlab.studies.tables import laid_out

#: Maximum series of one figure; if there are more, the conditions become rows.
_MOST_SERIES = 4
_LEAST_ON_AN_AXIS = 3
_DOTS = "Small dots are the single trials."
_LOGARITHMIC = ", logarithmic"


@dataclass(frozen=True)
class PublishedFigure:
    name: str
    chart: Chart
    #: The number behind each point of the chart, by its position, to draw measured ones next to
    #: it; empty if a point is not a single number.
    places: tuple[tuple[float, PublishedValue], ...]
    shown: Quantity


def table_figures(study: Study, published: Published) -> list[PublishedFigure]:
    """
    A figure for each metric and statistic of each table, from its measurements. A table that only
    describes the test bed gets one of the description. A single number is not drawn.
    """
    return [figure for table in published.table for figure in _of_table(study, published, table)]


def with_measured(figure: PublishedFigure, study: Study, found: Sequence[Summary]) -> Chart:
    """
    A published figure with marks for the measurements at the same conditions; unchanged if there
    are none.

    Args:
        figure: Figure of the study that was run.
        found: All conditions of the run, of every metric.
    """
    values = [value for _, value in figure.places]
    marks: dict[str, dict[tuple[float, float], str]] = {}
    if not values:
        return figure.chart
    single = Published.model_validate({"schema": 1}).model_copy(update={"value": tuple(values)})
    for summary in found:
        belonging = {point.value.id for point in points_for(summary, single)}
        for x, value in figure.places:
            ours = summary.sd if value.statistic == "sd" else summary.mean
            if value.statistic == "sd" and study.is_simulated:
                continue  # the spread over seeds is none of repeated measurements
            if value.id in belonging and ours is not None:
                where = condition_text(study, summary.factors) or "the one condition"
                own = marks.setdefault(_beside_axis(figure.chart, study, summary, x), {})
                own.setdefault((x, figure.shown.shown(ours)), f"{where}, {summary.n} trials")
    if not marks:
        return figure.chart
    drawn = tuple(
        PublishedSeries(
            name,
            tuple(PublishedMark(x, y, text) for (x, y), text in sorted(own.items())),
            f"{obtained(study).word} here",
        )
        for name, own in marks.items()
    )
    least = min(mark.y for series in drawn for mark in series.marks)
    chart = _linear(figure.chart) if least <= 0 else figure.chart
    return replace(chart, published=(*chart.published, *drawn))


def _linear(chart: Chart) -> Chart:
    """With a linear axis that includes zero, because the deviation of two equal trials is zero."""
    name = chart.y.name.removesuffix(_LOGARITHMIC)
    return replace(chart, y=replace(chart.y, name=name, logarithmic=False))


def _beside_axis(chart: Chart, study: Study, summary: Summary, x: float) -> str:
    if chart.x.categories:
        return ""
    rest = {key: level for key, level in summary.factors.items() if level != x}
    return condition_text(study, rest)


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
    in_columns = {
        key
        for key in {key for column in table.columns for key in column.at}
        if len({repr(column.at.get(key)) for column in table.columns if key in column.at}) > 1
    }
    found = []
    for (metric, statistic), values in groups.items():
        if len(values) < 2:
            continue
        rows = {row_titles.get(value.id, "") for value in values}
        drawn = _Group(study, published, tuple(values), rows.pop() if len(rows) == 1 else "")
        kind = "" if statistic == "mean" else f"-{statistic}"
        name = f"{table.id}-{metric}{kind}".replace("_", "-").replace(".", "-")
        chart, places = drawn.chart(f"{table.where}: {table.title}", in_columns)
        several = len(groups) > 1
        if several:
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
        """Keys of conditions that vary, in the order of the study's factors."""
        keys = dict.fromkeys(key for value in self.values for key in value.condition)
        order = [factor.name for factor in self.published.factor]
        found = [key for key in keys if len({repr(v.condition.get(key)) for v in self.values}) > 1]
        return sorted(found, key=lambda key: order.index(key) if key in order else len(order))

    def chart(
        self, title: str, in_columns: set[str]
    ) -> tuple[Chart, tuple[tuple[float, PublishedValue], ...]]:
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
            about.append(f"Put into {self.shown.unit}: {texts}.")
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
    ) -> tuple[Chart, tuple[tuple[float, PublishedValue], ...]]:
        rest = [key for key in self.varied if key != x_key]
        lines: dict[str, list[Point]] = {}
        places = []
        for value in self.values:
            x = float(value.condition[x_key])
            words = levels_text(self.published, value.condition, rest) or "as printed"
            lines.setdefault(words, []).append(self._point(x, value, ends[value.id]))
            places.append((x, value))
        title = self._title(x_key)
        unit = "B" if x_key.endswith("_bytes") else ""
        series = tuple(
            Series(words, tuple(sorted(points, key=lambda point: point.x)))
            for words, points in lines.items()
        )
        ys = [point.y for points in lines.values() for point in points]
        axis = Axis(self.name, self.shown.unit, far_apart(ys))
        chart = Chart("", Axis(title, unit), axis, series)
        return chart, tuple(places)

    def _rows(
        self, _: str, in_columns: set[str], ends: Mapping[str, Ends | None]
    ) -> tuple[Chart, tuple[tuple[float, PublishedValue], ...]]:
        in_cell = [key for key in self.varied if key in in_columns]
        if len(in_cell) == len(self.varied):
            in_cell = []
        if not in_cell and len(self.varied) > 1:
            counts = {key: self._levels(key) for key in self.varied}
            fitting = [key for key in self.varied if len(counts[key]) <= _MOST_SERIES]
            in_cell = [max(fitting, key=lambda key: len(counts[key]))] if fitting else []
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
            places.append((x, value))
        ys = [point.y for points in bars.values() for point in points]
        series = tuple(Series(words, tuple(points), "bars") for words, points in bars.items())
        axis = Axis("condition", "", categories=tuple(rows))
        logarithmic = far_apart(ys)
        return (
            Chart("", axis, self._axis(logarithmic=logarithmic), series, sideways=True),
            tuple(places),
        )

    def _title(self, key: str) -> str:
        return next((f.title for f in self.published.factor if f.name == key), key)

    def _levels(self, key: str) -> set[Level | None]:
        return {value.condition.get(key) for value in self.values}

    def _axis(self, *, logarithmic: bool) -> Axis:
        name = f"{self.name}{_LOGARITHMIC}" if logarithmic else self.name
        return Axis(name, self.shown.unit, logarithmic)

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
