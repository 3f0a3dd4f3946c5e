"""What is seen of a figure at first sight: what differs, what is small, and where the knee is."""

import itertools
from dataclasses import replace

import matplotlib
import pytest
from synthetic_runs import synthetic_run

from lanlab.analysis.trials.run_data import RunData
from lanlab.figures import render_matplotlib
from lanlab.figures.chart import (
    Axis,
    Chart,
    Limit,
    Point,
    PublishedMark,
    PublishedSeries,
    Series,
    Shape,
)
from lanlab.figures.finishing import overlaid, with_distinct_labels, without_far_limits
from lanlab.figures.gather import in_order, mark_kind
from lanlab.figures.look_matplotlib import GUIDE_LINES, LIMIT_LINES, colour_of, legend_names
from lanlab.figures.number_text import with_interval
from lanlab.figures.panels import panels
from lanlab.figures.registry import build_figure
from lanlab.studies.model import Figure
from lanlab.studies.runs_on import RunsOn

SIZE, RATE = Axis("message size", "B"), Axis("goodput", "Mbit/s")


def point(x: float, y: float, low: float | None = None, high: float | None = None) -> Point:
    return Point(x, y, low, high, (), f"{x:g}")


def line(name: str, *points: Point) -> Series:
    return Series(name, points)


def drawn(name: str, figure: str, metric: str | None = None, scale: str = "tiny") -> Chart:
    made = synthetic_run(name, scale, link_rate_bps=10_000_000)
    wanted = Figure(
        figure=figure, title="t", experiments=(made.study.experiment[0].id,), metric=metric
    )
    return build_figure(RunData(made.run, made.trials, made.study, made.published), wanted)


@pytest.mark.parametrize("systems", ["AB", "ABCDE"])
def test_labels_show_differences_and_the_caption_the_rest(systems: str) -> None:
    chart = Chart(
        "t",
        SIZE,
        RATE,
        (line("SMB, IPv4, read", point(1, 2)), line("SMB, IPv4, write", point(1, 3))),
        limits=(Limit("link limit, IPv4", ((0, 1), (1, 1))),),
        published=tuple(
            PublishedSeries(f"ttcp, {os}, IPv4, read", (PublishedMark(1, 2, "2"),))
            for os in systems
        ),
        caption="Means.",
    )
    found = with_distinct_labels(chart)
    assert [one.name for one in found.series] == ["read", "write"]
    assert found.limits[0].name == "link limit"
    # A legend of many has no common names.
    few = len(systems) < 5
    assert [one.name for one in found.published] == [
        f"ttcp, {o}, read" if few else o for o in systems
    ]
    assert found.caption == "Means. SMB, IPv4 throughout."


@pytest.mark.parametrize(
    "names", [("IPv4",), ("a", "b"), ("IPv4, a", "IPv4"), ("x: a, b", "x: a, c")]
)
def test_a_label_is_never_left_without_words(names: tuple[str, ...]) -> None:
    series = tuple(line(name, point(1, 2)) for name in names)
    assert with_distinct_labels(Chart("t", SIZE, RATE, series)).series == series


def test_levels_that_are_numbers_ascend() -> None:
    assert in_order([1408, 64, 512]) == [64, 512, 1408]
    assert in_order(["smb", "ftp"]) == ["smb", "ftp"]


def test_small_bars_are_visible_next_to_large_ones() -> None:
    """500-byte messages reach a hundred times what 2-byte messages do."""
    made = synthetic_run("milanovic-srbljic")
    figure = Figure(figure="bars", title="t", experiments=("tcp",))
    chart = build_figure(RunData(made.run, made.trials, made.study, made.published), figure)
    ys = [p.y for one in chart.series for p in one.points]
    assert chart.y.logarithmic == (max(ys) > 20 * min(ys))


