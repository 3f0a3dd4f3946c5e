"""What a reader of a printed figure sees: every kind of fault that was found by looking at them."""

import itertools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import matplotlib
import pytest
from synthetic_runs import synthetic_run
from test_readable_drawings import chart_of, drawn, pixels, point
from test_single_measurements import NOTHING, a_run

from lanlab.analysis.published.values import points_for
from lanlab.analysis.traffic.over_time import drawn_trials
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures import render_matplotlib
from lanlab.figures.bars import _limits
from lanlab.figures.chart import Axis, Chart, Limit, Point, PublishedMark, PublishedSeries, Series
from lanlab.figures.distributions import _violins
from lanlab.figures.finishing import overlaid, with_distinct_labels
from lanlab.figures.gather import FigureData, called
from lanlab.figures.look_matplotlib import BAR_HATCHES, COLOURS, LINES, MARKERS, form_of, style
from lanlab.figures.panels import panels, with_series
from lanlab.figures.published import published_figures
from lanlab.figures.registry import build_figure
from lanlab.figures.wording import quantity
from lanlab.report.runs.run_page import run_on_page
from lanlab.studies.load import known_studies, load_study

_ROWS = Axis("", "", categories=("upload", "download"))


def printed(chart: Chart) -> tuple[Any, Any]:
    """A figure as it is printed, in a column of a journal."""
    with matplotlib.rc_context(style(svg_text="path")):
        figure, axes = render_matplotlib._draw(chart, 3.5, chart.title)
        figure.draw_without_rendering()
    return figure, axes


def bars(*names: str, y: Axis | None = None) -> Chart:
    series = (
        Series(name, (Point(0, 20 * n + 30), Point(1, 3_000 * n + 30)), "bars")
        for n, name in enumerate(names)
    )
    return Chart("t", _ROWS, y or Axis("rate", "KB/s"), tuple(series))


@pytest.mark.parametrize("sideways", [True, False])
def test_bars_on_a_logarithmic_axis_are_points(sideways: bool) -> None:
    chart = replace(bars("a", "b"), sideways=sideways)
    axes, parts = drawn(chart)
    assert len(axes.patches) == 4
    axes, parts = drawn(replace(chart, y=replace(chart.y, logarithmic=True)))
    assert not axes.patches
    assert parts["series-0-line"].get_linestyle() == "None"
    places = [pixels(parts[f"series-{n}-line"])[0][int(sideways)] for n in (0, 1)]
    assert abs(places[0] - places[1]) > 5


@pytest.mark.parametrize("study", known_studies())
def test_a_printed_figure_has_no_letter_below_7_points_or_out_of_sight(study: str) -> None:
    loaded = load_study(study)
    for one in published_figures(loaded.study, loaded.published):
        figure, axes = printed(one.chart)
        assert figure.get_figwidth() <= 3.5
        texts = [axes.xaxis.label, axes.yaxis.label, figure._suptitle, *axes.texts]
        texts += [text for legend in figure.legends for text in legend.get_texts()]
        texts += [*axes.get_xticklabels(), *axes.get_yticklabels()]
        seen = [text for text in texts if text.get_text()]
        assert min(text.get_fontsize() for text in seen) >= 7
        named = [axes.xaxis.label, axes.yaxis.label, figure._suptitle]
        for text in named:
            box = text.get_window_extent()
            assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, text.get_text()


def test_a_level_across_a_figure_is_named_in_7_points() -> None:
    level = PublishedSeries("Pentium 133", (PublishedMark(None, 5.0, "p. 3"),))
    _, axes = printed(chart_of(Series("a", (point(1, 10),)), published=(level,)))
    assert min(text.get_fontsize() for text in axes.texts) >= 7


