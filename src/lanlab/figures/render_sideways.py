"""Charts with conditions as rows: names of any length, and horizontal values."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from lanlab.figures import look_matplotlib as look
from lanlab.figures.chart import Chart
from lanlab.figures.number_text import plain
from lanlab.figures.scale_matplotlib import LETTER_IN, ROUND, log_ticks, within_sight
from lanlab.figures.series_matplotlib import (
    ROW_SHARE,
    draw_bars,
    draw_published,
    draw_spread,
    draw_stack,
    has_stack,
    place_of,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.container import Container
    from matplotlib.figure import Figure


_ROW_IN = 0.2
_SERIES_IN = 0.11
#: Maximum share of a figure's width for the names of rows.
_NAMES_SHARE = 0.36
_LINE_IN = 0.14
#: On a logarithmic axis, an interval is shown up to this factor beyond the points.
_BEYOND = 4.0


def draw_sideways(chart: Chart, width_in: float, title: str) -> tuple[Figure, Axes]:
    """Draw rows from the top down: points with their intervals, and limits as vertical lines."""
    from matplotlib.figure import Figure

    # The axis names a single series.
    named = len(chart.series) + len(chart.limits) + len(chart.published)
    names = look.legend_names(chart) if named > 1 else []
    columns = look.legend_columns(names, width_in) if names else 1
    legend_in = look.legend_height_in(names, columns, width_in) if names else 0.1
    most_letters = max(8, int(_NAMES_SHARE * width_in / LETTER_IN))
    rows = [textwrap.fill(name, most_letters) for name in chart.x.categories]
    lines = max((name.count("\n") + 1 for name in rows), default=1)
    side_by_side = 1 if has_stack(chart) else len(chart.series)
    row_in = max(_ROW_IN + _SERIES_IN * max(0, side_by_side - 1), 0.06 + _LINE_IN * lines)
    height_in = 0.62 + row_in * max(1, len(rows)) + legend_in
    figure = Figure(figsize=(width_in, height_in))
    axes = figure.add_subplot()
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(max(1, len(rows)) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(chart.y.label)
    _scale(chart, axes, width_in)
    entries: list[look.Entry] = []
    for index, series in enumerate(chart.series):
        entries.append((f"series-{index}", series.name, _draw_series(axes, chart, index)))
    for index, limit in enumerate(chart.limits):
        # The first limit is solid, because all rows are compared with it.
        (line,) = axes.plot(
            [y for _, y in limit.with_gaps()],
            [x for x, _ in limit.with_gaps()],
            color=look.INK if index == 0 else look.MUTED,
            linestyle="-" if index == 0 else (0, (3, 2)),
            linewidth=1.0,
            zorder=1.5,
            gid=f"limit-{index}-line",
        )
        entries.append((f"limit-{index}", limit.name, line))
    for index, published in enumerate(chart.published):
        rows_ = [mark.x for mark in published.marks if mark.x is not None]
        drawn = draw_published(axes, [mark.y for mark in published.marks], rows_, index, 0)
        entries.append((f"published-{index}", published.label, drawn))
    if chart.is_empty:
        axes.text(0.5, 0.5, chart.empty, ha="center", transform=axes.transAxes, color=look.MUTED)
    if names:
        look.draw_legend(figure, entries, columns)
    look.lay_out(figure, legend_in, title)
    return figure, axes


def _draw_series(axes: Axes, chart: Chart, index: int) -> Artist | Container:
    if chart.series[index].kind == "stack":
        return draw_stack(axes, chart, index, ROW_SHARE)
    points = chart.series[index].points
    places = [place_of(chart, index, point.x) for point in points]
    if chart.series[index].kind == "bars":
        # A logarithmic axis has no zero, so bars begin at the axis's end.
        return draw_bars(axes, chart, index, 0.92 * ROW_SHARE / len(chart.series), _begin(chart))
    own = look.style_of(chart, index)
    (line,) = axes.plot(
        [point.y for point in points],
        places,
        color=look.colour_of(own),
        linestyle="none",
        marker=look.form_of(own, look.MARKERS),
        markersize=4.5,
        gid=f"series-{index}-line",
        zorder=3,
    )
    draw_spread(axes, points, places, index, look.colour_of(own), sideways=True)
    return line


def _scale(chart: Chart, axes: Axes, width_in: float) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    ticks = max(3, int(width_in))
    if has_stack(chart):
        longest = max(chart.floors(len(chart.series)).values(), default=1.0)
        axes.set_xlim(0, 1.02 * longest or 1.0)
        axes.xaxis.set_major_locator(MaxNLocator(ticks, steps=ROUND))
        return
    points = [p for series in chart.series for p in series.points]
    ys, trials = [p.y for p in points], [trial for p in points for trial in p.trials]
    others = [y for limit in chart.limits for _, y in limit.points]
    others += [mark.y for series in chart.published for mark in series.marks]
    values = [*ys, *(end for p in points for end in (p.low, p.high) if end), *others, *trials]
    has_bars = any(series.kind == "bars" for series in chart.series)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    if chart.y.logarithmic and values and all(y > 0 for y in ys):
        # Cut intervals that reach below zero at the end of the axis.
        values = [value for value in values if value > 0]
        axes.set_xscale("log")
        # A few extreme intervals must not compress the others.
        ys = [*(ys or values), *others]
        low = math.log(max(min(values), min(ys) / _BEYOND))
        high = math.log(min(max(values), max(ys) * _BEYOND))
        room = max(0.06 * (high - low), 0.004)
        ends = _begin(chart) if has_bars else math.exp(low - room), math.exp(high + room)
        axes.set_xlim(*ends)
        axes.xaxis.set_major_locator(FixedLocator(log_ticks(*ends, ticks)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
        return
    low, high = within_sight(values, [*ys, *trials])
    room = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    # The length of a bar is its value, so the axis starts at zero.
    axes.set_xlim(*((0.0, 1.06 * high or 1.0) if has_bars else (low - room, high + room)))
    axes.xaxis.set_major_locator(MaxNLocator(ticks, steps=ROUND))


def _begin(chart: Chart) -> float:
    if not chart.y.logarithmic:
        return 0.0
    ends = [end for s in chart.series for p in s.points for end in (p.y, p.low or p.y)]
    return float(10.0 ** math.floor(math.log10(min(ends, default=1.0))))
