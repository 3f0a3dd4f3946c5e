"""What a figure must be before it is published."""

import itertools
import struct
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import matplotlib
import pytest
from synthetic_runs import synthetic_run
from test_distributions import histogram
from test_readable_drawings import chart_of, drawn, pixels, point
from test_single_measurements import NOTHING, a_run

from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import interval_of_mean
from lanlab.figures import render_matplotlib
from lanlab.figures.against_factor import _named_once
from lanlab.figures.chart import Axis, Chart, Point, PublishedMark, PublishedSeries, Series
from lanlab.figures.finishing import with_page_styles
from lanlab.figures.gather import FigureData
from lanlab.figures.look_matplotlib import (
    BAR_HATCHES,
    COLOURS,
    MARKERS,
    colour_of,
    form_of,
    style,
)
from lanlab.figures.panels import panels
from lanlab.figures.published import published_figures, with_measured
from lanlab.figures.registry import build_figure
from lanlab.figures.render_matplotlib import to_files
from lanlab.figures.scale_matplotlib import log_ticks
from lanlab.report.exports.bibtex import bibtex
from lanlab.report.trials.single_figures import figures_of, titled_apart
from lanlab.studies.load import known_studies, load_study
from lanlab.studies.model import Figure, Study


def test_points_and_trials_are_drawn_at_their_numeric_x() -> None:
    both = (point(100, 10, 9, 10, 11), point(200, 20, 19, 20, 21))
    axes, parts = drawn(chart_of(Series("a", both), Series("b", both)))

    for series, part in itertools.product((0, 1), ("line", "trials")):
        places = axes.transData.inverted().transform(pixels(parts[f"series-{series}-{part}"]))
        assert {round(float(x), 6) for x, _ in places} == {100, 200}


@pytest.mark.parametrize("forms", [MARKERS, BAR_HATCHES])
def test_no_two_of_32_series_look_alike(forms: tuple[object, ...]) -> None:
    assert len({(colour_of(n), form_of(n, range(len(forms)))) for n in range(32)}) == 32
    published = [PublishedSeries(str(n), (PublishedMark(1, n, ""),)) for n in range(18)]
    _, parts = drawn(chart_of(Series("a", (point(1, 10),)), published=tuple(published)))
    marks = [parts[f"published-{n}-0"] for n in range(18)]
    assert len({(one.get_marker(), one.get_fillstyle()) for one in marks}) == 18
    assert len(set(COLOURS)) == 8


def test_a_series_keeps_its_style_on_a_page() -> None:
    def chart(*names: str) -> Chart:
        return chart_of(*(Series(name, (point(1, 10),)) for name in names))

    styles: dict[str, int] = {}
    charts = [chart("a", "b"), chart("c", "b"), chart("b"), chart("c: wire", "a: wire")]
    # A second run on the page, and more names than colours.
    charts = [*with_page_styles(charts, styles), *with_page_styles([chart("d", "b")], styles)]
    styles_of = [{one.name: one.style for one in each.series} for each in charts]
    assert styles_of == [
        {"a": 0, "b": 1},
        {"c": 2, "b": 1},
        {"b": 1},
        {"c: wire": 2, "a: wire": 0},
        {"d": 3, "b": 1},
    ]
    names_of = [[one.name for one in each.series] for each in charts]
    assert names_of == [["a", "b"], ["b", "c"], ["b"], ["a: wire", "c: wire"], ["b", "d"]]
    (many,) = with_page_styles([chart(*"efghijklmnop")], styles)
    assert len({one.style for one in many.series}) == 12


def test_no_two_figures_have_the_same_title() -> None:
    for name in known_studies():
        study = load_study(name).study
        experiments = [one.id for one in study.experiment]
        more = [Figure(figure="bars", title="t", experiments=(one,)) for one in experiments]
        found = titled_apart(study, [*figures_of(study), *more])
        assert len({one.title for one in found}) == len(found)


def test_a_legend_is_never_larger_than_the_plot_and_its_entries_are_short() -> None:
    name = "a protocol of many words, " * 9
    axes, _ = drawn(chart_of(*(Series(f"{n} {name}", (point(1, n + 1),)) for n in range(20))))
    (legend,) = axes.figure.legends
    assert legend.get_window_extent().height <= axes.get_window_extent().height * 1.05
    assert all(text.get_text().count("\n") < 3 for text in legend.get_texts())
    row, names = Axis("x", "", categories=("row",)), [f"{n} {name}" for n in range(9)]
    series = [Series(one, (point(0, n + 1),), "points") for n, one in enumerate(names)]
    axes, _ = drawn(chart_of(*series, x=row, sideways=True))
    (legend,) = axes.figure.legends
    assert legend.get_window_extent().height <= axes.get_window_extent().height * 1.05


