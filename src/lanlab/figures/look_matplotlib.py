"""Colours, fonts, intervals and legend, the same in every drawing."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from lanlab.figures.chart import Chart, Point
from lanlab.figures.scale_matplotlib import LETTER_IN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Transform

_Form = TypeVar("_Form")
#: The group of a legend entry, its name, and what is drawn.
Entry = tuple[str, str, Any]
#: Keyword arguments of matplotlib.
Look = dict[str, Any]
INK = "#1b1f24"
GRID = "#dfe3e8"
MUTED = "#5b6470"
#: Colours of M. Okabe and K. Ito (2008) with enough contrast on white; each series also has its own
#: marker and line style.
COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#aa4499"),
    *("#332288", "#7f7000", "#882255", "#117799"),
)
#: Colours of stacked areas; outlines and patterns make up for the low contrast of lighter ones.
FILLS = (*COLOURS[:4], "#e69f00", "#56b4e9", "#f0e442", "#9aa3ad", "#6b7480")
HATCHES = (None, "///", "...", "xx", "\\\\\\", None, "---", "+++", "|||")
#: Those of bars, of which only the first is plain.
BAR_HATCHES = (*HATCHES[:5], "oo", *HATCHES[6:])
PAPER = "#fefefe"
#: Outlines and patterns of stacked areas; similar to `INK`, but also dark on a dark page.
HATCH = "#1b1f25"
MARKERS = ("o", "s", "^", "v", "d", "p", "+", "x")
#: Dashes distinguish physical limits from guides for the eye.
LIMIT_LINES: tuple[tuple[int, tuple[float, ...]], ...] = (
    *((0, (7, 2, 1.5, 2)), (0, (12, 3)), (0, (4, 1.5, 1, 1.5, 1, 1.5)), (0, (3, 1.5))),
)
GUIDE_LINES: tuple[tuple[int, tuple[float, ...]], ...] = ((0, (1, 2)), (0, (1, 5)), (0, (1, 1)))
#: For lines without markers.
LINES: tuple[Any, ...] = (
    *("-", (0, (6, 1.5)), (0, (3, 1.2, 1, 1.2)), (0, (1.5, 1))),
    *((0, (10, 3)), (0, (6, 1.5, 1, 1.5, 1, 1.5)), (0, (3, 3)), (0, (1, 3))),
)
PUBLISHED_MARKERS = ("D", "P", "X", "*", "<", ">")
#: When all markers are used, the next series have the same markers filled.
PUBLISHED_FILLS: tuple[Any, ...] = ("none", "full", "left")

LEGEND_ROW_IN = 0.165
_HANDLE_IN = 0.53
_LEGEND_LETTER_IN = 0.066


def style_of(chart: Chart, index: int) -> int:
    """The index of a series' style: its own, or its position."""
    own = chart.series[index].style
    return index if own is None else own


def colour_of(style: int) -> str:
    return COLOURS[style % len(COLOURS)]


def form_of(style: int, forms: Sequence[_Form]) -> _Form:
    """The marker, line or pattern of a style. A form repeats with the same colour only after all
    other forms.
    """
    return forms[sum(divmod(style, len(COLOURS))) % len(forms)]


def style(svg_text: str) -> Look:
    """Settings of matplotlib; `svg_text` is `path`, or `none` to keep text as text in SVG."""
    inks = ("axes.labelcolor", "text.color", "xtick.labelcolor", "ytick.labelcolor")
    return {
        "svg.fonttype": svg_text,
        # Without this, dollar signs in names would start formulas.
        "text.parse_math": False,
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
        "font.size": 8.5,
        "axes.labelsize": 8.5,
        **dict.fromkeys(inks, INK),
        **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), MUTED),
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": GRID,
        "grid.linewidth": 0.6,
        **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 8),
        "legend.frameon": False,
        "lines.linewidth": 1.4,
        "hatch.linewidth": 0.5,
        "svg.hashsalt": "lanlab",
        "pdf.fonttype": 42,
    }


def stack_look(own: int) -> Look:
    return {
        "facecolor": FILLS[own % len(FILLS)],
        "hatch": HATCHES[own % len(HATCHES)],
        "edgecolor": HATCH,
        "linewidth": 0.5,
        "zorder": 2,
    }


def legend_names(chart: Chart) -> list[str]:
    limits = [limit.name for limit in chart.limits]
    series = [series.name for series in chart.series]
    # A level has its name at its line, not in the legend.
    marked = [one for one in chart.published if any(mark.x is not None for mark in one.marks)]
    names = series + limits + [published.label for published in marked]
    names += chart.band_names()
    # Equal names share a legend entry. The axis of rows names a single series.
    return [] if chart.sideways and len(names) == 1 else list(dict.fromkeys(names))


