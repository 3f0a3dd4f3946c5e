"""Draws bars, stacks, intervals and published values, and finds the positions of tooltips."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lanlab.figures.chart import (
    Chart,
    Mark,
    Point,
    PublishedMark,
    PublishedSeries,
    bar_span,
    mark_text,
    point_text,
)
from lanlab.figures.look_matplotlib import (
    GRID,
    HATCHES,
    INK,
    PAPER,
    PUBLISHED_MARKERS,
    Look,
    colour_of,
    draw_intervals,
    form_of,
    stack_look,
    style_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.lines import Line2D
    from matplotlib.transforms import Transform

#: Share of the distance between rows for the series of a row.
ROW_SHARE = 0.66


def has_stack(chart: Chart) -> bool:
    return any(series.kind == "stack" for series in chart.series)


def place_of(chart: Chart, index: int, x: float) -> float:
    """Where a point of a series is drawn along the axis of conditions."""
    count = len(chart.series)
    if chart.sideways:
        return x + ROW_SHARE * ((index + 0.5) / count - 0.5) if _is_side_by_side(chart) else x
    is_bar = chart.series[index].kind == "bars"
    return sum(bar_span(x, index, count)) / 2 if is_bar else x


def _is_side_by_side(chart: Chart) -> bool:
    if any(series.kind == "bars" for series in chart.series):
        return True
    if has_stack(chart):
        return False
    wide = [p.x for s in chart.series for p in s.points if p.low is not None]
    return len(set(wide)) < len(wide)


def draw_bars(
    axes: Axes, chart: Chart, index: int, thickness: float, begin: float = 0.0
) -> BarContainer:
    """The bars of a series with their intervals; `begin` is where they start."""
    points, own = chart.series[index].points, style_of(chart, index)
    places = [place_of(chart, index, point.x) for point in points]
    look: Look = {
        "color": colour_of(own),
        "hatch": form_of(own, HATCHES),
        "edgecolor": GRID if own else colour_of(own),
        "linewidth": 0.6,
        "zorder": 2,
    }
    bars = _bars(axes, chart, places, [point.y - begin for point in points], begin, thickness, look)
    _name(bars, index)
    draw_spread(axes, points, places, index, INK, sideways=chart.sideways)
    return bars


def draw_stack(axes: Axes, chart: Chart, index: int, thickness: float) -> BarContainer:
    """A part of a stack, as bars, because nothing was measured between the positions."""
    floors = chart.floors(index)
    lengths = {point.x: point.y for point in chart.series[index].points}
    own = [lengths.get(x, 0.0) for x in floors]
    look = stack_look(style_of(chart, index))
    bars = _bars(axes, chart, list(floors), own, list(floors.values()), thickness, look)
    _name(bars, index)
    return bars


def _bars(
    axes: Axes,
    chart: Chart,
    places: Sequence[float],
    lengths: Sequence[float],
    base: float | Sequence[float],
    thickness: float,
    look: Look,
) -> BarContainer:
    if chart.sideways:
        return axes.barh(places, lengths, left=base, height=thickness, **look)
    return axes.bar(places, lengths, bottom=base, width=thickness, **look)


def _name(bars: BarContainer, index: int) -> None:
    for place, bar in enumerate(bars):
        bar.set_gid(f"series-{index}-bar{place}")


def draw_published(
    axes: Axes, xs: Sequence[float], ys: Sequence[float], index: int, number: int, **more: Any
) -> Line2D:
    (drawn,) = axes.plot(
        xs,
        ys,
        linestyle="none",
        marker=PUBLISHED_MARKERS[index % len(PUBLISHED_MARKERS)],
        markersize=7,
        markerfacecolor="none",
        markeredgecolor=INK,
        markeredgewidth=1.1,
        gid=f"published-{index}-{number}",
        zorder=4,
        **more,
    )
    return drawn


def marks_of(chart: Chart, axes: Axes, height: float) -> list[Mark]:
    """The positions of all points and published values, with their tooltips."""
    scale = 72 / axes.figure.dpi

    def placed(along: float | None, value: float) -> tuple[float, float]:
        if chart.sideways:
            left, top = axes.transData.transform((value, along or 0.0))
        elif along is None:
            left, top = axes.get_yaxis_transform().transform((0.985, value))
        else:
            left, top = axes.transData.transform((along, value))
        return float(left) * scale, height - float(top) * scale

    found = []
    for index, series in enumerate(chart.series):
        floors = chart.floors(index) if series.kind == "stack" else {}
        for point in series.points:
            value = point.y
            if series.kind == "stack":
                if value == 0:
                    # The bar has no length, and its mark would cover the neighbour's edge.
                    continue
                value = floors[point.x] + value / 2
            left, top = placed(place_of(chart, index, point.x), value)
            left += series_offset_pt(chart, index)
            found.append(Mark(left, top, f"series-{index}", point_text(chart, series, point)))
    for index, published in enumerate(chart.published):
        for mark in published.marks:
            at = placed(mark.x, mark.y)
            found.append(Mark(*at, f"published-{index}", mark_text(chart, published, mark)))
    return found


_SMALL_LETTER_IN = 0.07
_DASHES: tuple[int, tuple[float, ...]] = (0, (4, 2))


def draw_level(
    axes: Axes, published: PublishedSeries, mark: PublishedMark, index: int, number: int
) -> Line2D:
    """Draw the line with its name above its right end, and return its legend entry."""
    line = axes.axhline(
        mark.y,
        color=INK,
        linestyle=_DASHES,
        linewidth=0.9,
        zorder=1.6,
        gid=f"published-{index}-{number}",
    )
    letters = int(axes.bbox.width / axes.figure.dpi / _SMALL_LETTER_IN)
    axes.annotate(
        textwrap.fill(published.label, max(12, letters)),
        (0.995, mark.y),
        xycoords=axes.get_yaxis_transform(),
        xytext=(0, 1.5),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=6.5,
        color=INK,
        gid=f"published-{index}-{number}-name",
        # Keeps the name readable above a line without hiding the line.
        bbox={"boxstyle": "square,pad=0.1", "facecolor": PAPER, "linewidth": 0, "alpha": 0.85},
        zorder=5,
    )
    return line


#: Distance of trials from their point, in points of 1/72 inch, to clear the interval's caps.
TRIALS_PT = 6.0
#: Distance between series whose intervals would overlap, in points.
_SERIES_PT = 5.0
_MOST_PT = 14.0


def series_offset_pt(chart: Chart, index: int) -> float:
    """The shift of a series, so that no interval hides another."""
    if not chart.is_set_apart or chart.series[index].kind not in ("line", "points"):
        return 0.0
    count = len(chart.series)
    step = min(_SERIES_PT, 2 * _MOST_PT / max(1, count - 1))
    return (index - (count - 1) / 2) * step


def shifted(axes: Axes, across_pt: float = 0.0, up_pt: float = 0.0) -> Transform:
    from matplotlib.transforms import ScaledTranslation

    move = ScaledTranslation(across_pt / 72, up_pt / 72, axes.figure.dpi_scale_trans)
    return axes.transData + move


def draw_spread(
    axes: Axes,
    points: Sequence[Point],
    places: Sequence[float],
    index: int,
    colour: str,
    *,
    offset_pt: float = 0.0,
    beside_pt: float = TRIALS_PT,
    sideways: bool = False,
) -> None:
    """
    Draw intervals, and next to them the trials if nothing overlaps.

    Args:
        places: Positions of the points along the axis of conditions.
        offset_pt: The shift of the series.
        beside_pt: Distance of the trials from their point.
    """
    transform = shifted(axes, offset_pt)
    draw_intervals(axes, points, places, index, colour, sideways=sideways, transform=transform)
    # A single trial needs no ring, because it is its own mean.
    several = [(place, p) for place, p in zip(places, points, strict=True) if len(p.trials) > 1]
    at = [place for place, p in several for _ in p.trials]
    values = [trial for _, p in several for trial in p.trials]
    moved = shifted(axes, 0, -beside_pt) if sideways else shifted(axes, offset_pt + beside_pt)
    axes.plot(
        values if sideways else at,
        at if sideways else values,
        linestyle="none",
        marker="o",
        markersize=2.6,
        markerfacecolor="none",
        markeredgewidth=0.7,
        transform=moved,
        gid=f"series-{index}-trials",
        markeredgecolor=colour,
        zorder=3.8,
    )