@pytest.mark.parametrize("most", [2, 3, 5])
def test_counts_have_ticks_at_whole_numbers(most: int) -> None:
    points = (Point(1, 1), Point(most, most))
    chart = Chart("t", Axis("stations", ""), Axis("errors", ""), (Series("a", points),))
    _, axes = printed(chart)
    ticks = [*axes.get_xticks(), *axes.get_yticks()]
    assert ticks and all(tick == round(tick) for tick in ticks)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("sideways", [True, False])
def test_numbers_of_a_long_logarithmic_axis_do_not_overlap(sideways: bool) -> None:
    rate = Axis("rate", "KB/s", logarithmic=True)
    points = (Point(0, 14.9), Point(1, 700_000.0))
    along = tuple(replace(one, x=one.y) for one in points)
    if sideways:
        chart = Chart("t", _ROWS, rate, (Series("a", points, "points"),), sideways=True)
    else:
        chart = Chart("t", rate, rate, (Series("a", along),))
    _, axes = printed(chart)
    least, most = axes.get_xlim()
    ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
    boxes = [label.get_window_extent() for tick, label in ticks if least <= tick <= most]
    assert len(boxes) >= 2
    assert all(a.x1 < b.x0 for a, b in itertools.pairwise(boxes))


def test_eight_series_differ_without_colour() -> None:
    for forms in (MARKERS, BAR_HATCHES):
        assert len({form_of(n, forms) for n in range(len(COLOURS))}) == len(COLOURS)
    lines = [Series(str(n), (Point(1, n), Point(2, n)), "bound", style=0) for n in range(8)]
    axes, _ = drawn(chart_of(*lines))
    assert len({str(one._unscaled_dash_pattern) for one in axes.lines if one.get_gid()}) == 8
    assert len(LINES) == 8


def test_a_long_line_has_few_markers() -> None:
    points = tuple(Point(float(x), 1.0) for x in range(600))
    _, parts = drawn(chart_of(Series("a", points)))
    assert len(points) / parts["series-0-line"].get_markevery() <= 24


def test_published_values_stand_at_the_bars_of_their_series() -> None:
    marks = [
        PublishedSeries(name, (PublishedMark(0, 25, "25"),), series=n)
        for n, name in enumerate("ab")
    ]
    chart = with_distinct_labels(replace(bars("a", "b"), published=tuple(marks)))
    axes, parts = drawn(chart)
    for n in (0, 1):
        bar = parts[f"series-{n}-bar0"].get_window_extent()
        assert bar.x0 < pixels(parts[f"published-{n}-0"])[0][0] < bar.x1
    (legend,) = axes.figure.legends
    # The place says which, so that one entry is enough, with the marker of all.
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "published"]
    assert len({parts[f"published-{n}-0"].get_marker() for n in (0, 1)}) == 1
    shown = render_matplotlib.to_drawing(chart, "p-", 6.4).marks
    at = {mark.group: mark.x for mark in shown if mark.group.startswith("published")}
    assert at["published-0"] < at["published-1"]


def test_simulated_ftp_is_drawn_beside_what_brutman_published() -> None:
    study = load_study("brutman-mtcp")
    machines = study.study.model_copy(
        update={
            "experiment": tuple(e for e in study.study.experiment if "simulated" in e.on),
        }
    )
    (experiment,) = (e for e in machines.experiment if e.id == "ftp-ne2000-simulated")
    levels = {"machine": "386-40", "direction": "upload"}
    summary: Any = SimpleNamespace(
        metric="goodput_bps",
        experiment=experiment.id,
        factors=levels,
        parameters={**experiment.parameters, **levels},
        constant=(),
    )
    found = points_for(summary, study.published, machines)
    assert [one.value.id for one in found] == ["ftp.386-40.ne2000.send_rate"]
    # Not beside a copy of another amount, or by a machine of today.
    summary.parameters["dataset"] = "brutman-small"
    assert not points_for(summary, study.published, machines)
    summary.parameters["dataset"] = "brutman-large"
    assert not points_for(summary, study.published)


