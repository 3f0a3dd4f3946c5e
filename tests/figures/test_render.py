"""Charts as files."""

import re
import xml.etree.ElementTree as ElementTree

import matplotlib
import pytest
from matplotlib.figure import Figure
from synthetic_runs import synthetic_run
from undrawn import stand_in, stand_in_files

from lanlab.analysis.trials.run_data import RunData
from lanlab.figures import render_matplotlib
from lanlab.figures.chart import Axis, Chart, Point, Series
from lanlab.figures.registry import build_figure
from lanlab.figures.render_matplotlib import FILE_KINDS, to_bytes, to_drawing, to_files


@pytest.fixture(scope="module")
def chart() -> Chart:
    synthetic = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    return build_figure(
        RunData(synthetic.run, synthetic.trials, synthetic.study, synthetic.published),
        synthetic.study.figure[0],
    )


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_the_same_chart_gives_the_same_bytes(chart: Chart, kind: str) -> None:
    first, second = (to_bytes(chart, "svg" if kind == "svg" else "pdf") for _ in range(2))
    assert first == second
    assert first.startswith(b"<?xml" if kind == "svg" else b"%PDF")


def test_svg_and_pdf_do_not_depend_on_their_order(chart: Chart) -> None:
    assert to_files(chart) == {f".{kind}": to_bytes(chart, kind) for kind in FILE_KINDS}


def test_each_file_is_drawn_once(chart: Chart, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    draw = Figure.draw
    monkeypatch.setattr(Figure, "draw", lambda self, to: (drawn.append(to), draw(self, to)))
    to_files(chart)
    assert len(drawn) == len(FILE_KINDS)


def test_the_text_fallback_of_a_drawing_has_its_words_and_marks(chart: Chart) -> None:
    empty = Chart("odd", Axis("x", "s"), Axis("y", ""), (Series("nothing", ()),))
    for one in (chart, empty):
        drawing, instead = to_drawing(one, "f-", 9.0), stand_in(one, "f-", 9.0)
        assert [mark.text for mark in instead.marks] == [mark.text for mark in drawing.marks]
        assert [mark.group for mark in instead.marks] == [mark.group for mark in drawing.marks]
        said = " ".join("".join(ElementTree.fromstring(drawing.svg).itertext()).split())
        for word in ElementTree.fromstring(instead.svg).itertext():
            assert word in said
        assert (one.empty in said) == (one.empty in instead.svg) == one.is_empty
    assert stand_in_files(chart).keys() == to_files(chart).keys()


def test_ids_of_two_drawings_never_clash(chart: Chart) -> None:
    ids = []
    for prefix in ("one-", "two-"):
        drawing = to_drawing(chart, prefix, 6.0)
        tree = ElementTree.fromstring(drawing.svg)
        ids.append({element.get("id") for element in tree.iter() if element.get("id")})
    assert ids[0] and ids[1]
    assert not ids[0] & ids[1]


def test_marks_lie_inside_the_drawing_and_have_value_and_interval(chart: Chart) -> None:
    drawing = to_drawing(chart, "f-", 4.6)
    points = [point for series in chart.series for point in series.points]
    assert len([mark for mark in drawing.marks if mark.group.startswith("series")]) == len(points)
    for mark in drawing.marks:
        assert 0 < mark.x < drawing.width
        assert 0 < mark.y < drawing.height
    # What is drawn fills the height that the page gives it.
    height, unit = re.findall(r'<svg [^>]*height="([0-9.]+)(pt)"', drawing.svg)[0]
    assert (float(height), unit) == (pytest.approx(drawing.height), "pt")
    assert drawing.marks[0].text.startswith("IPv4, 128 B: ")
    assert "95 % " in drawing.marks[0].text


@pytest.fixture(scope="module")
def charts() -> dict[tuple[str, int], Chart]:
    found = {}
    for name in ("milanovic-srbljic", "manford-kolahi"):
        made = synthetic_run(name, "quick", link_rate_bps=10_000_000)
        for place, figure in enumerate(made.study.figure[:2]):
            found[name, place] = build_figure(
                RunData(made.run, made.trials, made.study, made.published), figure
            )
    return found


@pytest.mark.parametrize("width_in", [4.0, 6.4, 9.0])
@pytest.mark.parametrize("name", ["milanovic-srbljic", "manford-kolahi"])
@pytest.mark.parametrize("place", [0, 1])
def test_no_letter_is_cut_off(
    name: str, place: int, width_in: float, charts: dict[tuple[str, int], Chart]
) -> None:
    chart = charts[name, place]
    with matplotlib.rc_context(render_matplotlib.look.style(svg_text="path")):
        figure, axes = render_matplotlib._draw(chart, width_in)
        figure.draw_without_rendering()
        (legend,) = figure.legends
        whole = [axes.xaxis.label, axes.yaxis.label, *legend.get_texts()]
        # The labels of ticks beyond the end of an axis are there and are not drawn.
        least, most = axes.get_xlim()
        ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
        whole += [label for tick, label in ticks if least <= tick <= most]
        for text in whole:
            box = text.get_window_extent()
            assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, text.get_text()
            assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1, text.get_text()
        # The legend stands clear of what belongs to the axes.
        assert legend.get_window_extent().y1 <= axes.xaxis.label.get_window_extent().y0


@pytest.mark.parametrize(
    "series",
    [
        (),
        (Series("nothing", ()),),
        (Series("one", (Point(5, 0.0, None, None, (0.0,), "zero"),)),),
        (Series("bar", (Point(0, 3.0, 3.0, 3.0, (3.0, 3.0), "same"),), "bars"),),
    ],
    ids=["no-series", "no-points", "single-zero", "no-spread"],
)
def test_odd_charts_are_drawn_too(series: tuple[Series, ...]) -> None:
    categories = ("a",) if series and series[0].kind == "bars" else ()
    odd = Chart("odd", Axis("x", "s", categories=categories), Axis("y", ""), series)
    assert to_bytes(odd, "svg")


def test_a_title_with_markup_or_dollars_is_only_text() -> None:
    series = (Series("<b>$x", (Point(1, 2, None, None, (2,), "$ & <"),)),)
    svg = to_drawing(Chart("t", Axis("<x>$", ""), Axis("$y$", ""), series), "p-", 5.0).svg
    texts = ["".join(e.itertext()) for e in ElementTree.fromstring(svg).iter() if e.text]
    assert any("<b>$x" in text for text in texts)
    assert any("$y$" in text for text in texts)
