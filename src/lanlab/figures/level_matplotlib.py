"""A published number without a position on the axis: a line across the figure."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from lanlab.figures.chart import PublishedMark, PublishedSeries
from lanlab.figures.look_matplotlib import INK, PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SMALL_LETTER_IN = 0.07
_DASHES: Any = (0, (4, 2))


def draw_level(
    axes: Axes, published: PublishedSeries, mark: PublishedMark, index: int, number: int
) -> Any:
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
