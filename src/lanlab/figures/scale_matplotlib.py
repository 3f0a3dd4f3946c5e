"""Ends, ticks and labels of a chart's axes."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lanlab.figures.chart import Chart
from lanlab.figures.number_text import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.ticker import MaxNLocator

#: Width of a letter, and height of a line, at the font size of figures.
LETTER_IN = 0.083
_ROW_IN = 0.165
#: Maximum lines of a name below a category.
_MOST_LINES = 4
#: Least height of a plot between its labels.
_LEAST_HEIGHT_IN = 2.4
#: Maximum share of a figure's width for the names of rows.
_NAMES_SHARE = 0.38
_SERIES_IN = 0.11
_LINE_IN = 0.14
#: Share of a figure's width for the plot; the rest is for the labels of the y axis.
_AXES_RATIO = 0.86
_MOST_TICKS_AT_LEVELS = 7
_MOST_LEVELS = 16
_ROUND = (1, 2, 5, 10)
#: On a linear axis, an interval is shown up to this multiple of the points.
_MOST_BEYOND = 2.0
#: The same on a logarithmic axis.
_BEYOND = 4.0


def width_of(axes: Axes) -> float:
    """The width of the axes' figure, inches."""
    return float(axes.figure.bbox.width / axes.figure.dpi)


def in_lines(label: str, length_in: float) -> str:
    """The label of an axis of this length, in several lines if it is longer."""
    return textwrap.fill(label, int(length_in / LETTER_IN))


def named_rows(chart: Chart, width_in: float) -> list[str]:
    """The names of a chart's rows, in lines that fit; empty if it has none."""
    most_letters = max(8, int(_NAMES_SHARE * width_in / LETTER_IN))
    names = chart.x.categories if chart.sideways else ()
    return [textwrap.fill(name, most_letters) for name in names]


def rows_in(chart: Chart, rows: Sequence[str]) -> float:
    lines = max((name.count("\n") + 1 for name in rows), default=1)
    side_by_side = 1 if chart.has("stack") else len(chart.series)
    row_in = max(0.2 + _SERIES_IN * max(0, side_by_side - 1), 0.06 + _LINE_IN * lines)
    return row_in * max(1, len(rows))


