"""Charts as SVG and PDF: for print, and to stand in a page."""

from __future__ import annotations

import io
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from lanlab.figures.chart import Chart, Limit, Point, bar_span
from lanlab.figures.scale_matplotlib import LETTER_IN, scale_axes, tilted_names_in
from lanlab.figures.wording import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#1b1f24"
GRID = "#dfe3e8"
MUTED = "#5b6470"
#: Of the palette of M. Okabe and K. Ito (2008) those with enough contrast on white; each series
#: has a marker and a line style of its own besides.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#aa4499")
#: Of stacked areas, whose outlines and patterns make up for what lighter colours lack in contrast.
FILLS = (*COLOURS, "#e69f00", "#56b4e9", "#f0e442", "#9aa3ad", "#6b7480")
_HATCHES = (None, "///", "...", "xx", "\\\\\\", None, "---", "+++", "|||")
#: Outlines and patterns of stacked areas; nearly `INK`, but dark on a dark page too.
HATCH = "#1b1f25"
_MARKERS = ("o", "s", "^", "v")
_LINES: tuple[Any, ...] = ("-", (0, (6, 1.5)), (0, (3, 1.2, 1, 1.2)), (0, (1.5, 1)))
_PUBLISHED_MARKERS = ("D", "P", "X", "*", "<", ">")

_PRINT_WIDTH_IN = 6.4
_PLOT_HEIGHT_IN = 3.1
_LEGEND_ROW_IN = 0.165


@dataclass(frozen=True)
class Mark:
    """A place in a drawn figure that has something to say."""

    #: From the left and top, in the figure's points.
    x: float
    y: float
    #: As in `series-0` or `published-1`.
    group: str
    text: str


@dataclass(frozen=True)
class Drawing:
    """A figure as SVG, to stand in a page, with what to show at its points."""

    svg: str
    width: float
    height: float
    marks: tuple[Mark, ...]


def to_bytes(chart: Chart, kind: Literal["svg", "pdf", "png"]) -> bytes:
    """A figure for print; the same chart gives the same bytes."""
    import matplotlib

    with matplotlib.rc_context(_style(svg_text="path")):
        figure, _ = _draw(chart, _PRINT_WIDTH_IN)
        return _saved(figure, kind)


def to_drawing(chart: Chart, prefix: str, width_in: float) -> Drawing:
    """A figure to stand in a page.

    Args:
        chart: What to draw.
        prefix: Put before every id, so that several figures can stand in one page.
        width_in: In inches of 72 points; the letters keep their size.
    """
    import matplotlib

    with matplotlib.rc_context(_style(svg_text="none")):
        figure, axes = _draw(chart, width_in)
        svg = _saved(figure, "svg").decode()
        height = figure.get_figheight() * 72
        marks = tuple(_marks(chart, axes, height))
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\bid=\"", f'id="{prefix}', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}", svg)
    svg = re.sub(r"href=\"#", f'href="#{prefix}', svg)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return Drawing(svg, width_in * 72, height, marks)


def _style(svg_text: str) -> Any:
    return {
        "svg.fonttype": svg_text,
        # A dollar in a name is a dollar.
        "text.parse_math": False,
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
        "font.size": 8.5,
        "axes.labelsize": 8.5,
        "axes.edgecolor": MUTED,
        "axes.labelcolor": INK,
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": GRID,
        "grid.linewidth": 0.6,
        "text.color": INK,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "legend.fontsize": 8,
        "legend.frameon": False,
        "lines.linewidth": 1.4,
        "svg.hashsalt": "lanlab",
        "pdf.fonttype": 42,
        "hatch.linewidth": 0.5,
    }


def _saved(figure: Figure, kind: str) -> bytes:
    target = io.BytesIO()
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None, "ModDate": None}, "png": {}}
    resolution = {"dpi": 160} if kind == "png" else {}
    figure.savefig(
        target, format=kind, metadata=dates[kind], transparent=kind == "svg", **resolution
    )
    return target.getvalue()


