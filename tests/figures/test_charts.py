"""What the figures of the studies show."""

import pytest
from synthetic_runs import SyntheticRun, synthetic_run

from lanlab.analysis.links.limits import udp_limit_bps
from lanlab.analysis.trials.run_data import RunData
from lanlab.errors import UnknownName
from lanlab.figures.chart import Axis, Chart, Limit, Point, PublishedMark, PublishedSeries, Series
from lanlab.figures.registry import FIGURES, build_figure
from lanlab.studies.load import known_studies, load_study
from lanlab.studies.model import Figure


def charts(synthetic: SyntheticRun) -> list[Chart]:
    return [
        build_figure(
            RunData(synthetic.run, synthetic.trials, synthetic.study, synthetic.published), figure
        )
        for figure in synthetic.study.figure
    ]


def test_every_figure_named_by_a_study_exists() -> None:
    named = {f.figure for name in known_studies() for f in load_study(name).study.figure}
    assert named
    assert named <= FIGURES.keys()


def test_an_unknown_figure_gets_a_suggestion() -> None:
    synthetic = synthetic_run("manford-kolahi", most_trials=0)
    figure = Figure(figure="barz", title="?", experiments=("throughput",))
    with pytest.raises(UnknownName, match="no figure named `barz`") as refused:
        build_figure(RunData(synthetic.run, [], synthetic.study, synthetic.published), figure)
    assert refused.value.hint == "did you mean `bars`?"


def test_a_sweep_is_drawn_in_the_units_of_the_study_below_its_limit() -> None:
    speed = charts(synthetic_run("milanovic-srbljic"))[0]
    assert speed.y.label == "receiving speed (kB/s)"
    assert [point.x for point in speed.series[0].points] == [500, 1325]
    limit = next(limit for limit in speed.limits if limit.kind == "physical")
    assert limit.points[-1][1] == pytest.approx(udp_limit_bps(10e6, 500, 4) / 8000)
    guide = next(limit for limit in speed.limits if limit.kind == "guide")
    assert guide.points == ((0, 0), (1325, 1325))


def test_the_received_share_falls_beyond_saturation() -> None:
    share = charts(synthetic_run("milanovic-srbljic"))[1]
    below, beyond = share.series[0].points
    assert below.y == pytest.approx(100)
    (limit,) = share.limits
    assert limit.points[0] == (0, 100)
    assert limit.points[-1][1] == pytest.approx(100 * 1104.24 / 1325, rel=1e-4)
    assert beyond.y == pytest.approx(limit.points[-1][1], rel=0.02)


def test_a_search_curve_shows_received_rates_and_the_bounds_of_each_goal() -> None:
    found = synthetic_run("milanovic-srbljic", "quick")
    curve = next(chart for chart in charts(found) if "around saturation" in chart.title)
    (points,) = [series.points for series in curve.series]

    assert (curve.x.label, curve.y.label) == ("sending speed (kB/s)", "received in time (%)")
    assert (points[0].x, points[-1].x) == (700, 1325)
    assert points[0].y == pytest.approx(100)
    assert points[-1].y == pytest.approx(100 * 1104.24 / 1325, rel=0.02)
    assert [limit.name for limit in curve.limits] == ["0 % lost", "1 % lost"]
    for limit in curve.limits:
        (lower, _), (_, top), (upper, _), _ = limit.points
        # Upright, a lower bound and an upper one, the limit of the link nearly between them.
        assert limit.in_pairs and top == 100
        assert 0.95 * 1104.24 < lower < upper < 1.05 * 1104.24


def test_the_curve_of_a_search_that_did_not_begin_is_empty() -> None:
    found = synthetic_run("milanovic-srbljic", "quick", most_trials=5)
    curve = next(chart for chart in charts(found) if "around saturation" in chart.title)

    assert curve.is_empty and curve.limits == ()


def test_published_link_shares_are_drawn_at_their_value() -> None:
    speed = charts(synthetic_run("milanovic-srbljic"))[0]
    heights = {series.name: series.marks[0].y for series in speed.published}
    both = "Celeron A 300, Windows NT 4.0 Workstation and Pentium 133, Linux 2.1.132"
    assert heights["Pentium 133, Windows NT 4.0 Workstation"] == pytest.approx(
        1104.24 / 2, rel=1e-4
    )
    assert heights[both] == pytest.approx(1104.24, rel=1e-4)
    # A speed under overload is no maximum.
    places = {series.name: series.marks[0].x for series in speed.published}
    assert places == dict.fromkeys(places) | {"486 DX2-66, Windows NT 4.0 Workstation": 1325.0}


def test_bars_have_a_place_for_each_message_size_with_intervals() -> None:
    bars = charts(synthetic_run("milanovic-srbljic", "quick"))[6]
    assert bars.x.categories == ("2 B", "500 B")
    for point in bars.series[0].points:
        assert point.low is not None and point.high is not None
        assert point.low < point.y < point.high
        assert len(point.trials) == 3


def test_throughput_against_size_has_a_series_and_a_limit_for_each_ip_version() -> None:
    throughput = charts(synthetic_run("manford-kolahi", link_rate_bps=100_000_000))[0]
    assert [series.name for series in throughput.series] == ["IPv4", "IPv6"]
    assert [limit.series for limit in throughput.limits] == [0, 1]
    assert dict(throughput.limits[1].points)[128] == pytest.approx(59.81, abs=0.005)


def test_published_means_are_drawn_at_their_size() -> None:
    synthetic = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    throughput = charts(synthetic)[0]
    xp = next(series for series in throughput.published if series.name == "Windows XP, IPv4")
    assert [(mark.x, mark.y) for mark in xp.marks] == [(384, 79.8), (1152, 86)]