def scale_axes(chart: Chart, axes: Axes) -> None:
    """Scale and name both axes. Rows go from the top down, and their values from left to right."""
    width_in = width_of(axes)
    if chart.sideways:
        rows = named_rows(chart, width_in)
        axes.set_yticks(range(len(rows)), rows)
        axes.set_ylim(max(1, len(rows)) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(in_lines(chart.y.label, (1 - _NAMES_SHARE) * width_in))
        _scale_values(chart, axes)
        return
    axes.set_xlabel(in_lines(chart.x.label, _AXES_RATIO * width_in))
    axes.set_ylabel(in_lines(chart.y.label, _LEAST_HEIGHT_IN))
    _scale_values(chart, axes)
    _scale_x(chart, axes)


def even_ticks(most: int, values: Iterable[float]) -> MaxNLocator:
    """At most `most` even steps; whole numbers for whole values, such as numbers of stations."""
    from matplotlib.ticker import MaxNLocator

    is_whole = all(value == round(value) for value in values)
    return MaxNLocator(most, steps=_ROUND, integer=is_whole)


def _scale_values(chart: Chart, axes: Axes) -> None:
    """Scale the axis of values, which is horizontal if conditions are rows."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    points = [point for series in chart.series for point in series.points]
    own = [y for point in points for y in (point.y, *point.trials)]
    seen = [*own, *(y for limit in chart.limits for _, y in limit.points)]
    seen += [mark.y for series in chart.published for mark in series.marks]
    seen += [y for shape in chart.shapes for y, _ in shape.outline]
    ends = [end for p in points for end in (p.low, p.high) if end is not None]
    side, most = ("x", 0) if chart.sideways else ("y", 7)
    along = axes.xaxis if chart.sideways else axes.yaxis
    if chart.sideways:
        most = ticks_across((1 - _NAMES_SHARE) * width_of(axes), max(seen, default=1.0))
    is_log = chart.y.logarithmic and (not chart.sideways or all(point.y > 0 for point in points))
    low, high = within_sight([*seen, *ends], seen)
    if chart.y.ends is not None:
        low, high = chart.y.ends
    elif chart.has("stack"):
        low, high = 0, 1.02 * max(chart.floors(len(chart.series)).values(), default=1.0) or 1.0
    elif is_log:
        # Cut intervals that reach below zero, or far beyond the points.
        above = [value for value in seen if value > 0] or [1.0]
        known = [end for end in ends if min(above) / _BEYOND < end < _BEYOND * max(above)]
        low, high = min(*above, *known, above[0]), max(*above, *known, above[0])
        room = max(1.02, (high / low) ** 0.06)
        low, high = low / room, high * room
    elif chart.sideways and not chart.has("bars"):
        room = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
        low, high = low - room, high + room
    else:
        # The length of a bar is its value, and a cut axis exaggerates small differences.
        low, high = 0, 1.06 * high or 1.0
    axes.set(**{f"{side}scale": "log" if is_log else "linear", f"{side}lim": (low, high)})
    if is_log:
        along.set_major_locator(FixedLocator(log_ticks(low, high, most)))
        along.set_minor_formatter(NullFormatter())
        if not chart.sideways:
            axes.grid(visible=True, which="minor", axis="y", linewidth=0.3)
    else:
        along.set_major_locator(even_ticks(most, own))
    along.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))


def ticks_across(width_in: float, most: float) -> int:
    """How many numbers fit side by side along an axis up to `most`."""
    return max(2, min(7, int(width_in / (LETTER_IN * (len(plain(most)) + 1.5)))))


def log_ticks(low: float, high: float, most: int) -> Sequence[float]:
    """Round numbers for a logarithmic axis: even steps if it is short, else 1-2-5."""
    found: list[float] = []
    if high / low > 5:
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for every, steps in ((1, (1, 2, 5)), (1, (1, 3)), (1, (1,)), (2, (1,)), (3, (1,))):
            round_ = (round(s * 10.0**decade, 12) for decade in decades[::every] for s in steps)
            fewer = [value for value in round_ if low <= value <= high]
            found = fewer if len(fewer) > 1 else found
            if len(found) <= most:
                break
        return found
    from matplotlib.ticker import MaxNLocator

    for count in (most, 2 * most):
        even = MaxNLocator(count, steps=_ROUND).tick_values(low, high)
        found = [round(float(value), 12) for value in even if low <= value <= high and value > 0]
        if len(found) > 1:
            break
    return found


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
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

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
            ticks = ticks_across(_AXES_RATIO * width_of(axes), high)
            axes.xaxis.set_major_locator(FixedLocator(log_ticks(low, high, ticks)))
        is_measured = any(p.x_low is not None for s in chart.series for p in s.points)
        is_few = 1 < len(xs) <= _MOST_TICKS_AT_LEVELS and not is_measured
        if is_few and _fit_side_by_side(xs, axes):
            axes.set_xticks(xs)
            axes.xaxis.set_minor_locator(NullLocator())
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
        if chart.has("stack"):
            half = stack_width(chart, xs) / 2
            axes.set_xlim(min(0.0, min(xs, default=0.0) - half), max(xs, default=1.0) + 1.5 * half)
        axes.xaxis.set_major_locator(
            even_ticks(ticks_across(_AXES_RATIO * width_of(axes), max(xs, default=1.0)), xs)
        )
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
    if chart.sideways or len(names) > width_in / _ROW_IN:
        return 0.0
    level = _level_names(names, width_in)
    if level is None:
        return 0.7 * LETTER_IN * max(map(len, names))
    return _ROW_IN * max((name.count("\n") for name in level), default=0)


def _level_names(names: Sequence[str], width_in: float) -> list[str] | None:
    """Names that fit side by side, in one line or in several; `None` if they do not fit."""
    letters = width_in / LETTER_IN / max(1, len(names))
    pairs = itertools.pairwise((*names, *names[-1:]))
    if all((len(a) + len(b)) / 2 + 0.4 <= letters for a, b in pairs):
        return list(names)
    longest = max((len(word) for name in names for word in name.split(" ")), default=1)
    lines = [textwrap.wrap(name, max(longest, int(letters) - 1)) for name in names]
    fit = longest < letters and max(map(len, lines)) <= _MOST_LINES
    return ["\n".join(one) for one in lines] if fit else None


def _name_categories(names: tuple[str, ...], axes: Axes) -> None:
    width_in = _AXES_RATIO * width_of(axes)
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
