"""Charts of cells: each series is a row, x is horizontal, and shades show values."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from lanlab.figures import look_matplotlib as look
from lanlab.figures.chart import Cells, Chart, Mark, Series, point_text
from lanlab.figures.number_text import plain
from lanlab.figures.scale_matplotlib import ROUND

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


BOUNDS_PERCENT = (0.0, 0.1, 1.0, 5.0, 20.0, 50.0)
_ROW_IN = 0.22
_LEAST_IN = 1.1
_HEIGHT = 0.9
_MISSING = "missing-0"
_NONE, _NOT_KNOWN = "none lost", "not known"


def shade_of(percent: float) -> int:
    """The index of a value's shade. Values below zero count as none."""
    return sum(percent > bound for bound in BOUNDS_PERCENT)


def draw_cells(chart: Chart, cells: Cells, width_in: float, title: str) -> tuple[Figure, Axes]:
    """Draw the rows from the bottom up, and a legend with all shades."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    xs = [point.x for series in chart.series for point in series.points]
    columns = 1 + max((_column(x, cells.width) for x in xs), default=-1)
    is_missing = any(len(series.points) < columns for series in chart.series)
    names = [
        *_shade_names(),
        *([_NOT_KNOWN] if is_missing else []),
        *(limit.name for limit in chart.limits),
    ]
    legend_in = look.legend_height_in(names, look.legend_columns(names, width_in), width_in)
    rows = max(1, len(chart.series))
    height_in = 0.62 + max(_LEAST_IN, _ROW_IN * rows, legend_in) + legend_in
    figure = Figure(figsize=(width_in, height_in))
    axes = figure.add_subplot()
    axes.grid(visible=False)
    axes.set_yticks(range(len(chart.series)), [series.name for series in chart.series])
    axes.set_ylim(-0.6, rows - 0.4)
    axes.set_ylabel(cells.rows)
    axes.set_xlabel(chart.x.label)
    axes.set_xlim(0, max(1, columns) * cells.width)
    axes.xaxis.set_major_locator(MaxNLocator(7, steps=ROUND))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    entries = _shades_of_legend(is_missing)
    for row, series in enumerate(chart.series):
        _draw_row(axes, series, row, columns, cells.width)
    for index, limit in enumerate(chart.limits):
        x, gid = limit.points[0][0], f"limit-{index}"
        axes.axvline(x, color=look.GRID, linewidth=2.6, zorder=2.9, gid=f"{gid}-halo")
        drawn_as: look.Look = {"color": look.INK, "linestyle": (0, (4, 2)), "linewidth": 1.2}
        line = axes.axvline(x, zorder=3, gid=f"{gid}-line", **drawn_as)
        entries.append((gid, limit.name, line))
    if chart.is_empty:
        axes.text(0.5, 0.5, chart.empty, ha="center", transform=axes.transAxes, color=look.MUTED)
        axes.set_yticks([])
    look.draw_legend(figure, entries, look.legend_columns(names, width_in))
    look.lay_out(figure, legend_in, title)
    return figure, axes


def cell_marks(chart: Chart, axes: Axes, height: float) -> list[Mark]:
    scale = 72 / axes.figure.dpi
    found = []
    for row, series in enumerate(chart.series):
        for point in series.points:
            left, top = axes.transData.transform((point.x, row))
            group = f"shade-{shade_of(point.y)}"
            place = float(left) * scale, height - float(top) * scale
            found.append(Mark(*place, group, point_text(chart, series, point)))
    return found


def _column(x: float, width: float) -> int:
    return int(x / width)


def _draw_row(axes: Axes, series: Series, row: int, columns: int, width: float) -> None:
    shades = {_column(point.x, width): shade_of(point.y) for point in series.points}
    by_shade: dict[int | None, list[tuple[float, float]]] = {}
    for shade, same in groupby(range(columns), shades.get):
        first, *others = same
        by_shade.setdefault(shade, []).append((first * width, (1 + len(others)) * width))
    extent = (row - _HEIGHT / 2, _HEIGHT)
    for shade, spans in by_shade.items():
        group = _MISSING if shade is None else f"shade-{shade}"
        axes.broken_barh(spans, extent, gid=f"{group}-row{row}", zorder=2, **_look(shade))


def _look(shade: int | None) -> look.Look:
    if shade is None:
        return {"facecolor": "none", "edgecolor": look.MUTED, "hatch": "////", "linewidth": 0.0}
    # Without an edge, a thin line of the background would appear between neighbours.
    return {"facecolor": look.SHADES[shade], "edgecolor": look.SHADES[shade], "linewidth": 0.3}


def _shade_names() -> list[str]:
    below = [f"up to {plain(bound)} %" for bound in BOUNDS_PERCENT[1:]]
    return [_NONE, *below, f"more than {plain(BOUNDS_PERCENT[-1])} %"]


def _shades_of_legend(is_missing: bool) -> list[look.Entry]:
    from matplotlib.patches import Patch

    entries: list[look.Entry] = [
        (f"shade-{shade}", name, Patch(**_look(shade))) for shade, name in enumerate(_shade_names())
    ]
    if is_missing:
        entries.append((_MISSING, _NOT_KNOWN, Patch(**_look(None))))
    return entries