def test_round_trips_over_a_token_bucket_have_no_wire_limit() -> None:
    shaped = charts(synthetic_run("manford-kolahi", link_rate_bps=100_000_000))[1]
    assert {limit.kind for limit in shaped.limits} == {"guide"}
    # One frame of 1474 octets at 100 Mbit/s, where a wire takes two.
    assert dict(shaped.limits[0].points)[1408] == pytest.approx(117.92)
    wire = charts(synthetic_run("manford-kolahi", link_rate_bps=100_000_000, shape="wire"))[1]
    assert dict(wire.limits[0].points)[1408] == pytest.approx(233.92)


def test_without_a_link_rate_there_is_no_limit() -> None:
    runnable = [name for name in known_studies() if load_study(name).study.experiment]
    assert runnable
    for name in runnable:
        for chart in charts(synthetic_run(name, link_rate_bps=None)):
            assert [limit for limit in chart.limits if limit.kind == "physical"] == []


def test_numbers_far_apart_share_a_logarithmic_axis() -> None:
    synthetic = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    assert charts(synthetic)[1].y.logarithmic


def test_failed_trials_and_missing_metrics_are_not_drawn() -> None:
    nothing = synthetic_run("manford-kolahi", fails=lambda planned: True)
    assert all(chart.is_empty for chart in charts(nothing))
    lacking = synthetic_run("milanovic-srbljic", lacks=frozenset({"received_ratio"}))
    speed, share = charts(lacking)[:2]
    assert not speed.is_empty
    assert share.is_empty
    assert "no results" in share.description()


def test_a_description_has_plain_numbers() -> None:
    points = (Point(1.0, 115_667.0), Point(2.0, 107_115.0), Point(4.35e-5, 21.0))
    chart = Chart("Load", Axis("time", "s"), Axis("rate", "/s"), (Series("one", points),))
    said = "Load. rate (/s) against time (s). one: 3 points, from 21 at 0.0000435 to 115,667 at 1."
    assert chart.description() == said
    alone = Chart("Load", Axis("time", "s"), Axis("rate", "/s"), (Series("one", points[:1]),))
    assert alone.description().endswith("one: 1 point, 115,667 at 1.")


def test_fewer_than_three_trials_have_no_interval() -> None:
    synthetic = synthetic_run("manford-kolahi", "quick", most_trials=70)
    points = [p for chart in charts(synthetic) for s in chart.series for p in s.points]
    assert {len(p.trials) for p in points} == {2, 3}
    assert all((p.low is None) == (len(p.trials) < 3) for p in points)


def test_the_table_of_a_chart_has_every_drawn_number() -> None:
    for chart in charts(synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)):
        rows = list(chart.rows())
        assert all(len(row) == len(chart.columns()) for row in rows)
        drawn = [point.y for series in chart.series for point in series.points]
        drawn += [mark.y for series in chart.published for mark in series.marks]
        assert set(drawn) <= {row[3] for row in rows}


def test_every_column_of_a_chart_table_matches_its_name() -> None:
    point = Point(1.0, 2.0, 1.5, 3.0, (1.9, 2.1), "a", x_low=0.7, x_high=1.2)
    mark = PublishedMark(4.0, 5.0, "five")
    found = Chart(
        "t",
        Axis("size", "B"),
        Axis("rate", "bit/s"),
        (Series("s", (point,)),),
        limits=(Limit("most", ((6.0, 7.0),)),),
        published=(PublishedSeries("them", (mark,)),),
    )
    columns = found.columns()
    drawn, limit, printed = (dict(zip(columns, row, strict=True)) for row in found.rows())
    assert drawn == {
        "series": "s", "condition": "a", "size (B)": 1.0, "rate (bit/s)": 2.0,
        "rate (bit/s), 95 % low": 1.5, "rate (bit/s), 95 % high": 3.0, "trials": 2,
        "size (B), 95 % low": 0.7, "size (B), 95 % high": 1.2,
    }  # fmt: skip
    assert (limit["size (B)"], limit["rate (bit/s)"], limit["trials"]) == (6.0, 7.0, None)
    assert (printed["condition"], printed["size (B)"], printed["rate (bit/s)"]) == (
        "five",
        4.0,
        5.0,
    )


def test_chart_tables_use_the_axis_unit() -> None:
    """And what was printed with them: 79.8 Mbit/s of XP over IPv4 with 384 bytes."""
    made = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    # As if the paper had printed kbit/s.
    values = tuple(
        value.model_copy(update={"value": 1000 * value.value}) for value in made.published.value
    )
    published = made.published.model_copy(update={"value": values})
    drawn = build_figure(RunData(*made.pair(), made.study, published), made.study.figure[0])
    measured = {
        (one.factors["ip_version"], one.factors["message_size_bytes"]): one
        for one in RunData(*made.pair()).summaries("throughput", "goodput_bps")
    }
    [four] = [series for series in drawn.series if "4" in series.name]
    for point in four.points:
        ours = measured[4, int(point.x)]
        assert ours.mean and ours.ci_low and ours.ci_high
        assert (point.y, point.low, point.high) == pytest.approx(
            (ours.mean / 1e6, ours.ci_low / 1e6, ours.ci_high / 1e6)
        )
        assert point.trials == pytest.approx([value / 1e6 for value in ours.values])
    marks = {(mark.x, mark.y) for one in drawn.published for mark in one.marks}
    assert {(384, 79.8), (384, 58.8), (384, 69.1), (1152, 86.0), (1152, 75.6)} <= marks
