"""Ends, ticks and labels of a chart's axes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanlab.figures.chart import Chart
from lanlab.figures.number_text import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Width of a letter, and height of a line, at the font size of figures.
LETTER_IN = 0.083
_ROW_IN = 0.165
#: Share of a figure's width for the plot; the rest is for the labels of the y axis.
_AXES_RATIO = 0.86
_MOST_TICKS_AT_LEVELS = 7
_MOST_LEVELS = 16
ROUND = (1, 2, 5, 10)
#: On a linear axis, an interval is shown up to this multiple of the points.
_MOST_BEYOND = 2.0


def scale_axes(chart: Chart, axes: Axes) -> None:
    axes.set_xlabel(chart.x.label)
    axes.set_ylabel(chart.y.label)
    _scale_y(chart, axes)
    _scale_x(chart, axes)


def _scale_y(chart: Chart, axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    if chart.y.ends is not None:
        if chart.y.logarithmic:
            _make_logarithmic(axes, *chart.y.ends)
        else:
            axes.yaxis.set_major_locator(MaxNLocator(7, steps=ROUND))
            axes.set_ylim(*chart.y.ends)
        return
    if any(series.kind == "stack" for series in chart.series):
        axes.set_ylim(0, 1.02 * max(chart.floors(len(chart.series)).values(), default=1.0) or 1.0)
        axes.yaxis.set_major_locator(MaxNLocator(7, steps=ROUND))
        return
    seen = [y for s in chart.series for p in s.points for y in (p.y, *p.trials)]
    seen += [y for limit in chart.limits for _, y in limit.points]
    seen += [mark.y for series in chart.published for mark in series.marks]
    seen += [y for shape in chart.shapes for y, _ in shape.outline]
    ends = [p.high for s in chart.series for p in s.points if p.high is not None]
    values = [*seen, within_sight([*seen, *ends], seen)[1]]
    if chart.y.logarithmic:
        above = [value for value in values if value > 0] or [1.0]
        _make_logarithmic(axes, min(above) / 1.6, max(above) * 1.6)
        axes.grid(visible=True, which="minor", axis="y", linewidth=0.3)
    else:
        # Start at zero, because a cut axis exaggerates small differences.
        axes.set_ylim(0, 1.06 * max(values, default=1.0) or 1.0)
        axes.yaxis.set_major_locator(MaxNLocator(7, steps=ROUND))


def log_ticks(low: float, high: float, most: int) -> Sequence[float]:
    """Round numbers for a logarithmic axis: even steps if it is short, 1-2-5 if it is long."""
    if high / low > 20:
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for steps in ((1, 2, 5), (1, 3), (1,)):
            round_ = (round(step * 10.0**decade, 12) for decade in decades for step in steps)
            found = [value for value in round_ if low <= value <= high]
            if len(found) <= most:
                break
        return found
    from matplotlib.ticker import MaxNLocator

    even = MaxNLocator(most, steps=ROUND).tick_values(low, high)
    return [round(float(value), 12) for value in even if low <= value <= high and value > 0]


def _make_logarithmic(axes: Axes, low: float, high: float) -> None:
    """A logarithmic y axis labelled only at its ticks."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(FixedLocator(log_ticks(low, high, 7)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())


def within_sight(values: Sequence[float], seen: Sequence[float]) -> tuple[float, float]:
    """
    The ends of a linear axis. With few trials, a long interval would compress everything else,
    so it is cut at twice the data.

    Args:
        values: All values, including ends of intervals.
        seen: Means, trials, limits.
    """
    most = max(values, default=1.0)
    if seen and max(seen) > 0:
        most = min(most, _MOST_BEYOND * max(seen))
    return min(values, default=0.0), most


def stack_width(chart: Chart, xs: Sequence[float]) -> float:
    """Width of stacked bars: most of the smallest distance, but wide enough to be visible."""
    if chart.x.categories:
        return 0.8
    if len(xs) < 2:
        return 0.08 * (max(xs, default=0.0) or 1.0)
    closest = min(b - a for a, b in itertools.pairwise(sorted(xs)))
    return max(min(0.7 * closest, 0.1 * max(xs)), 0.012 * (max(xs) - min(xs)))


