"""Figures of published numbers: each shows what was printed, with what is known of its error."""

import re
from dataclasses import replace
from typing import Any

import pytest
from synthetic_runs import synthetic_run

from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.chart import Chart, Limit, Point
from lanlab.figures.published import PublishedFigure, published_figures, with_measured
from lanlab.figures.published_values import DESCRIBING, ends_of
from lanlab.figures.render_matplotlib import to_bytes, to_drawing
from lanlab.report.page.rendering import _THEME
from lanlab.studies.load import known_studies, load_study
from lanlab.studies.published import PublishedValue
from lanlab.studies.tables import laid_out

_COLOUR = re.compile(r"#[0-9a-f]{6}\b")


def figures_of(name: str) -> dict[str, PublishedFigure]:
    loaded = load_study(name)
    return {one.name: one for one in published_figures(loaded.study, loaded.published)}


def points_of(chart: Chart) -> dict[tuple[str, str], Point]:
    return {
        (series.name, chart.x.categories[round(point.x)]): point
        for series in chart.series
        for point in series.points
    }


@pytest.mark.parametrize("name", known_studies())
def test_every_published_table_is_drawn_with_every_measured_number(name: str) -> None:
    loaded = load_study(name)
    drawn = {value.id for figure in figures_of(name).values() for *_, value in figure.places}

    for table in loaded.published.table:
        rows = laid_out(loaded.published, table).rows
        cells = [cell for _, row in rows for cell in row if isinstance(cell, PublishedValue)]
        measured = [cell for cell in cells if cell.statistic not in DESCRIBING] or cells
        same = [(cell.metric, cell.statistic) for cell in measured]
        # One that stands alone has nothing beside it.
        expected = {c.id for c in measured if same.count((c.metric, c.statistic)) > 1}
        assert expected <= drawn
        assert expected


@pytest.mark.parametrize("name", known_studies())
def test_every_point_is_the_published_number_in_the_axis_unit(name: str) -> None:
    for figure in figures_of(name).values():
        points = [p for series in figure.chart.series for p in series.points]
        for x, _, value in figure.places:
            printed = figure.shown.shown(value.si)
            assert any(p.x == x and p.y == pytest.approx(printed) for p in points)


def test_bars_of_protocols_have_their_trials_and_intervals() -> None:
    chart = figures_of("schomer-claason")["results-elapsed-ns"].chart

    assert chart.y.unit == "s" and chart.sideways
    assert [series.name for series in chart.series] == ["TCP/IP", "NWLink (IPX/SPX)", "NetBEUI"]
    assert len(chart.x.categories) == 4
    point = points_of(chart)["TCP/IP", "Windows 2000 SP2, 1 file of 623 MB"]
    assert point.y == 82
    assert point.trials == (81, 84, 79, 82, 84)
    # 2.776 times the 0.02586 of the logarithms over the square root of 5: a factor of 1.0326.
    assert point.low == pytest.approx(82 / 1.0326, abs=0.01)
    assert point.high == pytest.approx(82 * 1.0326, abs=0.01)
    # Four trials of 260 s and a mean of 262 s of five: the fifth spreads them.
    equal = points_of(chart)["NWLink (IPX/SPX)", "Windows 98 SE, 198 files (472 MB)"]
    assert equal.trials == (260,) * 4
    assert equal.low is not None and equal.y - equal.low > 6


def test_rates_of_old_pcs_have_the_error_of_a_clock_step() -> None:
    chart = figures_of("brutman-mtcp")["speedtest-goodput-bps"].chart

    assert chart.interval == "clock step" and chart.y.logarithmic
    point = points_of(chart)["receiving", "Pentium 133, LinkSys LNE100"]
    # 4 MiB in 0.66 s, one step of 55 ms more and less.
    assert point.low == pytest.approx(6206.1 * 0.66 / 0.715, rel=1e-6)
    assert point.high == pytest.approx(6206.1 * 0.66 / 0.605, rel=1e-6)


def test_deviations_of_sizes_are_lines_for_each_system() -> None:
    chart = figures_of("manford-kolahi")["table-1-goodput-bps-sd"].chart

    assert [len(series.points) for series in chart.series] == [11] * 4
    assert (chart.x.unit, chart.y.unit) == ("B", "Mbit/s")
    [xp4] = [s for s in chart.series if s.name == "Windows XP, IPv4"]
    assert [p.y for p in xp4.points if p.x == 1280] == [pytest.approx(3.16)]


