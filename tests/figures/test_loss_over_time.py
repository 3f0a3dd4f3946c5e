"""Losses over time and sending rate: the numbers of the figure, and how it is drawn."""

import itertools
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_single_measurements import NOTHING, a_run

from lanlab.analysis.traffic.loss_over_time import LOSSES, common_width_ns, losses_over_time
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.chart import Chart
from lanlab.figures.look_matplotlib import SHADES
from lanlab.figures.registry import build_figure
from lanlab.figures.render_cells import shade_of
from lanlab.figures.render_matplotlib import to_bytes, to_drawing
from lanlab.report.page.rendering import ASSETS, rendered
from lanlab.report.runs.run_page import run_on_page
from lanlab.report.trials.single_figures import stored_figures
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.series import Series
from lanlab.studies.model import Figure, Study

RATES = [8_000_000, 1_000_000, 2_000_000]
MS = 1_000_000
#: Messages and lost ones in intervals of 100 ms, by rate; two trials of each rate are alike.
COUNTS: dict[int, tuple[list[int], list[int]]] = {
    1_000_000: ([10, 10, 0, 10], [0, 0, 0, 0]),
    2_000_000: ([20, 19, 20, 20], [0, 1, 0, 0]),
    8_000_000: ([80, 60, 0, 100], [0, 20, 80, -20]),
}


def series_of(trial: TrialRecord, width_ns: int, lost: list[int] | None) -> Series:
    messages, _ = COUNTS[int(trial.factors["rate_bps"])]
    columns: dict[str, Any] = {
        "start_ns": [place * width_ns for place in range(len(messages))],
        "width_ns": [width_ns] * len(messages),
        "bytes": [100 * count for count in messages],
        "messages": messages,
    }
    if lost is not None:
        columns["lost_messages"] = lost
    arrays = {name: np.array(numbers) for name, numbers in columns.items()}
    return Series("receiver-intervals", arrays)


def scan(
    rates: list[int] | None = None,
    transport: str = "udp",
    *,
    counts_losses: bool = True,
    widths: tuple[int, int] = (100 * MS, 100 * MS),
    lossless: bool = False,
) -> tuple[RunRecord, list[TrialRecord], Study]:
    """Two trials of each rate, as a store gives them; `widths` are those of the two blocks."""
    levels = RATES if rates is None else rates
    parameters = {"time_s": 0.3, "warmup_s": 0.1, "transport": transport}
    metrics: list[dict[str, Any]] = [{"goodput_bps": 1e6} for _ in range(2 * len(levels))]
    run, trials, study = a_run("stream", metrics, parameters, factors={"rate_bps": levels})
    told = {"intervals": {"interval_ns": 100 * MS, "series": "receiver-intervals"}}
    trials = [replace(trial, raw={"receiver": told}) for trial in trials]

    def read(trial: TrialRecord, _: str) -> Series:
        lost = COUNTS[int(trial.factors["rate_bps"])][1]
        lost = [0] * len(lost) if lossless else lost
        return series_of(trial, widths[trial.block], lost if counts_losses else None)

    return run, LOSSES.added(trials, read), study


def chart(*given: Any, **more: Any) -> Chart:
    run, trials, study = scan(*given, **more)
    figure = Figure(figure="loss_over_time_and_rate", title="t", experiments=("single",))
    return build_figure(RunData(run, trials, study, NOTHING), figure)


def test_a_cell_has_the_loss_share_over_all_trials_of_a_rate() -> None:
    found = chart()
    assert [row.name for row in found.series] == ["1 Mbit/s", "2 Mbit/s", "8 Mbit/s"]
    places = [(round(p.x, 3), p.y) for p in found.series[2].points]
    assert places == [(0.05, 0), (0.15, 25), (0.25, 100), (0.35, -25)]
    assert [p.y for p in found.series[1].points] == [0, 5, 0, 0]
    assert all(point.n == 2 for row in found.series for point in row.points)
    assert found.series[2].points[1].condition == (
        "8 Mbit/s, 0.1 to 0.2 s, lost 40 of 160 messages of 2 trials"
    )


def test_an_interval_without_a_message_is_missing_and_not_zero() -> None:
    found = chart()
    slowest = found.series[0]
    assert [round(p.x, 3) for p in slowest.points] == [0.05, 0.15, 0.35]
    assert sum(row[0] == "1 Mbit/s" for row in found.rows()) == 3
    svg = to_drawing(found, "f-", 6.0).svg
    assert 'id="f-missing-0-row0"' in svg and 'id="f-missing-0-row1"' not in svg
    assert "not known" in svg


