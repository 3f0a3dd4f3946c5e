"""Figures of what was lost, of what more costs, and of who got what."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import matplotlib
import pytest
from synthetic_runs import SyntheticRun, synthetic_run

from lanlab.analysis.trials.run_data import RunData
from lanlab.figures import render_matplotlib
from lanlab.figures.chart import Axis, Chart, Point, Series
from lanlab.figures.look_matplotlib import FILLS, HATCH
from lanlab.figures.registry import build_figure
from lanlab.figures.render_matplotlib import to_bytes, to_drawing
from lanlab.report.page import rendering
from lanlab.studies.model import Figure

EXAMPLES = Path(__file__).parents[2] / "examples"


def drawn(synthetic: SyntheticRun, figure: Figure) -> Chart:
    return build_figure(
        RunData(synthetic.run, synthetic.trials, synthetic.study, synthetic.published), figure
    )


@pytest.fixture(scope="module")
def sweep() -> SyntheticRun:
    return synthetic_run("milanovic-srbljic", "quick")


@pytest.fixture(scope="module")
def fairness() -> SyntheticRun:
    synthetic = synthetic_run(str(EXAMPLES / "tcp-fairness"), "quick")
    judged = [
        replace(t, metrics={**t.metrics, "jain_index": 0.9, "first_control_share_ratio": 0.6})
        for t in synthetic.trials
    ]
    return replace(synthetic, trials=judged)


def losses(sweep: SyntheticRun, experiments: tuple[str, ...] = ("udp-500",)) -> Chart:
    return drawn(
        sweep, Figure(figure="losses_against_sent", title="Losses", experiments=experiments)
    )


def test_received_and_lost_shares_add_up_to_one(
    sweep: SyntheticRun,
) -> None:
    chart = losses(sweep)
    assert chart.x.label == "sending speed (kB/s)"
    tops = chart.floors(len(chart.series))
    assert list(tops) == [200, 500, 800, 1000, 1100, 1325]
    assert list(tops.values()) == pytest.approx([100] * 6)


def test_only_places_with_losses_are_stacked(sweep: SyntheticRun) -> None:
    chart = losses(sweep)
    assert [series.name for series in chart.series] == [
        "received",
        "dropped in the sender's queue",
        "dropped in the receiver's socket buffer",
    ]
    assert {series.kind for series in chart.series} == {"stack"}
    queue, buffer = (series.points[-1].y for series in chart.series[1:])
    assert queue == pytest.approx(3 * buffer, rel=0.01)


def test_conditions_with_further_factors_have_a_bar_each(
    sweep: SyntheticRun,
) -> None:
    chart = losses(sweep, ("udp-500", "udp-2"))
    assert len(chart.x.categories) == 12
    assert [point.x for point in chart.series[0].points] == list(range(12))


def test_trials_without_loss_places_are_not_drawn(sweep: SyntheticRun) -> None:
    blind = [
        replace(t, metrics={k: v for k, v in t.metrics.items() if "lost_" not in k})
        for t in sweep.trials
    ]
    assert losses(replace(sweep, trials=blind)).is_empty


def test_labels_are_centred_in_their_part(sweep: SyntheticRun) -> None:
    chart = losses(sweep)
    drawing = to_drawing(chart, "f-", 6.4)
    received = [mark for mark in drawing.marks if mark.group == "series-0"]
    [lost] = [mark for mark in drawing.marks if mark.group == "series-2"]
    assert len(received) == 6
    assert lost.text.startswith("1,325 kB/s, dropped in the receiver's socket buffer: 4.1")
    assert "95 % " in lost.text
    first, *_, last = (point.y / 2 for point in chart.series[0].points)
    centre = chart.floors(2)[1325] + chart.series[2].points[-1].y / 2
    of_one = (received[-1].y - received[0].y) / (last - first)
    assert lost.y - received[-1].y == pytest.approx(of_one * (centre - last))


def test_the_table_of_a_stack_has_the_share_of_each_part(sweep: SyntheticRun) -> None:
    chart = losses(sweep)
    rows = list(chart.rows())
    assert len(rows) == 18
    assert sum(float(row[3] or 0) for row in rows) == pytest.approx(600)


def test_parts_of_a_stacked_bar_also_differ_by_pattern(sweep: SyntheticRun) -> None:
    svg = to_drawing(losses(sweep), "f-", 6.4).svg
    patterns = [e for e in ElementTree.fromstring(svg).iter() if e.tag.endswith("pattern")]
    assert len(patterns) == 2


def test_the_dark_page_has_a_colour_for_every_drawn_colour() -> None:
    css = (
        Path(build_figure.__code__.co_filename).parents[1] / "report/page/assets/report.css"
    ).read_text()
    for colour in (*FILLS, HATCH):
        name = rendering._THEME[colour].removeprefix("var(").removesuffix(")")
        # Once for light pages, twice for dark ones, and for print.
        assert css.count(f"{name}: #") == 4, name


@pytest.mark.parametrize("kind", ["areas", "bars", "one"])
def test_a_stack_is_drawn_with_areas_bars_or_a_single_bar(kind: str) -> None:
    xs = [0.0, 1.0, 2.0] if kind != "one" else [5.0]
    categories = ("a", "b", "c") if kind == "bars" else ()
    parts = tuple(
        Series(name, tuple(Point(x, y, None, None, (y,), name) for x in xs), "stack")
        for name, y in (("lower", 60.0), ("upper", 40.0), ("empty", 0.0))
    )
    chart = Chart("t", Axis("x", "", categories=categories), Axis("y", "%"), parts)
    assert to_bytes(chart, "svg") == to_bytes(chart, "svg")
    marks = to_drawing(chart, "p-", 5.0).marks
    assert len(marks) == 2 * len(xs)


def against(synthetic: SyntheticRun, metric: str | None, *experiments: str) -> Chart:
    figure = Figure(
        figure="against_factor", title="t", experiments=experiments, metric=metric, factor="flows"
    )
    return drawn(synthetic, figure)


def test_a_metric_is_drawn_against_a_number_on_a_logarithmic_axis(fairness: SyntheticRun) -> None:
    chart = against(fairness, "jain_index", "cubic-alone", "cubic-reno")
    assert chart.x.logarithmic
    assert (chart.x.name, chart.y.label) == ("flows", "Jain's index")
    assert [series.name for series in chart.series] == ["cubic alone", "cubic against reno"]
    assert [(p.x, p.y) for p in chart.series[1].points] == [(2, pytest.approx(0.9)), (8, 0.9)]
    assert to_bytes(chart, "svg")


def test_a_figure_shows_the_first_metric_over_the_first_numeric_factor() -> None:
    synthetic = synthetic_run("manford-kolahi", link_rate_bps=100_000_000)
    figure = Figure(figure="against_factor", title="t", experiments=("throughput",))
    chart = drawn(synthetic, figure)
    assert (chart.x.name, chart.y.name) == ("packet size", "throughput")
    assert [series.name for series in chart.series] == ["IPv4", "IPv6"]


def test_a_zero_level_prevents_a_logarithmic_axis() -> None:
    synthetic = synthetic_run("manford-kolahi", link_rate_bps=100_000_000)
    study = synthetic.study.model_dump(mode="json", exclude_none=True)
    for experiment in study["experiment"]:
        experiment["factors"] = {"dscp": [0, 8], **experiment["factors"]}
    changed = replace(synthetic, run=replace(synthetic.run, study=study))
    trials = [replace(t, factors={"dscp": 0, **t.factors}) for t in changed.trials]
    own = type(synthetic.study).model_validate(study)
    figure = Figure(figure="against_factor", title="t", experiments=("throughput",), factor="dscp")
    chart = drawn(replace(changed, trials=trials, study=own), figure)
    assert [p.x for series in chart.series for p in series.points] == [0] * 6
    assert not chart.x.logarithmic


def test_each_flow_has_a_bar_in_the_colour_of_its_congestion_control(
    fairness: SyntheticRun,
) -> None:
    figure = Figure(figure="flow_shares", title="t", experiments=("cubic-reno",))
    chart = drawn(fairness, figure)
    assert len(chart.x.categories) == 8
    cubic, reno = chart.series
    assert [point.x for point in cubic.points] == [0, 2, 4, 6]
    assert [point.x for point in reno.points] == [1, 3, 5, 7]
    # 125,000 and 250,000 octets in a second.
    assert {point.y for point in cubic.points} == {2.0}
    assert {point.y for point in reno.points} == {1.0}
    assert chart.caption.startswith("Flows 8: Jain's index 0.9000. Means of the trials.")


def test_a_search_has_no_flows_to_show(sweep: SyntheticRun) -> None:
    figure = Figure(figure="flow_shares", title="t", experiments=("udp-500-saturation",))
    assert drawn(sweep, figure).is_empty


def test_flows_that_were_not_measured_have_no_bars(fairness: SyntheticRun) -> None:
    figure = Figure(figure="flow_shares", title="t", experiments=("cubic-bbr",))
    failed = [replace(t, status="failed", raw={}) for t in fairness.trials]
    chart = drawn(replace(fairness, trials=failed), figure)
    assert chart.is_empty
    assert to_bytes(chart, "svg")


def test_only_some_of_a_thousand_flows_are_labelled() -> None:
    names = tuple(str(flow) for flow in range(1000))
    points = tuple(Point(float(flow), 1.0, None, None, (1.0,), "f") for flow in range(1000))
    chart = Chart(
        "t", Axis("flow", "", categories=names), Axis("y", ""), (Series("s", points, "stack"),)
    )
    svg = to_drawing(chart, "p-", 6.4).svg
    texts = ["".join(e.itertext()).strip() for e in ElementTree.fromstring(svg).iter()]
    shown = {text for text in texts if text in names}
    assert 5 < len(shown) < 60


@pytest.mark.parametrize(
    "study", ["tcp-fairness", "receiver-overload", "factor-of-ten", "receive-modes"]
)
def test_every_figure_of_the_examples_can_be_drawn(study: str) -> None:
    synthetic = synthetic_run(str(EXAMPLES / study), "quick", link_rate_bps=None)
    for figure in synthetic.study.figure:
        chart = drawn(synthetic, figure)
        assert chart.title == figure.title
        for width_in in (4.0, 9.0):
            assert_nothing_is_cut_off(chart, width_in)


def assert_nothing_is_cut_off(chart: Chart, width_in: float) -> None:
    with matplotlib.rc_context(render_matplotlib.look.style(svg_text="path")):
        figure, axes = render_matplotlib._draw(chart, width_in)
        figure.draw_without_rendering()
        least, most = axes.get_xlim()
        ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
        whole = [axes.xaxis.label, axes.yaxis.label]
        for text in whole + [label for tick, label in ticks if least <= tick <= most]:
            box = text.get_window_extent()
            assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, text.get_text()
            assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1, text.get_text()
