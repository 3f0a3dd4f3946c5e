"""What a figure must be before it is published."""

import itertools
import struct
from dataclasses import replace

import pytest
from synthetic_runs import synthetic_run
from test_readable_drawings import chart_of, drawn, pixels, point

from lanlab.analysis.run_data import RunData
from lanlab.analysis.summary import interval_of_mean
from lanlab.figures.chart import Axis, Chart, Point, Series
from lanlab.figures.distributions import panels
from lanlab.figures.finishing import with_page_styles
from lanlab.figures.look_matplotlib import COLOURS, HATCHES, MARKERS, colour_of, form_of
from lanlab.figures.published import published_figures, with_measured
from lanlab.figures.registry import build_figure
from lanlab.figures.render_matplotlib import to_files
from lanlab.figures.scale_matplotlib import log_ticks
from lanlab.report.exports.bibtex import bibtex
from lanlab.studies import Study, known_studies, load_study
from lanlab.studies.model import Figure


def test_points_and_trials_are_drawn_at_their_numeric_x() -> None:
    both = (point(100, 10, 9, 10, 11), point(200, 20, 19, 20, 21))
    axes, parts = drawn(chart_of(Series("a", both), Series("b", both)))

    for series, part in itertools.product((0, 1), ("line", "trials")):
        places = axes.transData.inverted().transform(pixels(parts[f"series-{series}-{part}"]))
        assert {round(float(x), 6) for x, _ in places} == {100, 200}


@pytest.mark.parametrize("forms", [MARKERS, HATCHES])
def test_no_two_of_32_series_look_alike(forms: tuple[object, ...]) -> None:
    assert len({(colour_of(n), form_of(n, range(len(forms)))) for n in range(32)}) == 32
    assert len(set(COLOURS)) == 8


def test_a_series_keeps_its_style_on_a_page() -> None:
    def chart(*names: str) -> Chart:
        return chart_of(*(Series(name, (point(1, 10),)) for name in names))

    styled = with_page_styles([chart("a", "b"), chart("c", "b"), chart("b"), chart("c", "a")])
    styles = [{one.name: one.style for one in each.series} for each in styled]
    assert styles == [{"a": 0, "b": 1}, {"c": 2, "b": 1}, {"b": 1}, {"c": 2, "a": 0}]


def test_a_legend_is_never_larger_than_the_plot_and_its_entries_are_short() -> None:
    name = "a protocol of many words, " * 9
    axes, _ = drawn(chart_of(*(Series(f"{n} {name}", (point(1, n + 1),)) for n in range(20))))
    (legend,) = axes.figure.legends
    assert legend.get_window_extent().height <= axes.get_window_extent().height * 1.05
    assert all(text.get_text().count("\n") < 2 for text in legend.get_texts())


@pytest.mark.parametrize("values", [(0.31, 0.4), (2.1, 2.9), (11.0, 19.0), (3.0, 2_000.0)])
def test_a_logarithmic_axis_has_two_numbers_at_least(values: tuple[float, float]) -> None:
    assert len(log_ticks(min(values) / 1.6, max(values) * 1.6, 4)) >= 2
    points = tuple(Point(y, y, None, None, (y,), "x") for y in values)
    logarithmic = Axis("y", "s", logarithmic=True)
    axes, _ = drawn(Chart("t", logarithmic, logarithmic, (Series("a", points),)))
    for axis in (axes.xaxis, axes.yaxis):
        assert sum(bool(label.get_text()) for label in axis.get_ticklabels()) >= 2


def test_two_trials_have_no_interval() -> None:
    assert interval_of_mean("goodput_bps", [1e6, 2e6]) is None
    assert interval_of_mean("goodput_bps", [1e6, 2e6, 1.5e6]) is not None


def test_files_have_the_title_and_pixels_300_to_an_inch() -> None:
    plain = chart_of(Series("a", (point(1, 10),)))
    files = to_files(plain)
    width, _ = struct.unpack(">II", files[".png"][16:24])
    assert width == 6.4 * 300
    assert sorted(files) == [".pdf", ".png", ".svg"]
    assert to_files(replace(plain, title="other"), ("svg",))[".svg"] != files[".svg"]


def simulated(study: Study) -> Study:
    on = tuple(one.model_copy(update={"on": ("simulated",)}) for one in study.experiment)
    return study.model_copy(update={"experiment": on})


def test_a_simulated_value_in_a_published_figure_is_not_called_measured() -> None:
    made = synthetic_run("manford-kolahi", "quick")
    found = RunData(*made.pair()).all_summaries()
    drawn = {
        figure.name: with_measured(figure, simulated(made.study), found).published
        for figure in published_figures(made.study, made.published)
    }
    assert {one.kind for those in drawn.values() for one in those} == {"simulated here"}
    # The spread over seeds is not that of repeated measurements.
    assert not any(those for name, those in drawn.items() if name.endswith("-sd"))


def test_ipv4_and_ipv6_share_one_panel() -> None:
    made = synthetic_run("manford-kolahi", "quick")
    figure = Figure(
        figure="trial_violins", title="t", experiments=("throughput",), metric="goodput_bps"
    )
    charts = panels(build_figure(RunData(*made.pair(), made.study, made.published), figure))
    assert len(charts) > 1
    for chart in charts:
        versions = [name.split(",")[0] for name in chart.x.categories]
        assert versions == ["IPv4", "IPv6"] * (len(versions) // 2)


def test_every_study_and_lanlab_can_be_cited() -> None:
    text = bibtex(load_study(name).study for name in known_studies())
    assert text.count("@misc{") == len(known_studies())
    assert "@software{lanlab," in text
    assert "title = {Performance of UDP and TCP Communication on Personal Computers}" in text
    assert text.count("{") == text.count("}")