def test_intervals_of_different_width_are_merged() -> None:
    _, trials, _ = scan(widths=(100 * MS, 200 * MS))
    fastest = [trial for trial in trials if trial.factors["rate_bps"] == 8_000_000]
    assert common_width_ns(fastest) == 200 * MS
    found = losses_over_time(fastest)
    assert [(one.start_ns // MS, one.lost_messages, one.trials) for one in found] == [
        (0, 20 + 0, 2),
        (200, 60 + 20, 2),
        (400, 80, 1),
        (600, -20, 1),
    ]
    assert [one.expected_messages for one in found] == [160 + 80, 160 + 80, 80, 80]
    # The sum of all is what was lost.
    assert sum(one.lost_messages for one in found) == 2 * sum(COUNTS[8_000_000][1])


def test_losses_are_not_known_while_the_receiver_is_behind() -> None:
    """The receiver read 3 of 100 messages of each interval, and counted the others at the end."""
    _, (trial, *_), _ = scan()
    rows = [[place * MS, MS, 3, 0] for place in range(9)] + [[9 * MS, MS, 3, 970]]

    def losses(rows: list[list[int]]) -> list[int]:
        told = {"intervals": {"losses_over_time": rows}}
        found = losses_over_time([replace(trial, raw={"receiver": told})])
        return [one.start_ns // MS for one in found]

    assert losses(rows) == []
    assert losses([[place * MS, MS, 3, 97] for place in range(10)]) == list(range(10))
    assert losses([*rows[:2], *([at * MS, MS, 3, 97] for at in range(2, 9)), rows[9]]) != []


@pytest.mark.parametrize("prefix", ["", "reverse_"])
def test_all_is_lost_if_nothing_arrives(prefix: str) -> None:
    """A receiver that is too busy to read learns of its losses when the sender has stopped."""
    _, (trial, *_), _ = scan()
    rows = [*([at * MS, MS, 0, 0] for at in range(25)), [25 * MS, MS, 63, 937]]

    def losses(received: int) -> dict[int, tuple[int, int]]:
        told = {"intervals": {"losses_over_time": rows}, "measured_messages": received}
        sender = {"sent_messages": 800, "elapsed_ns": 20 * MS}
        raw = {f"{prefix}receiver": told, f"{prefix}sender": sender}
        one = replace(trial, raw=raw, parameters={**trial.parameters, "warmup_s": 0.005})
        found = losses_over_time([one], f"{prefix}receiver")
        return {o.start_ns // MS: (o.lost_messages, o.expected_messages) for o in found}

    assert losses(0) == dict.fromkeys(range(5, 25), (40, 40))
    assert losses(1) == {}


def test_a_row_whose_losses_are_not_known_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COUNTS, 8_000_000, ([0, 0, 0, 10], [0, 0, 0, 310]))
    found = chart()
    assert [len(row.points) for row in found.series] == [3, 4, 0]
    assert "was behind" in found.caption


def test_too_many_intervals_are_merged() -> None:
    _, (trial, *_), _ = scan()
    rows = [[place * MS, MS, 10, 1] for place in range(1200)]
    told = {"intervals": {"losses_over_time": rows}}
    found = losses_over_time([replace(trial, raw={"receiver": told})])
    assert len(found) == 60 and found[0].width_ns == 20 * MS
    assert sum(one.lost_messages for one in found) == 1200


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"transport": "tcp"}, "no factor of UDP streams is a sending rate"),
        ({"counts_losses": False}, "no stored interval has a count of lost messages"),
    ],
)
def test_a_chart_without_losses_or_rates_has_a_note(more: dict[str, Any], said: str) -> None:
    found = chart(**more)
    assert found.is_empty and said in found.description()
    assert said in to_drawing(found, "f-", 6.0).svg


def test_the_chart_needs_three_rates_with_losses() -> None:
    run, trials, study = scan()
    (figure,) = stored_figures(study, trials)
    named = replace_figures(study, figure)
    assert stored_figures(named, trials) == ()
    assert stored_figures(study, scan(lossless=True)[1]) == ()
    _, two, of_two = scan(RATES[:2])
    assert stored_figures(of_two, two) == ()
    page = run_on_page(RunData(run, trials, published=NOTHING), "x")
    titles = [each.chart.title for each in page.experiments[0].figures]
    assert titles.count("Lost messages over time and sending rate") == 1
    tables = [each.table.to_csv() for each in page.all_figures]
    (csv,) = (text for text in tables if "lost messages (%)" in text)
    assert "lost 40 of 160 messages of 2 trials" in csv


def replace_figures(study: Study, *figures: Figure) -> Study:
    return study.model_copy(update={"figure": figures})


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_shades_differ_in_lightness_on_paper_and_on_dark_pages() -> None:
    css = (ASSETS / "report.css").read_text(encoding="utf-8")
    scales = [re.findall(r"--shade-\d: (#[0-9a-f]{6});", line) for line in css.splitlines()]
    scales = [scale for scale in scales if scale]
    assert len(scales) == 4 and tuple(scales[0]) == tuple(scales[3]) == SHADES
    assert scales[1] == scales[2]
    for scale in (scales[0], scales[1]):
        values = [luminance(colour) for colour in scale]
        assert values in (sorted(values), sorted(values, reverse=True))
        for one, other in itertools.pairwise(values):
            assert (max(one, other) + 0.05) / (min(one, other) + 0.05) > 1.3
    assert luminance(scales[0][0]) > 0.8 and luminance(scales[1][0]) < 0.05


def test_shades_follow_the_theme_of_the_page() -> None:
    run, trials, _ = scan()
    page = rendered("report", pages=[run_on_page(RunData(run, trials, published=NOTHING), "x")])
    drawn = re.search(r'<g id="x-figure-\d-wide-shade-6-row2">.*?</g>', page, re.DOTALL)
    assert drawn is not None and "var(--shade-6)" in drawn.group()
    body = page[page.index("<body") :]
    assert not any(shade in body for shade in SHADES)


def test_the_same_chart_gives_the_same_bytes() -> None:
    found = chart()
    assert to_bytes(found, "svg") == to_bytes(found, "svg")
    assert len(to_drawing(found, "f-", 4.0).marks) == sum(len(row.points) for row in found.series)


def test_every_share_has_its_own_shade() -> None:
    shares = (-1.0, 0.0, 1e-9, 0.1, 0.11, 20.0, 20.1, 51.0)
    assert [shade_of(share) for share in shares] == [0, 0, 1, 1, 2, 4, 5, 6]
