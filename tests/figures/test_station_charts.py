"""What the figures of stations show, of queues whose law is known."""

import pytest
from station_runs import StationRun, service_ns, station_run

from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.chart import Chart
from lanlab.figures.registry import build_figure
from lanlab.figures.render_matplotlib import to_bytes, to_drawing
from lanlab.studies.model import Figure


@pytest.fixture(scope="module")
def made() -> StationRun:
    return station_run()


@pytest.fixture(scope="module")
def charts(made: StationRun) -> dict[tuple[str, str], Chart]:
    return {(figure.figure, figure.title): drawn(made, figure) for figure in made.study.figure}


def drawn(made: StationRun, figure: Figure) -> Chart:
    return build_figure(RunData(made.run, made.trials, made.study, made.published), figure)


def of(charts: dict[tuple[str, str], Chart], figure: str, words: str = "") -> Chart:
    return next(c for (name, title), c in charts.items() if name == figure and words in title)


def test_every_figure_of_the_study_draws_something_and_can_be_rendered(
    charts: dict[tuple[str, str], Chart],
) -> None:
    assert len(charts) == 10
    for (name, _), chart in charts.items():
        assert chart.is_empty == (name == "station_errors"), chart.title
        assert to_bytes(chart, "svg").startswith(b"<?xml")
        assert chart.description().startswith(chart.title)


def test_response_times_rise_with_the_stations(
    charts: dict[tuple[str, str], Chart],
) -> None:
    chart = of(charts, "response_against_stations", "30 kbyte")
    assert chart.x.label == "stations" and chart.y.label == "mean response time (ms)"
    assert [one.name for one in chart.series] == ["read", "write"]
    assert " SMB throughout." in chart.caption
    assert [point.x for point in chart.series[0].points] == [1, 2, 4, 8, 15]
    # With 15 stations the wait is 15 times the server's.
    assert chart.series[1].points[-1].y == pytest.approx(
        15 * service_ns("write", 30_000) / 1e6, rel=0.1
    )


def test_throughput_approaches_the_server_capacity(
    charts: dict[tuple[str, str], Chart],
) -> None:
    chart = of(charts, "throughput_against_stations", "30 kbyte")
    assert chart.y.label == "throughput (Mbit/s)"
    (series,) = chart.series
    most = 8 * 30_000 / service_ns("write", 30_000) * 1e3
    assert series.points[-1].y == pytest.approx(most, rel=0.1)


def test_delay_by_throughput_labels_the_station_counts(
    charts: dict[tuple[str, str], Chart], made: StationRun
) -> None:
    chart = of(charts, "delay_throughput", "0.75 kbyte")
    read = chart.series[0]
    assert [point.label for point in read.points] == ["1", "2", "4", "8", "15"]
    assert [point.y for point in read.points] == sorted(point.y for point in read.points)
    for point in read.points:
        # Little's law: N messages under way at each point of the curve.
        assert point.x * 1e6 * point.y / 1e3 / (8 * 750) == pytest.approx(
            int(point.label), rel=0.05
        )
    svg = to_drawing(chart, "x-", 6.4).svg
    assert "series-0-label4" in svg and ">15</text>" in svg


def test_peak_throughput_is_drawn_beside_published_values(
    charts: dict[tuple[str, str], Chart],
) -> None:
    chart = of(charts, "greatest_throughput")
    assert chart.x.categories == ("0.75 kbyte", "6 kbyte", "30 kbyte")
    assert [one.name for one in chart.series] == ["read", "write"]
    assert " SMB throughout." in chart.caption
    for point, size in zip(chart.series[0].points, (750, 6000, 30_000), strict=True):
        assert point.y == pytest.approx(8 * size / service_ns("read", size) * 1e3, rel=0.15)
    marks = {(mark.x, mark.y) for one in chart.published for mark in one.marks}
    assert marks == {(0.0, 1.5), (1.0, 2.4)}


def test_response_time_by_size_comes_from_one_reading_station(
    charts: dict[tuple[str, str], Chart],
) -> None:
    chart = of(charts, "against_factor")
    (series,) = chart.series
    assert [point.x for point in series.points] == [0.75, 6, 30]
    for point, size in zip(series.points, (750, 6000, 30_000), strict=True):
        assert point.y == pytest.approx((service_ns("read", size) + 1e6) / 1e6, rel=0.15)


def test_equal_service_gives_fairness_near_one(
    charts: dict[tuple[str, str], Chart],
) -> None:
    chart = of(charts, "station_fairness")
    by_name = {one.name: one.points for one in chart.series}
    assert set(by_name) == {"slowest station", "all stations", "fastest station"}
    for slow, mid, fast in zip(*by_name.values(), strict=True):
        assert fast.y <= 1 <= slow.y and mid.y == 1
        if slow.x == 1:
            assert (mid.low, mid.high) == (None, None)
            continue
        assert mid.low is not None and mid.high is not None
        assert fast.y <= mid.low * 1.05 and mid.high <= slow.y * 1.05
        assert fast.y > 0.6 and slow.y < 1.4
    assert chart.columns()[4].endswith("standard deviation low")
    assert "its bar is the standard deviation" in chart.caption


def test_no_deviation_is_promised_where_none_is_drawn(made: StationRun) -> None:
    (experiment,) = {one.experiment for one in made.trials}
    figure = Figure(figure="station_fairness", title="t", experiments=(experiment,))
    found = drawn(made, figure)
    assert len(found.series) > 3 and "deviation" not in found.caption


def test_errors_are_drawn_at_their_station() -> None:
    made = station_run(errors=True, trials=1, operations=300)
    figure = next(f for f in made.study.figure if f.figure == "station_errors")
    chart = drawn(made, figure)
    (series,) = chart.series
    assert series.name == "timed out" and series.kind == "stack"
    assert len(chart.x.categories) == 15
    heights = [point.y for point in series.points]
    assert heights[2] == sum(heights) == sum(t.metrics["errors"] for t in made.trials) > 0
    assert to_bytes(chart, "svg")


def test_a_figure_without_errors_says_so(charts: dict[tuple[str, str], Chart]) -> None:
    chart = of(charts, "station_errors")
    assert chart.is_empty and chart.empty == "no operation failed"


@pytest.mark.parametrize(("limit", "is_drawn"), [(0.01, True), (100.0, False)])
def test_a_distant_limit_does_not_flatten_the_chart(
    limit: float, is_drawn: bool, made: StationRun
) -> None:
    figure = Figure(
        figure="response_against_stations",
        title="t",
        experiments=("read-write",),
        at={"message_size_bytes": "750B", "operation": "read"},
        within_s=limit,
    )
    chart = drawn(made, figure)
    assert any(one.name.startswith("limit of") for one in chart.limits) == is_drawn
    assert ("The limit of 100 s lies far above what is drawn" in chart.caption) != is_drawn


NAMES = [
    "delay_throughput", "greatest_throughput", "response_against_stations", "station_errors",
    "station_fairness", "throughput_against_stations",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_run_without_trials_gives_an_empty_figure(made: StationRun, name: str) -> None:
    figure = Figure(figure=name, title=name, experiments=("read-write",))
    chart = build_figure(RunData(made.run, [], made.study, made.published), figure)
    assert chart.is_empty
    assert to_bytes(chart, "svg")
