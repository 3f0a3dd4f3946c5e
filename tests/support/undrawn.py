"""
A stand-in for drawing. A figure of a report takes 0.2 s of a processor, a report of a study some
seconds; most tests ask what is written around figures. `tests/figures/test_render.py` compares what
it says with what is drawn.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape

import pytest

from lanlab.figures import drawing, render_matplotlib
from lanlab.figures.chart import Chart, Mark, mark_text, point_text
from lanlab.figures.look_matplotlib import legend_names
from lanlab.figures.render_matplotlib import Drawing
from lanlab.report.page import figure_page


@contextmanager
def nothing_drawn() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render_matplotlib, "to_files", stand_in_files)
        patch.setattr(figure_page, "to_files", stand_in_files)
        patch.setattr(figure_page, "to_drawing", stand_in)
        # Others would have the functions that were not replaced.
        patch.setattr(drawing, "usable_processors", lambda: 1)
        yield


@pytest.fixture
def drawn() -> None:
    """Asked for by a test of a folder with `undrawn` whose figures must be real."""


@pytest.fixture(autouse=True)
def undrawn(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where a `conftest.py` imports this, nothing is drawn but in tests that ask for `drawn`."""
    if "drawn" in request.fixturenames:
        yield
    else:
        with nothing_drawn():
            yield


def stand_in_files(chart: Chart) -> dict[str, bytes]:
    """In place of `to_files`: the same files, with the chart's words."""
    return {".svg": _svg(chart, "").encode(), ".pdf": b"%PDF-stand-in", ".png": b"\x89PNG"}


def stand_in(chart: Chart, prefix: str, width_in: float) -> Drawing:
    """In place of `to_drawing`: all marks with their texts, in one place."""
    marks = [
        Mark(1.0, 1.0, f"series-{index}", point_text(chart, series, point))
        for index, series in enumerate(chart.series)
        for point in series.points
    ]
    marks += [
        Mark(1.0, 1.0, f"published-{index}", mark_text(chart, published, mark))
        for index, published in enumerate(chart.published)
        for mark in published.marks
    ]
    return Drawing(_svg(chart, prefix), 72 * width_in, 72.0, tuple(marks))


def _svg(chart: Chart, prefix: str) -> str:
    words = [chart.x.label, chart.y.label, *chart.x.categories, *legend_names(chart)]
    if chart.is_empty:
        words.append(chart.empty)
    texts = "".join(f"<text>{escape(word)}</text>" for word in words)
    return f'<svg xmlns="http://www.w3.org/2000/svg" id="{prefix}stand-in">{texts}</svg>'