def _draw(chart: Chart, width_in: float) -> tuple[Figure, Axes]:
    # Not through pyplot: it keeps every figure and asks for a display.
    from matplotlib.figure import Figure

    names = _legend_names(chart)
    columns = _legend_columns(names, width_in)
    legend_in = 0.12 + _LEGEND_ROW_IN * -(-len(names) // columns)
    height_in = _PLOT_HEIGHT_IN + tilted_names_in(chart, width_in) + legend_in
    figure = Figure(figsize=(width_in, height_in))
    axes = figure.add_subplot()
    scale_axes(chart, axes)
    entries: list[tuple[str, str, Any]] = []
    for index, series in enumerate(chart.series):
        draw = {"bars": _draw_bars, "stack": _draw_stack}.get(series.kind, _draw_points)
        entries.append((f"series-{index}", series.name, draw(axes, chart, index)))
    for index, limit in enumerate(chart.limits):
        style: dict[str, Any]
        if limit.kind == "guide":
            style = {"color": MUTED, "linestyle": (0, (1, 2)), "linewidth": 1.0}
        else:
            colour = INK if limit.series is None else _colour(limit.series)
            style = {"color": colour, "linestyle": (0, (7, 2, 1.5, 2)), "linewidth": 1.0}
        xs, ys = zip(*_with_gaps(limit), strict=True)
        (line,) = axes.plot(xs, ys, zorder=1.5, gid=f"limit-{index}-line", **style)
        entries.append((f"limit-{index}", limit.name, line))
    for index, published in enumerate(chart.published):
        for number_, mark in enumerate(published.marks):
            # A level of the whole figure stands at its right edge.
            at_edge = mark.x is None
            (drawn,) = axes.plot(
                [0.985 if mark.x is None else mark.x],
                [mark.y],
                linestyle="none",
                marker=_PUBLISHED_MARKERS[index % len(_PUBLISHED_MARKERS)],
                markersize=7,
                markerfacecolor="none",
                markeredgecolor=INK,
                markeredgewidth=1.1,
                transform=axes.get_yaxis_transform() if at_edge else axes.transData,
                gid=f"published-{index}-{number_}",
                zorder=4,
                clip_on=False,
            )
            if number_ == 0:
                entries.append((f"published-{index}", published.label, drawn))
    if chart.is_empty:
        axes.text(
            0.5, 0.5, "nothing was measured", ha="center", transform=axes.transAxes, color=MUTED
        )
    _legend(figure, entries, columns)
    figure.tight_layout(pad=0.6, rect=(0, legend_in / height_in, 1, 1))
    # Places what only drawing places, such as the names of the axes.
    figure.draw_without_rendering()
    return figure, axes


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def _draw_points(axes: Axes, chart: Chart, index: int) -> Any:
    """Draws a series and gives what the legend shows."""
    series = chart.series[index]
    xs = [point.x for point in series.points]
    # Beyond as many as there are colours, no colour comes with the same marker and line again.
    turn = index + index // len(COLOURS)
    marker = _MARKERS[turn % len(_MARKERS)]
    style = _LINES[turn % len(_LINES)] if series.kind == "line" else "none"
    (line,) = axes.plot(
        xs,
        [point.y for point in series.points],
        color=_colour(index),
        linestyle=style,
        marker=marker,
        markersize=4.5,
        gid=f"series-{index}-line",
        zorder=3,
    )
    _draw_spread(axes, series.points, xs, index, _colour(index))
    return line


def _draw_bars(axes: Axes, chart: Chart, index: int) -> Any:
    """As `_draw_points`."""
    series, count = chart.series[index], len(chart.series)
    left, right = bar_span(0, index, count)
    xs = [_bar_x(point, index, count) for point in series.points]
    bars = axes.bar(
        xs,
        [point.y for point in series.points],
        width=0.94 * (right - left),
        color=_colour(index),
        hatch=(None, "///", "...", "xx")[index % 4],
        edgecolor=GRID if index % 4 else _colour(index),
        linewidth=0.6,
        zorder=2,
    )
    for place, bar in enumerate(bars):
        bar.set_gid(f"series-{index}-bar{place}")
    _draw_spread(axes, series.points, xs, index, INK)
    return bars


def _draw_stack(axes: Axes, chart: Chart, index: int) -> Any:
    """As `_draw_points`."""
    series, floors = chart.series[index], chart.floors(index)
    heights = {point.x: point.y for point in series.points}
    own = index if series.style is None else series.style
    look: dict[str, Any] = {
        "facecolor": FILLS[own % len(FILLS)],
        "hatch": _HATCHES[own % len(_HATCHES)],
        "edgecolor": HATCH,
        "linewidth": 0.5,
        "zorder": 2,
    }
    xs, base = list(floors), list(floors.values())
    own_heights = [heights.get(x, 0.0) for x in xs]
    if chart.x.categories or len(xs) < 2:
        # A single place on an axis has no area.
        width = 0.8 if chart.x.categories else 0.08 * (max(xs, default=0.0) or 1.0)
        bars = axes.bar(xs, own_heights, width=width, bottom=base, **look)
        for place, bar in enumerate(bars):
            bar.set_gid(f"series-{index}-bar{place}")
        return bars
    tops = [low + high for low, high in zip(base, own_heights, strict=True)]
    area = axes.fill_between(xs, base, tops, **look)
    area.set_gid(f"series-{index}-area")
    return area


def _bar_x(point: Point, index: int, count: int) -> float:
    return sum(bar_span(point.x, index, count)) / 2


def _with_gaps(limit: Limit) -> list[tuple[float, float]]:
    if not limit.in_pairs:
        return list(limit.points)
    pairs = zip(limit.points[::2], limit.points[1::2], strict=True)
    return [place for pair in pairs for place in (*pair, (math.nan, math.nan))]


def _draw_spread(
    axes: Axes, points: tuple[Point, ...], xs: list[float], index: int, colour: str
) -> None:
    """Intervals, and a small dot for each trial."""
    known = [
        (x, p, p.low, p.high)
        for x, p in zip(xs, points, strict=True)
        if p.low is not None and p.high is not None
    ]
    if known:
        drawn = axes.errorbar(
            [x for x, *_ in known],
            [p.y for _, p, *_ in known],
            yerr=[
                [p.y - low for _, p, low, _ in known],
                [high - p.y for _, p, _, high in known],
            ],
            fmt="none",
            ecolor=colour,
            elinewidth=1.0,
            capsize=3,
            zorder=3.5,
        )
        _, caps, bars = drawn.lines
        for number_, part in enumerate((*caps, *bars)):
            part.set_gid(f"series-{index}-interval{number_}")
    axes.plot(
        [x for x, p in zip(xs, points, strict=True) for _ in p.trials],
        [trial for p in points for trial in p.trials],
        linestyle="none",
        marker=".",
        markersize=2.6,
        markeredgewidth=0,
        color=colour,
        alpha=0.45,
        gid=f"series-{index}-trials",
        zorder=3.2,
    )


def _legend_names(chart: Chart) -> list[str]:
    limits = [limit.name for limit in chart.limits]
    series = [series.name for series in chart.series]
    return series + limits + [published.label for published in chart.published]


def _legend_columns(names: list[str], width_in: float) -> int:
    """As many columns as the longest entry leaves room for."""
    handle_in = 0.55
    longest_in = handle_in + LETTER_IN * max(map(len, names), default=1)
    return max(1, min(len(names), int(width_in / longest_in)))


def _legend(figure: Figure, entries: list[tuple[str, str, Any]], columns: int) -> None:
    """Below the axes: what was measured, then limits, then what was published."""
    if not entries:
        return
    legend = figure.legend(
        [handle for *_, handle in entries],
        [name for _, name, _ in entries],
        loc="lower center",
        ncols=columns,
        handlelength=2.6,
        columnspacing=1.4,
        borderaxespad=0.2,
    )
    parts = zip(entries, legend.get_texts(), legend.legend_handles, strict=True)
    for (group, *_), text, handle in parts:
        text.set_gid(f"legend-{group}-text")
        if handle is not None:
            handle.set_gid(f"legend-{group}-handle")


def _marks(chart: Chart, axes: Axes, height: float) -> list[Mark]:
    """Where the points of a drawn chart are, and what they say."""
    scale = 72 / axes.figure.dpi
    unit = f" {chart.y.unit}" if chart.y.unit else ""

    def place(x: float | None, y: float) -> tuple[float, float]:
        if x is None:
            left, top = axes.get_yaxis_transform().transform((0.985, y))
        else:
            left, top = axes.transData.transform((x, y))
        return float(left) * scale, height - float(top) * scale

    found = []
    for index, series in enumerate(chart.series):
        floors = chart.floors(index) if series.kind == "stack" else {}
        for point in series.points:
            x, y = point.x, point.y
            if series.kind == "bars":
                x = _bar_x(point, index, len(chart.series))
            elif series.kind == "stack":
                if y == 0:
                    # Nothing is drawn there, and the mark would lie on its neighbour's edge.
                    continue
                y = floors[x] + y / 2
            named = ", ".join(filter(None, [point.condition, series.name]))
            subject = named if series.kind == "stack" else point.condition or series.name
            text = f"{subject}: {number(point.y)}{unit}"
            if point.low is not None and point.high is not None:
                text += f" (95 % {number(point.low)} … {number(point.high)})"
            count = len(point.trials)
            text += f", {count} trial{'s' if count != 1 else ''}"
            found.append(Mark(*place(x, y), f"series-{index}", text))
    for index, published in enumerate(chart.published):
        for mark in published.marks:
            text = f"{published.label}: {number(mark.y)}{unit}; {mark.printed}"
            found.append(Mark(*place(mark.x, mark.y), f"published-{index}", text))
    return found
