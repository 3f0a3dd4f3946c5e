"""Draws a point's interval, and a ring for each of its trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanlab.figures.chart import Chart, Point
from lanlab.figures.look_matplotlib import draw_intervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

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
        sideways: Whether that axis is vertical.
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