def test_a_limit_of_several_series_has_the_colour_of_none() -> None:
    made = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    figure = Figure(figure="against_size", title="t", experiments=("throughput",))
    own = build_figure(RunData(*made.pair(), made.study, made.published), figure)
    assert [one.series for one in own.limits] == [0, 1]
    twice = [*own.limits, replace(own.limits[0], name=f"{own.limits[0].name}, other", series=2)]
    assert [one.series for one in _named_once(twice, "link limit")] == [None, 1]


def test_the_title_stands_close_above_the_plot() -> None:
    with matplotlib.rc_context(style(svg_text="path")):
        figure, axes = render_matplotlib._draw(chart_of(Series("a", (point(1, 10),))), 6.4, "t")
        figure.draw_without_rendering()
    assert figure._suptitle is not None
    gap = figure._suptitle.get_window_extent().y0 - axes.get_tightbbox().y1
    assert 0 < gap < 0.2 * figure.dpi


@pytest.mark.parametrize("values", [(0.31, 0.4), (2.1, 2.9), (11.0, 19.0), (3.0, 2_000.0)])
def test_a_logarithmic_axis_has_two_numbers_at_least(values: tuple[float, float]) -> None:
    low, high = min(values) / 1.6, max(values) * 1.6
    for place, most in itertools.product(range(60), (3, 4, 7)):
        assert len(log_ticks(low * 1.04**place, high * 1.04**place, most)) >= 2
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
    assert width == 3.5 * 300
    assert sorted(files) == [".pdf", ".png", ".svg"]
    assert to_files(replace(plain, title="other"), ("svg",))[".svg"] != files[".svg"]


def simulated(study: Study) -> Study:
    on = tuple(one.model_copy(update={"on": ("simulated",)}) for one in study.experiment)
    return study.model_copy(update={"experiment": on})


def test_a_simulated_value_in_a_published_figure_is_not_called_measured() -> None:
    made = synthetic_run("manford-kolahi", "quick")
    found = RunData(*made.pair()).all_summaries()
    drawn = {
        figure.name: with_measured(figure, simulated(made.study), made.published, found).published
        for figure in published_figures(made.study, made.published)
    }
    assert {one.kind for those in drawn.values() for one in those} == {"simulated here"}
    # The spread over seeds is not that of repeated measurements.
    assert not any(those for name, those in drawn.items() if name.endswith("-sd"))


def test_every_study_and_lanlab_can_be_cited() -> None:
    text = bibtex(load_study(name).study for name in known_studies())
    assert text.count("@misc{") == len(known_studies())
    assert "@software{lanlab," in text
    assert "title = {Performance of UDP and TCP Communication on Personal Computers}" in text
    assert text.count("{") == text.count("}")


def test_intervals_of_a_simulation_are_named_as_spread_over_seeds() -> None:
    made = synthetic_run("manford-kolahi", "quick")
    figure = Figure(figure="against_size", title="t", experiments=("throughput",))
    data = RunData(*made.pair(), simulated(made.study), made.published)
    chart = build_figure(data, figure)
    assert chart.interval == "95 % over seeds"
    assert "95 % intervals over seeds of the model" in chart.caption


def test_both_ip_versions_of_a_condition_are_drawn_or_none() -> None:
    sizes = [128 * n for n in range(1, 12)]
    factors = {"ip_version": [4, 6], "message_size_bytes": sizes}
    metrics: list[dict[str, Any]] = [{"rtt_mean_ns": 1000.0}] * (2 * len(sizes))
    run, trials, study = a_run("echo", metrics, {"time_s": 1}, factors=factors)
    for place, trial in enumerate(trials):
        told = {"samples": 1, "histogram": histogram({100 * (1 + place % len(sizes)): 1})}
        trial.raw["requester"] = {"round_trip": told}
    figure = Figure(figure="round_trip_ecdf", title="t", experiments=("single",))
    found = build_figure(RunData(run, trials, study, NOTHING), figure)
    names = [one.name.split(", ") for one in found.series]
    assert len(names) == 6
    assert [version for version, _ in names] == ["IPv4", "IPv6"] * 3
    # More lines would be drawn apart, by version.
    assert panels(found) == (found,)
    assert all(a[1] == b[1] for a, b in zip(names[::2], names[1::2], strict=True))


@pytest.mark.parametrize(
    ("versions", "names"),
    [
        ((4, 6), ["IPv4", "IPv6"]),
        ((4, 4), ["IPv4, 500 B", "IPv4, 2 B"]),
        ((None, 4), ["500 B", "IPv4, 2 B"]),
    ],
)
def test_legends_name_what_differs_only_if_series_would_be_alike(
    versions: tuple[int | None, int | None], names: list[str]
) -> None:
    made = synthetic_run("milanovic-srbljic", "quick")
    figure = Figure(figure="bars", title="t", experiments=("udp-500", "udp-2"))
    data = FigureData(RunData(*made.pair(), made.study, made.published), figure, made.pair()[1])
    found: list[Any] = [
        SimpleNamespace(experiment=of, factors={"ip_version": one} if one else {})
        for of, one in zip(figure.experiments, versions, strict=True)
    ]
    assert list(data.in_series(found, ())) == names