def _scale_x(chart: Chart, axes: Axes) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter

    if chart.x.categories:
        _name_categories(chart.x.categories, axes)
        return
    xs = sorted({p.x for s in chart.series for p in s.points})
    shown = FuncFormatter(lambda value, _: plain(value))
    if chart.x.logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
        if xs:
            low, high = min(xs) / 1.4, max(xs) * 1.4
            axes.set_xlim(low, high)
            ticks = max(3, int(axes.figure.bbox.width / axes.figure.dpi))
            axes.xaxis.set_major_locator(FixedLocator(log_ticks(low, high, ticks)))
        is_measured = any(p.x_low is not None for s in chart.series for p in s.points)
        is_few = 1 < len(xs) <= _MOST_TICKS_AT_LEVELS and not is_measured
        if is_few and _fit_side_by_side(xs, axes):
            axes.set_xticks(xs)
    elif _has_ticks_at_levels(chart, xs):
        axes.set_xticks(xs)
        margin = 0.04 * (max(xs) - min(xs)) or 1
        axes.set_xlim(min(xs) - margin, max(xs) + margin)
        axes.tick_params("x", labelrotation=0 if _fit_side_by_side(xs, axes) else 45)
    else:
        # A long interval must not compress all points.
        most = _MOST_BEYOND * max(xs, default=1.0)
        ends = [min(p.x_high, most) for s in chart.series for p in s.points if p.x_high is not None]
        axes.set_xlim(0, 1.04 * max([*xs, *ends], default=1.0) or 1.0)
        if any(series.kind == "stack" for series in chart.series):
            half = stack_width(chart, xs) / 2
            axes.set_xlim(min(0.0, min(xs, default=0.0) - half), max(xs, default=1.0) + 1.5 * half)
        axes.xaxis.set_major_locator(MaxNLocator(7, steps=ROUND))
    if chart.x.ends is not None:
        axes.set_xlim(*chart.x.ends)
    axes.xaxis.set_major_formatter(shown)


def _fit_side_by_side(xs: Sequence[float], axes: Axes) -> bool:
    place = math.log if axes.get_xscale() == "log" else float
    low, high = (place(end) for end in axes.get_xlim())
    inch = axes.bbox.width / axes.figure.dpi / (high - low)
    return all(
        (place(b) - place(a)) * inch > LETTER_IN * (len(plain(a)) + len(plain(b))) / 2
        for a, b in itertools.pairwise(xs)
    )


def _has_ticks_at_levels(chart: Chart, xs: Sequence[float]) -> bool:
    if not 0 < len(xs) <= _MOST_LEVELS:
        return False
    is_count = not chart.x.unit and all(x == int(x) for x in xs) and max(xs) <= 2 * _MOST_LEVELS
    return chart.x.unit == "B" or (is_count and len(xs) > 2)


def tilted_names_in(chart: Chart, width_in: float) -> float:
    """Height of the names of a chart's categories if they do not fit side by side."""
    names, width_in = chart.x.categories, _AXES_RATIO * width_in
    if len(names) > width_in / _ROW_IN:
        return 0.0
    level = _level_names(names, width_in)
    if level is None:
        return 0.7 * LETTER_IN * max(map(len, names))
    return _ROW_IN * max((name.count("\n") for name in level), default=0)


def _level_names(names: Sequence[str], width_in: float) -> list[str] | None:
    """Names that fit side by side, in one line or in two; `None` if they do not fit."""
    if sum(len(name) + 2 for name in names) * LETTER_IN <= width_in:
        return list(names)
    broken = [_in_two_lines(name) for name in names]
    widest = max(max(map(len, name.split("\n"))) for name in broken)
    return broken if len(names) * (widest + 1) * LETTER_IN <= width_in else None


def _in_two_lines(name: str) -> str:
    if ", " in name:
        first, rest = name.split(", ", 1)
        return f"{first},\n{rest}"
    words = name.split(" ")
    breaks = [(" ".join(words[:at]), " ".join(words[at:])) for at in range(1, len(words))]
    best = min(breaks, key=lambda two: max(map(len, two)), default=(name, ""))
    return "\n".join(filter(None, best))


def _name_categories(names: tuple[str, ...], axes: Axes) -> None:
    width_in = _AXES_RATIO * axes.figure.bbox.width / axes.figure.dpi
    every = -(-len(names) * _ROW_IN // width_in)
    places = range(0, len(names), max(1, int(every)))
    shown = [names[place] for place in places]
    level = _level_names(shown, width_in)
    axes.set_xticks(places, shown if level is None else level)
    if level is None:
        axes.tick_params("x", labelrotation=45)
        for label in axes.get_xticklabels():
            label.set(horizontalalignment="right", rotation_mode="anchor")
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(visible=False, axis="x")