def legend_columns(names: list[str], width_in: float) -> int:
    longest_in = _HANDLE_IN + _LEGEND_LETTER_IN * max(map(len, names), default=1)
    return max(1, min(len(names), int(width_in / longest_in)))


def wrapped(name: str, width_in: float) -> str:
    """A name wrapped to at most three lines of a legend of that width."""
    letters = max(12, int((width_in - _HANDLE_IN) / _LEGEND_LETTER_IN))
    return textwrap.fill(name, letters, max_lines=3, placeholder=" …")


def lay_out(figure: Figure, legend_in: float, title: str) -> None:
    """Make room for the legend, and in a file for the title."""
    title_in = 0.0
    if title:
        text = textwrap.fill(title, int(figure.get_figwidth() / LETTER_IN))
        title_in = 0.1 + LEGEND_ROW_IN * (text.count("\n") + 1)
        figure.set_figheight(figure.get_figheight() + title_in)
        # Above the figure, because names of rows may leave little room above the axes.
        title_look: Look = {"ha": "left", "va": "top", "fontsize": 9, "fontweight": "bold"}
        # The layout would reserve its height a second time.
        figure.suptitle(text, x=0.01, y=0.99, **title_look).set_in_layout(False)
    from matplotlib.layout_engine import TightLayoutEngine

    height_in = figure.get_figheight()
    rect = (0, legend_in / height_in, 1, 1 - title_in / height_in)
    # `figure.tight_layout` would leave an engine, for which each file is drawn twice.
    TightLayoutEngine(pad=0.6, rect=rect).execute(figure)


def legend_height_in(names: list[str], columns: int, width_in: float) -> float:
    """The height of a legend. Only a single column wraps names."""
    lines = [wrapped(name, width_in).count("\n") + 1 for name in names]
    rows = sum(lines) if columns == 1 else -(-len(names) // columns)
    return 0.12 + LEGEND_ROW_IN * rows


def draw_legend(figure: Figure, entries: list[Entry], columns: int) -> None:
    if not entries:
        return
    named: dict[str, Entry] = {}
    for entry in entries:
        named.setdefault(entry[1], entry)
    entries = list(named.values())
    legend = figure.legend(
        [handle for *_, handle in entries],
        [wrapped(name, figure.get_figwidth()) for _, name, _ in entries],
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


def draw_intervals(
    axes: Axes,
    points: Sequence[Point],
    places: Sequence[float],
    index: int,
    colour: str,
    *,
    sideways: bool = False,
    transform: Transform | None = None,
) -> None:
    """The intervals of a series' points, if any; horizontal if the conditions are rows."""
    known = [
        (place, point.y, point.low, point.high)
        for place, point in zip(places, points, strict=True)
        if point.low is not None and point.high is not None
    ]
    if not known:
        return
    at, ys, lows, highs = zip(*known, strict=True)
    # Converting units may move an end beyond its mean by rounding.
    reach = [
        [max(0.0, y - low) for y, low in zip(ys, lows, strict=True)],
        [max(0.0, high - y) for y, high in zip(ys, highs, strict=True)],
    ]
    look: Look = {"fmt": "none", "ecolor": colour}
    if transform is not None:
        look["transform"] = transform
    if sideways:
        drawn = axes.errorbar(ys, at, xerr=reach, elinewidth=1.2, capsize=2.5, zorder=2.8, **look)
    else:
        drawn = axes.errorbar(at, ys, yerr=reach, elinewidth=1.0, capsize=3, zorder=3.5, **look)
    _, caps, bars = drawn.lines
    for number, part in enumerate((*caps, *bars)):
        part.set_gid(f"series-{index}-interval{number}")
    ends, sides = axes.get_ylim(), axes.get_xlim()
    if sideways:
        ends, sides = sides, ends
    # Marks are not clipped, so skip points that are out of view.
    seen = [one for one in known if min(sides) <= one[0] <= max(sides)]
    for name, edge, marks, beyond in (
        ("under", ends[0], "<v", [place for place, _, low, _ in seen if low < ends[0]]),
        ("over", ends[1], ">^", [place for place, _, _, high in seen if high > ends[1]]),
    ):
        if beyond:
            edges = [edge] * len(beyond)
            axes.plot(
                edges if sideways else beyond,
                beyond if sideways else edges,
                linestyle="none",
                marker=marks[not sideways],
                markersize=5,
                color=colour,
                clip_on=False,
                zorder=3.9,
                gid=f"series-{index}-{name}",
                transform=axes.transData if transform is None else transform,
            )
