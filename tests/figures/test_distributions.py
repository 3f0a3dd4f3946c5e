"""Figures of how round trips and trials are distributed."""

import struct
from typing import Any

import pytest
from test_single_measurements import NOTHING, a_run

from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.chart import Chart
from lanlab.figures.distributions import _violins
from lanlab.figures.registry import build_figure
from lanlab.figures.render_matplotlib import to_bytes, to_drawing
from lanlab.report.runs.run_page import run_on_page
from lanlab.report.trials.single_figures import stored_figures
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.model import Figure, Study

SIZES = [64, 128]
#: Percentages of a histogram of 3 digits: of values below 2048 each has a bucket.
MS = 1_000_000


def histogram(counts: dict[int, int]) -> str:
    """One of three digits, of values below 2048 ns."""
    payload, last = b"", -1
    for value, count in sorted(counts.items()):
        if value - last > 1:
            payload += number(-(value - last - 1))
        payload += number(count)
        last = value
    return (
        struct.pack(">iiiiqqd", 0x1C849313, len(payload), 0, 3, 1, 1 << 40, 1.0) + payload
    ).hex()


def number(value: int) -> bytes:
    left, octets = (value << 1) ^ (value >> 63), b""
    while left > 0x7F:
        octets += bytes([0x80 | left & 0x7F])
        left >>= 7
    return octets + bytes([left])


def echoes(with_histograms: bool = True) -> tuple[RunRecord, list[TrialRecord], Study]:
    """Six trials of two sizes; round trips of the larger take twice as long."""
    metrics: list[dict[str, Any]] = [
        {"rtt_mean_ns": 1000.0 * (1 + place % 2) + 10 * (place // 2)} for place in range(6)
    ]
    run, trials, study = a_run(
        "echo", metrics, {"time_s": 1}, factors={"message_size_bytes": SIZES}
    )
    for place, trial in enumerate(trials):
        base = 500 * (1 + place % 2)
        told = {"samples": 4, "histogram": histogram({base: 3, base + 400: 1})}
        if with_histograms:
            trial.raw["requester"] = {"round_trip": told}
    return run, trials, study


def chart(name: str, **more: Any) -> Chart:
    run, trials, study = echoes()
    figure = Figure(figure=name, title="t", experiments=("single",), **more)
    return build_figure(RunData(run, trials, study, NOTHING), figure)


def test_cumulative_shares_reach_one() -> None:
    found = chart("round_trip_ecdf")
    assert [series.name for series in found.series] == ["64 B", "128 B"]
    assert (found.x.label, found.y.label) == (
        "round-trip time (ms)",
        "round trips that took no longer (%)",
    )
    places = [(round(p.x * MS), p.y) for p in found.series[0].points]
    assert places == [(500, 0), (500, 75), (900, 100)]
    assert [round(p.x * MS) for p in found.series[1].points] == [1000, 1000, 1400]


def test_violins_are_widest_where_most_round_trips_are() -> None:
    found = chart("round_trip_violins")
    assert found.x.categories == ("64 B", "128 B")
    (medians,) = found.series
    scale = 1e3 if found.y.unit == "µs" else MS
    assert [round(p.y * scale) for p in medians.points] == [500, 1000]
    assert len(found.shapes) == 2
    for shape, median in zip(found.shapes, medians.points, strict=True):
        widest, half = max(shape.outline, key=lambda place: place[1])
        assert widest == pytest.approx(median.y, rel=0.1)
        assert 0.35 < half <= 0.4


def test_a_narrow_violin_is_not_cut_off() -> None:
    """All of its round trips are equal, and the longest of all."""
    narrow, _ = _violins([[(1000.0, 9.0)] * 2, [(1.0, 9.0), (1.1, 5.0)]])
    assert max(narrow.outline)[1] < 0.01


def test_a_violin_is_no_wider_than_its_round_trips() -> None:
    """At 16 ms ± 0.1 %, beside round trips of 0.1 ms: no spread is invented."""
    near = [(16.0 + 0.016 * n, 100.0) for n in (-1, 0, 1)]
    _, narrow = _violins([[(0.1, 50.0), (0.2, 50.0)], near])
    assert 15.9 < min(narrow.outline)[0] < max(narrow.outline)[0] < 16.1


@pytest.mark.parametrize("name", ["round_trip_ecdf", "round_trip_violins"])
def test_violins_are_drawn_reproducibly(name: str) -> None:
    found = chart(name)
    drawing = to_drawing(found, "f-", 5.0)
    assert drawing.svg.count('id="f-shape-') == len(found.shapes)
    assert to_bytes(found, "svg") == to_bytes(found, "svg")


def test_distributions_need_stored_round_trips() -> None:
    run, trials, study = echoes()
    names = [figure.figure for figure in stored_figures(study, trials)]
    assert names == ["round_trip_ecdf", "round_trip_violins"]
    page = run_on_page(RunData(run, trials, published=NOTHING), "x")
    assert sum("istribution" in f.chart.title for f in page.experiments[0].figures) == 2
    assert stored_figures(study, echoes(with_histograms=False)[1]) == ()
    for trial in trials:
        trial.raw["requester"]["round_trip"]["histogram"] = "zz"
    assert stored_figures(study, trials) == ()


def test_six_conditions_spread_by_median_are_drawn() -> None:
    """A size of 128 bytes takes 1 µs, one of 256 bytes 2 µs; the order of the study stays."""
    sizes = [128 * number for number in (3, 1, 2, *range(4, 16))]
    metrics: list[dict[str, Any]] = [{"rtt_mean_ns": 1000.0 * size / 128} for size in sizes]
    run, trials, study = a_run(
        "echo", metrics, {"time_s": 1}, factors={"message_size_bytes": sizes}
    )
    for trial, size in zip(trials, sizes, strict=True):
        told = {"samples": 1, "histogram": histogram({size // 128 * 100: 1})}
        trial.raw["requester"] = {"round_trip": told}
    figure = Figure(figure="round_trip_ecdf", title="t", experiments=("single",))
    found = build_figure(RunData(run, trials, study, NOTHING), figure)
    drawn = [series.name for series in found.series]
    assert drawn == [f"{128 * n:,} B" for n in (1, 4, 7, 9, 12, 15)]
    assert "Drawn are 6 of 15 conditions" in found.caption
