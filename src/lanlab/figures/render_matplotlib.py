"""Charts as SVG, PDF and PNG, for print and for pages."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from lanlab.figures import look_matplotlib as look
from lanlab.figures.chart import Chart, Mark, bar_span
from lanlab.figures.drawing import load
from lanlab.figures.scale_matplotlib import (
    named_rows,
    rows_in,
    scale_axes,
    stack_width,
    tilted_names_in,
)
from lanlab.figures.series_matplotlib import (
    TRIALS_PT,
    draw_bars,
    draw_level,
    draw_published,
    draw_spread,
    draw_stack,
    has_bars,
    marks_of,
    place_of,
    series_offset_pt,
    shifted,
)
from lanlab.frozen import dataclass

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.container import Container
    from matplotlib.figure import Figure


FILE_KINDS: tuple[Literal["svg", "pdf", "png"], ...] = ("svg", "pdf", "png")
_PRINT_WIDTH_IN = 3.5
#: The resolution that journals require. `Z_RLE` takes two thirds of the time of the default.
_PNG: look.Look = {"png": {"dpi": 300, "pil_kwargs": {"compress_type": 3}}}
_PLOT_HEIGHT_IN = 3.1
#: Maximum markers of a line; more would hide it.
_MOST_MARKERS = 24
#: Height of the ticks and the name of the x axis.
_LABELS_IN = 0.6


@dataclass(frozen=True)
class Drawing:
    """A figure as SVG for a page, with tooltips for its points."""

    svg: str
    width: float
    height: float
    marks: tuple[Mark, ...]


def to_bytes(chart: Chart, kind: Literal["svg", "pdf", "png"]) -> bytes:
    """A figure for print. The same chart always gives the same bytes."""
    return to_files(chart, (kind,))[f".{kind}"]


def to_files(
    chart: Chart, kinds: Sequence[Literal["svg", "pdf", "png"]] = FILE_KINDS
) -> dict[str, bytes]:
    """A figure with its title as `.svg`, `.pdf` and `.png`, laid out once."""
    with load().rc_context(look.style(svg_text="path")):
        figure, _ = _draw(chart, _PRINT_WIDTH_IN, chart.title)
        return {f".{kind}": _saved(figure, kind) for kind in kinds}


def to_drawing(chart: Chart, prefix: str, width_in: float) -> Drawing:
    """
    A figure for a page.

    Args:
        prefix: Added to every id, so that a page can contain several figures.
        width_in: In inches of 72 points; letters keep their size.
    """
    with load().rc_context(look.style(svg_text="none")):
        figure, axes = _draw(chart, width_in)
        svg = _saved(figure, "svg").decode()
        height = float(figure.get_figheight()) * 72
        marks = tuple(marks_of(chart, axes, height))
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\bid=\"", f'id="{prefix}', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}", svg)
    svg = re.sub(r"href=\"#", f'href="#{prefix}', svg)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return Drawing(svg, width_in * 72, height, marks)


def _saved(figure: Figure, kind: str) -> bytes:
    target = io.BytesIO()
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None, "ModDate": None}, "png": {}}
    figure.savefig(
        target, format=kind, metadata=dates[kind], transparent=kind == "svg", **_PNG.get(kind, {})
    )
    return target.getvalue()


def _draw(chart: Chart, width_in: float, title: str = "") -> tuple[Figure, Axes]:
    # pyplot would keep every figure in memory and needs a display.
    from matplotlib.figure import Figure

    names = look.legend_names(chart)
    columns = look.legend_columns(names, width_in)
    legend_in = look.legend_height_in(names, columns, width_in)
    rows = named_rows(chart, width_in)
    # The legend must not be taller than the plot.
    plot_in = max(rows_in(chart, rows) if rows else _PLOT_HEIGHT_IN - _LABELS_IN, legend_in)
    height_in = _LABELS_IN + plot_in + legend_in
    figure = Figure(figsize=(width_in, height_in + tilted_names_in(chart, width_in)))
    axes = figure.add_subplot()
    scale_axes(chart, axes)
    entries: list[look.Entry] = []
    for index, series in enumerate(chart.series):
        entries.append((f"series-{index}", series.name, _draw_series(axes, chart, index)))
    for index, limit in enumerate(chart.limits):
        line = _draw_limit(axes, chart, index)
        entries.append((f"limit-{_first_of(chart, index)}", limit.name, line))
    labels = [published.label for published in chart.published]
    for index, published in enumerate(chart.published):
        for number, mark in enumerate(published.marks):
            if mark.x is None:
                # A level is drawn as a line with its name.
                draw_level(axes, chart, index, number)
        placed = [
            (place_of(chart, published.series, mark.x), mark.y)
            for mark in published.marks
            if mark.x is not None
        ]
        if placed:
            xs, ys = zip(*placed, strict=True)
            drawn = draw_published(
                axes, *chart.across(xs, ys), index, labels.index(published.label)
            )
            entries.append((f"published-{index}", published.label, drawn))
    entries += _draw_bands(axes, chart)
    _draw_shapes(axes, chart)
    if chart.is_empty:
        axes.text(0.5, 0.5, chart.empty, ha="center", transform=axes.transAxes, color=look.MUTED)
    if names:
        look.draw_legend(figure, entries, columns)
    look.lay_out(figure, legend_in, title)
    return figure, axes


def _first_of(chart: Chart, index: int) -> int:
    """Limits of one name have one entry in the legend, which hides them all."""
    return [limit.name for limit in chart.limits].index(chart.limits[index].name)


def _draw_limit(axes: Axes, chart: Chart, index: int) -> Artist:
    """Draw a limit; the result is what the legend shows."""
    limit = chart.limits[index]
    colour, lines = look.INK, look.LIMIT_LINES
    if limit.kind == "guide":
        colour, lines = look.MUTED, look.GUIDE_LINES
    names = list(dict.fromkeys(one.name for one in chart.limits if one.kind == limit.kind))
    # Limits differ by their dashes. Dashes would hide what is short.
    is_short = chart.is_of_bars(limit)
    dashes = "-" if is_short else lines[names.index(limit.name) % len(lines)]
    drawn_as: look.Look = {"linestyle": dashes, "linewidth": 1.0, "zorder": 1.5}
    own = None if is_short else limit.series
    several = sum(one.name == limit.name for one in chart.limits) > 1
    of_series = colour if own is None else look.colour_of(look.style_of(chart, own))
    xs, ys = zip(*chart.line_of(limit), strict=True)
    gid = f"limit-{_first_of(chart, index)}-line{index}"
    (line,) = axes.plot(*chart.across(xs, ys), color=of_series, gid=gid, **drawn_as)
    if not several:
        return line
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, **drawn_as)


def _draw_shapes(axes: Axes, chart: Chart) -> None:
    for index, shape in enumerate(chart.shapes):
        ys, halves = zip(*shape.outline, strict=True)
        axes.fill_betweenx(
            ys,
            [shape.x - half for half in halves],
            [shape.x + half for half in halves],
            facecolor=look.FILLS[0],
            edgecolor=look.colour_of(0),
            alpha=0.3,
            linewidth=0.8,
            zorder=1.2,
            gid=f"shape-{index}",
        )


def _draw_bands(axes: Axes, chart: Chart) -> list[look.Entry]:
    names = chart.band_names()
    shown: look.Look = {}
    for index, band in enumerate(chart.bands):
        kind = names.index(band.name)
        drawn = axes.axvspan(
            band.x_low,
            band.x_high,
            facecolor=look.FILLS[(kind + len(look.COLOURS)) % len(look.FILLS)],
            hatch=look.HATCHES[(kind + 1) % len(look.HATCHES)],
            edgecolor=look.GRID,
            alpha=0.35,
            linewidth=0,
            zorder=0.5,
            gid=f"band-{index}",
        )
        shown.setdefault(band.name, drawn)
    return [(f"band-{names.index(name)}", name, drawn) for name, drawn in shown.items()]


def _draw_series(axes: Axes, chart: Chart, index: int) -> Artist | Container:
    series = chart.series[index]
    if series.kind == "stack":
        return draw_stack(axes, chart, index, stack_width(chart, list(chart.floors(index))))
    if has_bars(chart, index):
        left, right = bar_span(0, index, len(chart.series))
        return draw_bars(axes, chart, index, 0.94 * (right - left))
    xs = [place_of(chart, index, point.x) for point in series.points]
    offset_pt = series_offset_pt(chart, index)
    own = look.style_of(chart, index)
    marker = look.form_of(own, look.MARKERS)
    # Lines with points have markers; other lines differ by their dashes.
    line_style = {"line": "-", "bound": look.LINES[index % len(look.LINES)]}.get(
        series.kind, "none"
    )
    (line,) = axes.plot(
        *chart.across(xs, [point.y for point in series.points]),
        color=look.colour_of(own),
        linestyle=line_style,
        marker="none" if series.kind == "bound" else marker,
        markersize=4.5,
        markevery=-(-len(xs) // _MOST_MARKERS) or 1,
        gid=f"series-{index}-line",
        zorder=3,
        transform=shifted(axes, offset_pt),
    )
    draw_spread(
        axes,
        series.points,
        xs,
        index,
        look.colour_of(own),
        offset_pt=offset_pt,
        # On a numeric axis, the rings of trials stay at their points' positions.
        beside_pt=TRIALS_PT if chart.x.categories else 0.0,
        sideways=chart.sideways,
    )
    known = [(p.y, p.x_low or 0.0, p.x_high) for p in series.points if p.x_high is not None]
    across: look.Look = {"color": look.colour_of(own), "linewidth": 1.0, "marker": "|"}
    for place, (y, *ends) in enumerate(known):
        (drawn,) = axes.plot(ends, [y] * 2, markersize=6, **across)
        drawn.set(gid=f"series-{index}-across{place}", zorder=3.5)
        if ends[1] > axes.get_xlim()[1]:
            edge: look.Look = {"marker": ">", "markersize": 5, "clip_on": False, "zorder": 3.9}
            edge["gid"] = f"series-{index}-over{place}"
            axes.plot(axes.get_xlim()[1], y, color=look.colour_of(own), **edge)
    for place, point in enumerate(series.points):
        if point.label:
            axes.annotate(
                point.label,
                (point.x, point.y),
                xytext=(4, 4),
                textcoords="offset points",
                fontsize=7,
                color=look.INK,
                gid=f"series-{index}-label{place}",
                zorder=5,
            )
    return line
