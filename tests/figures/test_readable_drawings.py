"""What a reader of a drawing must be able to tell apart."""

import itertools
from typing import Any

import matplotlib
import pytest
from synthetic_runs import synthetic_run

from lanlab.analysis.trials.run_data import RunData
from lanlab.figures import render_matplotlib
from lanlab.figures.chart import Axis, Chart, Limit, Point, PublishedMark, PublishedSeries, Series
from lanlab.figures.finishing import in_readable_unit
from lanlab.figures.look_matplotlib import legend_names, style
from lanlab.figures.registry import build_figure
from lanlab.figures.scale_matplotlib import within_sight
from lanlab.figures.series_matplotlib import series_offset_pt

_NAMED = Axis("x", "", categories=("one", "two"))


def point(x: float, y: float, *trials: float, half: float = 1.0) -> Point:
    return Point(x, y, y - half, y + half, trials or (y - half, y + half), f"at {x}")


def chart_of(*series: Series, **more: Any) -> Chart:
    return Chart("t", more.pop("x", Axis("x", "")), Axis("y", "Mbit/s"), series, **more)


def drawn(chart: Chart) -> tuple[Any, dict[str, Any]]:
    with matplotlib.rc_context(style(svg_text="path")):
        figure, axes = render_matplotlib._draw(chart, 6.4)
        figure.draw_without_rendering()
    parts = [*axes.lines, *axes.patches, *axes.collections, *axes.texts]
    return axes, {part.get_gid(): part for part in parts if part.get_gid()}


def pixels(part: Any) -> Any:
    return part.get_transform().transform(part.get_xydata())


def test_trials_are_drawn_beside_and_above_their_interval() -> None:
    _, parts = drawn(
        chart_of(Series("a", (point(0, 10, 9, 10, 11), point(1, 20, 19, 20, 21))), x=_NAMED)
    )

    rings, means = pixels(parts["series-0-trials"]), pixels(parts["series-0-line"])
    # Six points beside: beyond the caps, which reach three.
    assert rings[0][0] - means[0][0] == pytest.approx(6 / 72 * 100, abs=0.5)
    assert parts["series-0-trials"].get_zorder() > parts["series-0-interval0"].get_zorder()
    assert parts["series-0-trials"].get_alpha() is None


def test_a_single_trial_is_not_drawn_twice() -> None:
    _, parts = drawn(chart_of(Series("a", (Point(1, 10, None, None, (10.0,), "x"),))))

    assert len(parts["series-0-trials"].get_xdata()) == 0


def test_intervals_at_one_place_are_spread_with_their_marks() -> None:
    both = (point(0, 10), point(1, 20))
    chart = chart_of(Series("a", both), Series("b", both), x=_NAMED)

    assert chart.is_set_apart
    assert series_offset_pt(chart, 0) == -series_offset_pt(chart, 1) != 0
    _, parts = drawn(chart)
    first, second = (pixels(parts[f"series-{at}-line"])[0][0] for at in (0, 1))
    assert second - first == pytest.approx(5 / 72 * 100, abs=0.5)
    marks = render_matplotlib.to_drawing(chart, "p-", 6.4).marks
    assert marks[2].x - marks[0].x == pytest.approx(5, abs=0.5)


def test_nothing_is_moved_where_nothing_overlaps() -> None:
    chart = chart_of(Series("a", (point(1, 10),)), Series("b", (point(2, 10),)))

    assert not chart.is_set_apart
    assert series_offset_pt(chart, 1) == 0


