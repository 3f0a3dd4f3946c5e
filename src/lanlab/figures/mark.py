"""Positions in a drawing with a tooltip, and the tooltips of a chart's points."""

from __future__ import annotations

from lanlab.figures.chart import Chart, Point, PublishedMark, PublishedSeries, Series
from lanlab.figures.number_text import number
from lanlab.frozen import dataclass


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
        across = f" {chart.x.unit}" if chart.x.unit else ""
        text += (
            f", {number(point.x)}{across} "
            f"({chart.interval} {number(point.x_low)} … {number(point.x_high)})"
        )
    count = len(point.trials)
    if count:
        text += f", {count} trial{'s' if count != 1 else ''}"
    return text


def mark_text(chart: Chart, published: PublishedSeries, mark: PublishedMark) -> str:
    unit = f" {chart.y.unit}" if chart.y.unit else ""
    return f"{published.label}: {number(mark.y)}{unit}; {mark.printed}"