def test_a_saturation_is_drawn_around_its_knee() -> None:
    made = synthetic_run("milanovic-srbljic", "quick")
    search = next(e for e in made.study.experiment if e.search is not None)
    figure = Figure(figure="saturation_curve", title="t", experiments=(search.id,))
    chart = build_figure(RunData(made.run, made.trials, made.study, made.published), figure)
    ends = [x for limit in chart.limits for x, _ in limit.points]
    assert ends and chart.x.ends is not None and chart.y.ends is not None
    low, high = chart.x.ends
    assert low < min(ends) and max(ends) < high
    assert chart.y.ends[0] > 0.5 * min(p.y for one in chart.series for p in one.points)


def distributions() -> Chart:
    """Seven sizes over IPv4 and IPv6, each ten times as long as the one before."""
    names = tuple(f"IPv{version}, {size} B" for size in range(1, 8) for version in (4, 6))
    heights = [10.0 ** (place // 2) for place in range(14)]
    points = tuple(Point(float(place), y) for place, y in enumerate(heights))
    shapes = [Shape(p.x, ((0.9 * p.y, 0.1), (p.y, 0.4), (1.1 * p.y, 0.1))) for p in points]
    series = (Series("median", points, "points"),)
    axes = Axis("", "", categories=names), Axis("time", "ms", logarithmic=True)
    return Chart("t", *axes, series, shapes=tuple(shapes))


def test_distributions_are_drawn_in_panels_of_eight_with_an_axis_each() -> None:
    chart = distributions()
    parts = panels(chart)
    assert [len(part.x.categories) for part in parts] == [6, 8]
    assert sum((part.x.categories for part in parts), ()) == chart.x.categories
    for part in parts:
        # IPv4 and IPv6 stay together, and no panel is mostly empty.
        versions = [name.split(",")[0] for name in part.x.categories]
        assert versions == ["IPv4", "IPv6"] * (len(versions) // 2)
        assert part.y.ends is None
        assert all(0 <= p.x < len(part.x.categories) for one in part.series for p in one.points)
    points = [p.y for part in parts for one in part.series for p in one.points]
    assert points == [p.y for one in chart.series for p in one.points]
    assert panels(replace(chart, shapes=())) == (replace(chart, shapes=()),)


@pytest.mark.parametrize(("where", "kinds"), [("real", {"published"}), ("simulated", None)])
def test_fitted_and_held_out_values_have_marks_of_their_own(
    where: RunsOn, kinds: set[str] | None
) -> None:
    made = synthetic_run("manford-kolahi", "quick", where=where)
    of = "throughput" if where == "real" else "throughput-simulated"
    figure = Figure(figure="against_size", title="t", experiments=(of,))
    chart = build_figure(RunData(made.run, made.trials, made.study, made.published), figure)
    # Of the values at one size, 384 bytes over IPv6 under Vista and 1,152 under XP were held out.
    by_kind: dict[str, set[float]] = {}
    for one in chart.published:
        by_kind.setdefault(one.kind, set()).update(mark.x or 0 for mark in one.marks)
    assert by_kind.keys() == (kinds or {"published, fitted", "published, held out"})
    assert kinds or by_kind["published, held out"] == {384.0, 1152.0}
    assert len({one.label for one in chart.published}) == len(chart.published)
    assert "Published values are marked: " in chart.description()


def test_the_rate_of_a_fitted_time_is_fitted() -> None:
    made = synthetic_run("brutman-mtcp", "quick", where="simulated")
    values = {one.id: one for one in made.published.value}
    kinds = {
        adapter: mark_kind(values[f"ftp.pcjr.{adapter}.send_rate"], made.published, made.study)
        for adapter in ("xircom", "wd8003")
    }
    assert kinds == {"xircom": "published, fitted", "wd8003": "published, held out"}


def test_many_lines_without_common_names_are_drawn_in_panels_of_six() -> None:
    chart = Chart("t", SIZE, RATE, tuple(line(name, point(1, 2)) for name in "abcdefghi"))
    parts = panels(chart)
    assert [[one.name for one in part.series] for part in parts] == [[*"abcd"], [*"efghi"]]
    assert [part.title for part in parts] == ["t (1 of 2)", "t (2 of 2)"]
    assert len({part.y for part in parts}) == 1 and parts[0].y.ends is not None


def test_runs_with_equal_axes_share_a_figure() -> None:
    printed = [
        PublishedSeries(name, (PublishedMark(1, y, str(y)),)) for y, name in enumerate("xyz")
    ]
    first = Chart("t", SIZE, RATE, (line("measured", point(1, 2)),), caption="One.")
    first = replace(first, published=tuple(printed[:2]))
    second = replace(first, series=(line("a", point(1, 3)), line("b", point(1, 4))), caption="Two.")
    second = replace(second, published=(replace(printed[0], name="x, longer"), *printed[1:]))
    both = overlaid([("run 1", first), ("run 2", second)])
    assert both is not None
    assert [one.name for one in both.series] == ["run 1", "a, run 2", "b, run 2"]
    assert both.caption == "Run 1: One. Run 2: Two."
    styles = [one.style or 0 for one in both.series]
    assert list(map(colour_of, styles)) == list(map(colour_of, (0, 0, 1)))
    assert len(set(styles)) == 3
    # In the order of each run's own figure, so that a marker means the same in both.
    assert [one.name for one in both.published] == ["x", "y", "z"]
    assert overlaid([("run 1", first), ("run 2", replace(second, y=Axis("loss", "%")))]) is None
    assert overlaid([("run 1", first)]) is None


def test_each_dash_has_one_meaning_and_each_name_appears_once() -> None:
    chart = Chart(
        "t",
        SIZE,
        RATE,
        tuple(line(f"s{n}", point(1, 2 + n), point(2, 3 + n)) for n in range(4)),
        limits=(
            Limit("link", ((1, 9), (2, 9))),
            Limit("other", ((1, 8), (2, 8))),
            Limit("guide", ((1, 1), (2, 1)), kind="guide"),
            Limit("another guide", ((1, 2), (2, 2)), kind="guide"),
            Limit("guide", ((1, 3), (2, 3)), kind="guide"),
        ),
        published=(PublishedSeries("printed", (PublishedMark(None, 5, "5"),)),),
    )
    with matplotlib.rc_context(render_matplotlib.look.style(svg_text="none")):
        figure, axes = render_matplotlib._draw(chart, 6.0)
        dashes = {one.get_gid(): one.get_linestyle() for one in axes.lines}
        patterns = {
            one.get_gid(): one._unscaled_dash_pattern for one in axes.lines if one.get_gid()
        }
        legend = [text.get_text() for one in figure.legends for text in one.get_texts()]
        texts = [text.get_text() for text in axes.texts]
    assert {dashes[f"series-{n}-line"] for n in range(4)} == {"-"}
    assert (patterns["limit-0-line0"], patterns["limit-1-line1"]) == LIMIT_LINES[:2]
    assert patterns["limit-2-line2"] == patterns["limit-2-line4"] == GUIDE_LINES[0]
    assert patterns["limit-3-line3"] == GUIDE_LINES[1]
    assert "published: printed" in texts and not any("printed" in name for name in legend)
    assert legend == legend_names(chart)


def test_an_interval_beyond_the_axis_ends_in_an_arrow() -> None:
    chart = Chart("t", SIZE, RATE, (line("a", point(1, 2, 1, 1e6), point(2, 3, 2, 4)),))
    with matplotlib.rc_context(render_matplotlib.look.style(svg_text="none")):
        _, axes = render_matplotlib._draw(chart, 6.0)
        (over,) = [one for one in axes.lines if one.get_gid() == "series-0-over"]
        assert list(over.get_xdata()) == [1]
        assert list(over.get_ydata()) == [axes.get_ylim()[1]]
        assert over.get_marker() == "^"
        assert not any(one.get_gid() == "series-0-under" for one in axes.lines)

        _, axes = render_matplotlib._draw(replace(chart, x=replace(SIZE, ends=(1.5, 3))), 6.0)
        assert not any(one.get_gid() == "series-0-over" for one in axes.lines)


@pytest.mark.parametrize(("width_in", "angle"), [(9.0, 0), (3.0, 45)])
def test_numbers_are_tilted_only_where_they_do_not_fit(width_in: float, angle: float) -> None:
    sizes = range(128, 1409, 128)
    chart = Chart("t", SIZE, RATE, (line("a", *(point(size, 1) for size in sizes)),))
    with matplotlib.rc_context(render_matplotlib.look.style(svg_text="none")):
        figure, axes = render_matplotlib._draw(chart, width_in)
        figure.draw_without_rendering()
        assert {label.get_rotation() for label in axes.get_xticklabels()} == {angle}


def test_two_part_names_wrap_before_they_tilt() -> None:
    names = tuple(f"IPv4, {size:,} B" for size in (128, 256, 384, 512, 640, 768, 896, 1024))
    x = replace(SIZE, categories=names)
    chart = Chart("t", x, RATE, (line("a", *(point(at, 1) for at in range(len(names)))),))
    with matplotlib.rc_context(render_matplotlib.look.style(svg_text="none")):
        figure, axes = render_matplotlib._draw(chart, 6.4)
        figure.draw_without_rendering()
        labels = axes.get_xticklabels()
        assert {label.get_rotation() for label in labels} == {0}
        assert labels[0].get_text() == "IPv4,\n128 B"
        boxes = [label.get_window_extent() for label in labels]
        assert all(a.x1 < b.x0 for a, b in itertools.pairwise(boxes))
        assert all(box.y0 > 0 for box in boxes)


def test_a_limit_far_above_is_in_the_caption_and_hides_nothing() -> None:
    far, near = Limit("link limit", ((0, 115), (1, 115))), Limit("near", ((0, 40), (1, 40)))
    chart = Chart("t", SIZE, RATE, (line("a", point(1, 20), point(2, 21)),), limits=(far, near))
    shown = without_far_limits(chart)
    assert shown.limits == (near,)
    assert f"Too far above to be drawn: link limit (115.0 {RATE.unit})." in shown.caption
    on_log = replace(chart, y=replace(RATE, logarithmic=True))
    assert without_far_limits(on_log) == on_log


def test_numbers_have_no_spurious_digits() -> None:
    assert with_interval(28.427154, (28.427109, 28.427199)) == "28.4272 ± 0.0001"
    assert with_interval(1093.42, (1090.2, 1096.64)) == "1,093.4 ± 3.2"
    assert with_interval(50.5, (1e-9, 1e12), "ms").startswith("about 50 ms (too few trials")


@pytest.mark.parametrize(("changed", "is_wide"), [(40, False), (90, True)])
def test_what_a_change_leaves_alike_is_drawn_once(changed: int, is_wide: bool) -> None:
    def chart(height: int) -> Chart:
        own = Limit("link limit", ((1, 99), (2, 99)), series=1)
        series = (line("a", point(1, 20), point(2, 21)), line("b", point(1, 10), point(2, height)))
        return Chart("t", SIZE, RATE, series, limits=(own,))

    found = overlaid([("before", chart(11)), ("after", chart(changed))])
    assert found is not None and found.y.logarithmic == is_wide
    assert [one.name for one in found.series] == ["a", "b, before", "b, after"]
    assert [limit.series for limit in found.limits] == [1, 2]


@pytest.mark.parametrize(("count", "shown"), [(8, 8), (12, 1)])
def test_published_series_that_cannot_be_told_apart_are_one(count: int, shown: int) -> None:
    published = tuple(
        PublishedSeries(f"PC {n}, rate", (PublishedMark(1, float(n), f"page {n}"),), series=0)
        for n in range(count)
    )
    chart = Chart("t", SIZE, RATE, (line("a", point(1, 20), point(2, 21)),), published=published)
    found = with_distinct_labels(chart).published
    assert len(found) == shown and sum(len(one.marks) for one in found) == count
    if shown == 1:
        assert found[0].label == "published" and found[0].marks[3].printed == "PC 3: page 3"