def test_shares_are_drawn_only_at_measured_points() -> None:
    xs = (200.0, 500.0, 1_300.0)
    parts = tuple(
        Series(name, tuple(Point(x, y, None, None, (y,), name) for x in xs), "stack")
        for name, y in (("received", 60.0), ("lost", 40.0))
    )
    axes, _ = drawn(chart_of(*parts, x=Axis("sending speed", "kB/s")))

    assert not axes.collections
    spans = sorted({(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches})
    assert len(spans) == 3
    assert all(low < x < high for x, (low, high) in zip(xs, spans, strict=True))
    assert all(a[1] < b[0] for a, b in itertools.pairwise(spans))


def test_long_names_give_stacked_rows() -> None:
    names = tuple(f"messages of {size} B over IPv6, IO one at a time" for size in (64, 1408))
    parts = tuple(
        Series(name, tuple(Point(x, y, None, None, (y,), name) for x in (0.0, 1.0)), "stack")
        for name, y in (("received", 60.0), ("lost", 40.0))
    )
    chart = chart_of(*parts, x=Axis("condition", "", categories=names), sideways=True)
    axes, _ = drawn(chart)

    assert [label.get_rotation() for label in axes.get_yticklabels()] == [0.0, 0.0]
    spans = [(bar.get_y(), bar.get_x(), bar.get_width()) for bar in axes.patches]
    assert [span[1:] for span in spans] == [(0, 60), (0, 60), (60, 40), (60, 40)]
    assert spans[0][0] == spans[2][0] != spans[1][0] == spans[3][0]
    assert axes.get_xlim() == (0, 102)
    marks = render_matplotlib.to_drawing(chart, "p-", 6.4).marks
    assert marks[0].y == marks[2].y and marks[0].x < marks[2].x


def test_equal_names_appear_in_the_legend_once() -> None:
    lines = tuple(Limit("link limit", ((0.0, y), (1.0, y))) for y in (9.0, 9.5))

    assert legend_names(chart_of(Series("a", (point(1, 10),)), limits=lines)) == ["a", "link limit"]


@pytest.mark.parametrize(
    ("study", "name"),
    [("milanovic-srbljic", "link limit"), ("schomer-claason", "highest link limit")],
)
def test_limits_of_bars_are_named_once_even_if_they_differ(study: str, name: str) -> None:
    synthetic = synthetic_run(study, "quick")
    figure = next(f for f in synthetic.study.figure if f.figure == "bars")
    chart = build_figure(RunData(*synthetic.pair(), synthetic.study, synthetic.published), figure)

    assert [limit.name for limit in chart.limits] == [name]


def test_published_numbers_without_a_speed_are_drawn_at_no_speed() -> None:
    level = PublishedSeries("Pentium 133", (PublishedMark(None, 5.0, "p. 3"),))
    axes, parts = drawn(chart_of(Series("a", (point(1, 10),)), published=(level,)))

    line = parts["published-0-0"]
    assert list(line.get_ydata()) == [5.0, 5.0]
    assert line.get_marker() in (None, "None", "")
    ends = line.get_transform().transform(line.get_xydata())
    assert ends[1][0] - ends[0][0] == pytest.approx(axes.bbox.width)
    assert parts["published-0-0-name"].get_text() == "published: Pentium 133"
    assert parts["published-0-0-name"].get_zorder() < parts["series-0-line"].get_zorder()


def test_published_series_have_the_names_of_the_study() -> None:
    synthetic = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    figure = synthetic.study.figure[0]
    chart = build_figure(RunData(*synthetic.pair(), synthetic.study, synthetic.published), figure)

    assert {one.name.partition(",")[0] for one in chart.published} <= {
        "Windows XP SP2",
        "Windows XP",
        "Windows Vista SP1",
        "Windows Vista",
    }


@pytest.mark.parametrize("most", [12.0, 100.0, 0.7, 1_105.0])
def test_ticks_are_at_round_numbers(most: float) -> None:
    axes, _ = drawn(chart_of(Series("a", (point(1, most / 2, half=0), point(2, most, half=0)))))

    steps = [b - a for a, b in itertools.pairwise(axes.get_yticks())]
    digits = {f"{step:.3e}"[0] for step in steps}
    assert digits <= {"1", "2", "5"}


def test_short_times_are_in_microseconds_and_long_ones_are_not() -> None:
    def times(*values: float) -> Chart:
        points = tuple(Point(x, y, y / 2, 2 * y, (y,), "") for x, y in enumerate(values))
        limit = Limit("wire", ((0.0, 0.1), (1.0, 0.1)))
        return Chart("t", Axis("x", "B"), Axis("rtt", "ms"), (Series("a", points),), (limit,))

    short = in_readable_unit(times(0.036, 0.5))
    assert short.y.unit == "µs"
    first = short.series[0].points[0]
    assert (first.y, first.low, first.high, first.trials) == (36, 18, 72, (36,))
    assert short.limits[0].points[0] == (0.0, 100.0)
    assert in_readable_unit(times(0.036, 1.2)).y.unit == "ms"


def test_an_outlying_interval_does_not_squash_the_rest() -> None:
    assert within_sight([1.0, 10.0, 5e6], [1.0, 10.0]) == (1.0, 20.0)
    assert within_sight([1.0, 12.0], [1.0, 10.0]) == (1.0, 12.0)