@pytest.mark.parametrize(
    ("limits_bps", "name", "heights"),
    [
        ((10e6, 10e6), "link limit", [10, 10]),
        ((9.9e6, 10e6), "highest link limit", [10, 10]),
        ((10e6, 100e6), "link limit", [10, 100]),
    ],
)
def test_limits_of_bars_are_one_line_unless_they_differ(
    limits_bps: tuple[float, float], name: str, heights: list[float]
) -> None:
    group: Any = [SimpleNamespace(limit=limit, x=n) for n, limit in enumerate(limits_bps)]
    (limit,) = _limits({"a": group}, lambda one: float(one.x), quantity(None, "goodput_bps"))
    assert (limit.name, [y for _, y in limit.points]) == (name, heights)
    places = [x for x, _ in limit.points]
    if limit.series is not None:
        assert places == [0, 1]
    else:
        assert places[0] < 0 and places[1] > 1


def _bars_and_limits(chart: Chart) -> set[tuple[float, float]]:
    """The height of each bar, and the height of the limit above its middle."""
    axes, parts = drawn(chart)
    lines = [line.get_xydata() for name, line in parts.items() if name.startswith("limit")]
    return {
        (bar.get_height(), left[1])
        for bar in axes.patches
        for ends in lines
        for left, right in zip(ends[::3], ends[1::3], strict=True)
        if left[0] < bar.get_x() + bar.get_width() / 2 < right[0]
    }


def test_limits_of_bars_stay_at_their_bars() -> None:
    slow, fast = (
        Series(f"{name}, {way}", (point(0, y), point(1, y + 1)), "bars")
        for name, way, y in (("old", "up", 10), ("new", "up", 60))
    )
    limits = [Limit("link limit", ((0, y), (1, y)), n) for n, y in ((0, 20), (1, 90))]
    ways = Axis("way", "", categories=("up", "down"))
    chart = chart_of(slow, fast, x=ways, limits=tuple(limits))
    own = {(10, 20), (11, 20), (60, 90), (61, 90)}
    assert _bars_and_limits(chart) == own
    for places in ([1, 0], [1]):
        kept = {pair for pair in own if len(places) > 1 or pair[0] >= 60}
        assert _bars_and_limits(with_series(chart, places)) == kept
    other = chart_of(slow, x=ways, limits=(replace(limits[0], points=((0, 30), (1, 30))),))
    both = overlaid([("one", chart), ("two", other)])
    assert both is not None and _bars_and_limits(both) == own | {(10, 30), (11, 30)}
    assert [one.name for one in both.limits] == ["link limit"] * 3


def test_each_name_of_a_limit_has_one_entry_and_hides_all_of_them() -> None:
    lines = tuple(
        Limit(name, ((1, y + n), (2, y + n)), series=n)
        for n, y in itertools.product((0, 1), (3.0,))
        for name in ("asymptotes", "queue")
    )
    series = [Series(name, (point(1, 10), point(2, 12))) for name in "ab"]
    axes, parts = drawn(chart_of(*series, limits=lines))
    (legend,) = axes.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "asymptotes", "queue"]
    assert {name for name in parts if name.startswith("limit")} == {
        "limit-0-line0", "limit-1-line1", "limit-0-line2", "limit-1-line3"
    }  # fmt: skip
    colours = [parts[name].get_color() for name in ("limit-0-line0", "limit-0-line2")]
    assert colours == list(COLOURS[:2])
    dashes = [parts[f"limit-{n}-line{n}"]._unscaled_dash_pattern for n in (0, 1)]
    assert dashes[0] != dashes[1]


