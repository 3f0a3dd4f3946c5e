"""A figure as part of a page: a wide and a narrow drawing, and the table of its data."""

from __future__ import annotations

from collections.abc import Callable

from lanlab.figures.chart import Chart
from lanlab.figures.drawing import begin
from lanlab.figures.number_text import number
from lanlab.figures.render_matplotlib import Drawing, to_drawing, to_files
from lanlab.frozen import dataclass
from lanlab.report.document.table import Column, Table, cell

#: In inches of 72 points; letters have the same size in wide and narrow drawings.
_WIDE_IN, _NARROW_IN = 9.0, 4.0


@dataclass(frozen=True)
class FigureOnPage:
    name: str
    chart: Chart
    published_as: str
    wide: Drawing
    narrow: Drawing
    files: Callable[[], dict[str, bytes]]
    table: Table


def figure_on_page(chart: Chart, published_as: str, name: str) -> FigureOnPage:
    """A chart with its drawings and table; `name` must be unique on the page."""
    columns = tuple(
        Column(heading, heading, is_number=place > 1)
        for place, heading in enumerate(chart.columns())
    )
    rows = tuple(
        tuple(cell(value, number if isinstance(value, float) else str) for value in row)
        for row in chart.rows()
    )
    wide, narrow = (
        begin(to_drawing, chart, f"{name}-{of}-", width_in)
        for of, width_in in (("wide", _WIDE_IN), ("narrow", _NARROW_IN))
    )
    files = begin(to_files, chart)
    return FigureOnPage(
        name=name,
        chart=chart,
        published_as=published_as,
        wide=wide(),
        narrow=narrow(),
        files=files,
        table=Table(name, chart.title, columns, rows),
    )