def test_published_ratios_are_drawn_against_a_line_at_one() -> None:
    chart = figures_of("milanovic-srbljic")["text-ratios"].chart

    points = points_of(chart)
    assert points["put as a ratio", "Celeron A 300 / Pentium 133, TCP, 500 bytes"].y == 1.15
    # 15 % lower is 0.85 times.
    assert points["put as a ratio", "Windows / Linux 2.1.132, TCP, 500 bytes"].y == 0.85
    assert {y for limit in chart.limits for _, y in limit.points} == {1.0}


def test_measurements_at_equal_conditions_are_marked() -> None:
    run = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    found = figures_of("manford-kolahi")
    summaries = RunData(run.run, run.trials).all_summaries()

    chart = with_measured(found["table-1-goodput-bps-sd"], run.study, run.published, summaries)

    assert [one.label for one in chart.published] == [
        "measured here: IPv4",
        "measured here: IPv6",
    ]
    ours = sorted(
        summary.sd / 1e6
        for summary in summaries
        if summary.metric == "goodput_bps" and summary.sd is not None
    )
    assert len(ours) == 14
    marked = sorted(mark.y for one in chart.published for mark in one.marks)
    assert marked == pytest.approx(ours)
    nothing = found["text-rtt-mean-ns"]
    assert with_measured(nothing, run.study, run.published, []) is nothing.chart


@pytest.mark.filterwarnings("error")
def test_a_zero_deviation_needs_an_axis_with_zero() -> None:
    run = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    figure = figures_of("manford-kolahi")["table-1-goodput-bps-sd"]
    alike = [replace(one, sd=0.0) for one in RunData(run.run, run.trials).all_summaries()]
    assert figure.chart.y.logarithmic

    chart = with_measured(figure, run.study, run.published, alike)

    assert {mark.y for one in chart.published for mark in one.marks} == {0.0}
    assert not chart.y.logarithmic
    drawing = to_drawing(chart, "a", 6.0)
    assert all(0 <= mark.y <= drawing.height for mark in drawing.marks)


def test_figures_of_a_study_have_unique_names() -> None:
    for name in known_studies():
        loaded = load_study(name)
        found = published_figures(loaded.study, loaded.published)
        assert len({figure.name for figure in found}) == len(found) > 0


#: One of each sort: bars with trials, a logarithmic axis, lines, ratios, measured marks.
DRAWN = {
    "schomer-claason": ("results-elapsed-ns", "appendix-b-w2ksp2-elapsed-ns-trial"),
    "brutman-mtcp": ("speedtest-goodput-bps",),
    "manford-kolahi": ("table-1-goodput-bps-sd", "text-goodput-bps"),
    "milanovic-srbljic": ("text-ratios", "table-1-cache-bytes-fact"),
    "poo-tan": ("text-ratios",),
}
CASES = [(study, name) for study, names in DRAWN.items() for name in names]


@pytest.mark.parametrize(("study", "name"), CASES)
def test_every_colour_follows_the_dark_page(study: str, name: str) -> None:
    chart = figures_of(study)[name].chart
    drawing = to_drawing(chart, "p-", 4.0)

    # The ground of clips, and the faces of an interval's caps, which are lines: nowhere seen.
    unseen = {"#ffffff", "#000000", "#1f77b4"}
    assert set(_COLOUR.findall(drawing.svg)) - unseen <= set(_THEME)
    assert len(drawing.marks) == sum(len(s.points) for s in chart.series) + sum(
        len(p.marks) for p in chart.published
    )


@pytest.mark.parametrize(("study", "name"), CASES)
@pytest.mark.parametrize("width_in", [9.0, 4.0])
def test_texts_are_uncut_and_do_not_overlap(study: str, name: str, width_in: float) -> None:
    import matplotlib

    from lanlab.figures import render_matplotlib

    chart = figures_of(study)[name].chart
    with matplotlib.rc_context(render_matplotlib.look.style(svg_text="path")):
        figure, axes = render_matplotlib._draw(chart, width_in)
        figure.draw_without_rendering()
        edges = figure.bbox
        texts = [label for axis in (axes.xaxis, axes.yaxis) for label in _shown_labels(axis)]
        boxes = [t.get_window_extent() for t in texts]
        for one in (*texts, axes.xaxis.label, axes.yaxis.label):
            box = one.get_window_extent()
            assert box.x0 >= edges.x0 - 1 and box.x1 <= edges.x1 + 1, one.get_text()
            assert box.y0 >= edges.y0 - 1 and box.y1 <= edges.y1 + 1, one.get_text()
        for place, box in enumerate(boxes):
            if texts[place].get_rotation() == 0:
                assert not any(box.overlaps(other) for other in boxes[place + 1 :])