def test_many_series_are_drawn_in_panels_by_what_their_names_share() -> None:
    names = [f"{system}, {of}" for system in ("NetWare", "PC LAN", "3Plus", "3Plus, 3Server")
             for of in ("read", "write")]  # fmt: skip
    series = tuple(Series(name, (point(n + 1, 10 * n + 10),)) for n, name in enumerate(names))
    limits = tuple(Limit("asymptotes", ((1, 5), (2, 5)), series=n) for n in range(8))
    published = (PublishedSeries("NetWare, read", (PublishedMark(1, 9, "9"),), series=0),)
    chart = replace(chart_of(*series), limits=limits, published=published)
    read, write = panels(chart)
    assert (read.title, write.title) == ("t: read", "t: write")
    for one in (read, write):
        assert [s.name for s in one.series] == ["NetWare", "PC LAN", "3Plus", "3Plus, 3Server"]
        assert [limit.series for limit in one.limits] == [0, 1, 2, 3]
        assert one.y.ends == read.y.ends
    assert [one.name for one in read.published] == ["NetWare"] and not write.published
    unnamed = replace(chart, published=(replace(published[0], name=""),))
    assert [len(one.published) for one in panels(unnamed)] == [1, 0]
    assert [p.y for s in read.series for p in s.points] == [10, 30, 50, 70]
    few = replace(chart, series=series[:6], limits=())
    assert panels(few) == (few,)


def test_many_rows_are_drawn_in_panels() -> None:
    rows = tuple(f"{host}, {n} kB/s" for host in ("486", "Celeron") for n in range(15))
    parts = tuple(
        Series(name, tuple(Point(float(x), y) for x in range(30) if y or x < 15), "stack")
        for name, y in (("received", 60.0), ("lost", 40.0))
    )
    chart = chart_of(*parts, x=Axis("", "", categories=rows), sideways=True)
    first, second = panels(chart)
    # The title names the host, so the rows do not.
    assert first.x.categories == second.x.categories == tuple(f"{n} kB/s" for n in range(15))
    assert second.title == "t: Celeron"
    for one in (first, second):
        assert [p.x for p in one.series[0].points] == list(range(15))
        assert [s.style for s in one.series] == [0, 1]


def test_a_line_of_one_place_is_no_figure() -> None:
    one = chart_of(Series("a", (point(64, 1),)), Series("b", (point(64, 2),)))
    assert one.has_one_x
    assert not chart_of(Series("a", (point(64, 1), point(128, 2)))).has_one_x
    # A search marks loads at which nothing was measured.
    guide = Limit("1 % lost", ((80, 0), (80, 1)), kind="guide")
    assert not replace(one, limits=(guide,)).has_one_x
    assert not bars("a").has_one_x


def test_files_of_one_size_have_no_figure_of_sizes() -> None:
    made = synthetic_run("brutman-mtcp", "tiny")
    page = run_on_page(RunData(*made.pair(), made.study, made.published), "brutman-mtcp")
    titles = {figure.chart.title for figure in page.all_figures}
    assert "FTP: rate by file and direction" in titles
    assert "FTP: rate of single files against their size" not in titles
    assert "Memory to memory over TCP: rate by amount" not in titles


def test_runs_on_other_testbeds_share_a_figure() -> None:
    size, rate = Axis("message size", "B"), Axis("goodput", "Mbit/s")

    def run(name: str, unit: str, y: float, level: float) -> tuple[str, Chart]:
        line = Series("measured", (Point(1, y, y / 2, 2 * y, (y,)), Point(2, y)))
        limit = Limit("link limit", ((1, level), (2, level)))
        shown = replace(rate, unit=unit, logarithmic=unit == "Gbit/s")
        return name, Chart("t", size, shown, (line,), (limit,), caption=f"{name}.")

    runs = [run("slow", "kbit/s", 500, 900), run("middle", "Mbit/s", 50, 95),
            run("fast", "Gbit/s", 5, 9)]  # fmt: skip
    both = overlaid(runs)
    assert both is not None and both.y.unit == "Mbit/s" and both.y.logarithmic
    assert {one.name: one.points[0].y for one in both.series} == {
        "slow": 0.5, "middle": 50, "fast": 5_000
    }  # fmt: skip
    last = both.series[2].points[0]
    assert (last.low, last.high, last.trials) == (2_500, 10_000, (5_000,))
    assert [(one.name, one.points[0][1]) for one in both.limits] == [
        ("link limit", 0.9), ("link limit, middle", 95), ("link limit, fast", 9_000)
    ]  # fmt: skip
    long = overlaid([(f"{name}, over a link of the second floor", one) for name, one in runs])
    assert long is not None and [one.name for one in long.series] == ["run 1", "run 2", "run 3"]
    assert overlaid([runs[0], ("other", replace(runs[1][1], y=Axis("loss", "%")))]) is None


