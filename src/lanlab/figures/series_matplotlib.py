"""Draws bars, stacks, intervals and published values, and finds the positions of tooltips."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanlab.figures import look_matplotlib as look
from lanlab.figures.chart import (
    Chart,
    Mark,
    Point,
    bar_span,
    mark_text,
    point_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.lines import Line2D
    from matplotlib.transforms import Transform


def has_bars(chart: Chart, index: int) -> bool:
    """Whether a series is drawn as bars: on a logarithmic axis, which has no zero, as points."""
    return chart.series[index].kind == "bars" and not chart.y.logarithmic


def place_of(chart: Chart, index: int | None, x: float) -> float:
    """Where a point of a series, if it has one, is drawn along the axis of conditions."""
    if index is None:
        return x
    is_beside = chart.series[index].kind == "bars" or (chart.sideways and _is_side_by_side(chart))
    return sum(bar_span(x, index, len(chart.series))) / 2 if is_beside else x


def _is_side_by_side(chart: Chart) -> bool:
    if chart.has("bars") or chart.has("stack"):
        return chart.has("bars")
    wide = [p.x for s in chart.series for p in s.points if p.low is not None]
    return len(set(wide)) < len(wide)


def draw_bars(axes: Axes, chart: Chart, index: int, thickness: float) -> BarContainer:
    """The bars of a series with their intervals."""
    points, own = chart.series[index].points, look.style_of(chart, index)
    places = [place_of(chart, index, point.x) for point in points]
    drawn_as: look.Look = {
        "color": look.colour_of(own),
        "hatch": look.form_of(own, look.BAR_HATCHES),
        "edgecolor": look.GRID if own else look.colour_of(own),
        "linewidth": 0.6,
        "zorder": 2,
    }
    bars = _bars(axes, chart, places, [point.y for point in points], 0.0, thickness, drawn_as)
    _name(bars, index)
    draw_spread(axes, points, places, index, look.INK, sideways=chart.sideways)
    return bars


def draw_stack(axes: Axes, chart: Chart, index: int, thickness: float) -> BarContainer:
    """A part of a stack, as bars, because nothing was measured between the positions."""
    floors = chart.floors(index)
    lengths = {point.x: point.y for point in chart.series[index].points}
    own = [lengths.get(x, 0.0) for x in floors]
    drawn_as = look.stack_look(look.style_of(chart, index))
    bars = _bars(axes, chart, list(floors), own, list(floors.values()), thickness, drawn_as)
    _name(bars, index)
    return bars


def _bars(
    axes: Axes,
    chart: Chart,
    places: Sequence[float],
    lengths: Sequence[float],
    base: float | Sequence[float],
    thickness: float,
    drawn_as: look.Look,
) -> BarContainer:
    if chart.sideways:
        return axes.barh(places, lengths, left=base, height=thickness, **drawn_as)
    return axes.bar(places, lengths, bottom=base, width=thickness, **drawn_as)


def _name(bars: BarContainer, index: int) -> None:
    for place, bar in enumerate(bars):
        bar.set_gid(f"series-{index}-bar{place}")


def draw_published(
    axes: Axes, xs: Sequence[float], ys: Sequence[float], index: int, own: int
) -> Line2D:
    """Draw the marks of a published series; `own` is the number of its marker."""
    fill, form = divmod(own, len(look.PUBLISHED_MARKERS))
    (drawn,) = axes.plot(
        xs,
        ys,
        linestyle="none",
        marker=look.PUBLISHED_MARKERS[form],
        fillstyle=look.PUBLISHED_FILLS[fill % len(look.PUBLISHED_FILLS)],
        markersize=7,
        markerfacecolor=look.INK,
        markerfacecoloralt="none",
        markeredgecolor=look.INK,
        markeredgewidth=1.1,
        gid=f"published-{index}-0",
        zorder=4,
        clip_on=False,
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
            x = None if mark.x is None else place_of(chart, published.series, mark.x)
            at = placed(x, mark.y)
            found.append(Mark(*at, f"published-{index}", mark_text(chart, published, mark)))
    return found


_SMALL_LETTER_IN = 0.07
_DASHES: tuple[int, tuple[float, ...]] = (0, (4, 2))


def draw_level(axes: Axes, chart: Chart, index: int, number: int) -> Line2D:
    """Draw a line with its name above the end where it covers fewer points."""
    published = chart.published[index]
    mark = published.marks[number]
    line = axes.axhline(
        mark.y,
        color=look.INK,
        linestyle=_DASHES,
        linewidth=0.9,
        zorder=1.6,
        gid=f"published-{index}-{number}",
    )
    letter = _SMALL_LETTER_IN * axes.figure.dpi
    box, letters = axes.bbox, int(axes.bbox.width / letter)
    bottom = axes.transData.transform((axes.get_xlim()[0], mark.y))[1]
    points = [axes.transData.transform((p.x, p.y)) for s in chart.series for p in s.points]
    near = [x for x, y in points if -letter < y - bottom < 3 * letter]
    width = letter * len(published.label)
    at_left = sum(x < box.x0 + width for x in near) < sum(x > box.x1 - width for x in near)
    axes.annotate(
        textwrap.fill(published.label, max(12, letters)),
        (0.005 if at_left else 0.995, mark.y),
        xycoords=axes.get_yaxis_transform(),
        xytext=(0, 1.5),
        textcoords="offset points",
        ha="left" if at_left else "right",
        va="bottom",
        fontsize=7,
        color=look.INK,
        gid=f"published-{index}-{number}-name",
        # Keeps the name readable above the grid, and hides no data.
        bbox={"boxstyle": "square,pad=0.1", "facecolor": look.PAPER, "linewidth": 0, "alpha": 0.85},
        zorder=1.4,
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
    """Draw intervals, and next to them the trials if nothing overlaps."""
    transform = shifted(axes, offset_pt)
    look.draw_intervals(axes, points, places, index, colour, sideways=sideways, transform=transform)
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