def _shown_labels(axis: Any) -> list[Any]:
    """Labels of ticks that lie on the axis: matplotlib keeps one beyond each end."""
    low, high = sorted(axis.get_view_interval())
    room = 1e-9 * (high - low)
    return [
        tick.label1
        for tick in axis.get_major_ticks()
        if low - room <= tick.get_loc() <= high + room and tick.label1.get_text()
    ]


def test_a_published_figure_is_the_same_bytes_again_as_svg_and_pdf() -> None:
    chart = figures_of("schomer-claason")["results-elapsed-ns"].chart
    assert to_bytes(chart, "svg") == to_bytes(chart, "svg")
    assert to_bytes(chart, "pdf").startswith(b"%PDF")


def test_paired_lines_are_distinguishable() -> None:
    limit = Limit("margin", ((0, 1.0), (1, 1.0), (0, 2.0), (1, 2.0)), in_pairs=True)
    assert len(limit.with_gaps()) == 6


def test_the_table_of_a_figure_counts_the_trials_of_a_published_mean() -> None:
    chart = figures_of("manford-kolahi")["text-goodput-bps"].chart
    at = chart.columns().index("trials")
    counts = {row[at] for row in chart.rows()}
    assert 40 in counts and 0 not in counts
    rows = figures_of("milanovic-srbljic")["text-ratios"].chart.rows()
    assert {row[at] for row in rows} == {None}


def test_an_interval_allows_for_the_lost_trial() -> None:
    """Four trials of 260 s and a mean of 262 s of five: the fifth was 268 s at least."""
    published = load_study("schomer-claason").published
    [mean] = [one for one in published.value if one.id == "t.w98se.nwlink.ds2.time"]
    ends = ends_of(published, mean)
    assert ends is not None and ends.n == 5 and len(ends.trials) == 4
    # It was 268 to 272 s, or up to 275 s if the mean was cut: about 4.4 to 7.7 s on either side.
    assert 254e9 < ends.low < 258e9 and 266e9 < ends.high < 270e9


def test_a_figure_of_deviations_does_not_say_that_no_spread_is_printed() -> None:
    every = {name: one for study in known_studies() for name, one in figures_of(study).items()}
    other = [one for name, one in every.items() if name.endswith(("-sd", "-trial", "-fact"))]
    assert len(other) > 5
    assert not any("No spread is printed" in one.chart.caption for one in other)
    assert "No spread is printed" in every["results-goodput-bps"].chart.caption


def test_numbers_drawn_differently_from_the_publication_are_noted() -> None:
    """2,048 KB/s were "~2MB/sec", and 1.15 was "15% better"."""
    caption = figures_of("brutman-mtcp")["ftp-goodput-bps"].chart.caption
    assert "Converted to KB/s: `~2MB/sec`." in caption
    assert "Put into" not in figures_of("brutman-mtcp")["ftp-elapsed-ns"].chart.caption
    for name in ("text-ratios", "text-shares"):
        chart = figures_of("milanovic-srbljic")[name].chart
        assert not any("printed" in series.name for series in chart.series)


def test_approximate_numbers_are_marked() -> None:
    chart = figures_of("milanovic-srbljic")["text-ratios"].chart
    told = {
        text.partition(", Section")[0].partition("bytes")[2]
        for series in chart.series
        for text in (point.condition for point in series.points)
    }
    quoted = {
        one.replace("\N{LEFT DOUBLE QUOTATION MARK}", "").rstrip("\N{RIGHT DOUBLE QUOTATION MARK}")
        for one in told
    }
    assert {
        ", almost: almost twice as fast",
        ", about: about 2.1 times faster",
        ", about: about 3.4 times faster",
        ", below: less than 4%",
        ": twice the speed of the 486",
    } <= quoted


def test_times_of_different_amounts_are_not_compared() -> None:
    """623 MB in one row, 472 MB in another: the figure says so, and that of rates need not."""
    drawn = figures_of("schomer-claason")
    assert "Times of different amounts do not compare" in drawn["results-elapsed-ns"].chart.caption
    assert "do not compare" not in drawn["results-goodput-bps"].chart.caption


def test_numbers_split_by_the_scan_are_joined() -> None:
    chart = figures_of("schomer-claason")["appendix-b-w2ksp2-elapsed-ns-trial"].chart
    texts = [point.condition for series in chart.series for point in series.points]
    assert any("1 1 1\N{RIGHT DOUBLE QUOTATION MARK} (read as 111)" in text for text in texts)