def test_runs_of_other_conditions_share_rows() -> None:
    first, second = bars("measured"), bars("measured")
    second = replace(second, x=replace(_ROWS, categories=("download", "both")))
    chart = overlaid([("one", first), ("two", second)])
    assert chart is not None and chart.x.categories == ("upload", "download", "both")
    assert [p.x for one in chart.series for p in one.points] == [0, 1, 1, 2]


def test_the_tails_of_a_violin_are_whole() -> None:
    values = [(float(n), 1.0) for n in (10, 11, 12, 12, 13, 14, 15)]
    (shape,) = _violins([values])
    widths = [half for _, half in shape.outline]
    assert max(widths[0], widths[-1]) < 0.2 * max(widths)


def test_series_are_named_by_published_levels_before_titles() -> None:
    made = synthetic_run("brutman-mtcp", "tiny")
    loaded = load_study("brutman-mtcp")
    figure = next(f for f in loaded.study.figure if f.title.startswith("FTP on all machines"))
    data = FigureData(RunData(*made.pair(), loaded.study, loaded.published), figure, made.pair()[1])
    found: list[Any] = [
        SimpleNamespace(experiment=of, factors={"machine": "386-40"})
        for of in ("ftp-ne2000-simulated", "ftp-xircom-large-simulated")
    ]
    assert list(data.in_series(found, ())) == [
        "AMD 80386-40, NE2000",
        "AMD 80386-40, Xircom (parallel port)",
    ]


@pytest.mark.parametrize(
    ("rates", "numbers"),
    [
        ([7, 7, 7, 7, 7], [0, 1, 2, 3]),
        ([1, 2, 2, 1], [0, 1]),
        ([5, 1, 4, 2, 3, 6, 7], [0, 1, 4, 6]),
    ],
)
def test_conditions_are_drawn_over_time_and_not_their_repeats(
    rates: list[int], numbers: list[int]
) -> None:
    metrics: list[dict[str, Any]] = [{"goodput_bps": 1e6 * rate} for rate in rates]
    _, trials, _ = a_run("stream", metrics, {"time_s": 1})
    trials = [
        replace(trial, number=number, factors={"rate_bps": rate})
        for number, (trial, rate) in enumerate(zip(trials, rates, strict=True))
    ]
    assert drawn_trials(trials) == frozenset(numbers)


def test_servers_have_the_names_of_their_services() -> None:
    servers = ["sftp://me@nas:2222/", "http://me@nas/dav"]
    metrics: list[dict[str, Any]] = [{"goodput_bps": 1e6}] * 2
    _, _, study = a_run("copy", metrics, {}, factors={"server": servers})
    names = [called(study, NOTHING, {"server": server}) for server in servers]
    assert names == ["SFTP", "WebDAV"]
    assert called(study, NOTHING, {"server": "smb://me@nas/a"}) == "smb://me@nas/a"


def test_captions_name_the_links_of_the_simulated_machines() -> None:
    made = synthetic_run("brutman-mtcp", "quick", where="simulated")
    data = RunData(*made.pair(), made.study, made.published)
    own = made.run.testbed["link"]
    captions = {one.experiments: build_figure(data, one).caption for one in made.study.figure}
    for which, links in (("ne2000", f"link {own}"), ("lne100", "link 100M")):
        assert f", {links}; run " in captions[(f"speed-test-{which}-simulated",)]
    assert any(f", links {own} and 100M; run " in one for one in captions.values())
