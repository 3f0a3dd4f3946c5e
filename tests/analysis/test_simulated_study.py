"""A simulated study: each printed number with its counterpart, the same one at every place."""

from dataclasses import replace

import pytest
from planned_runs import PlannedRun, planned_run

from lanlab.analysis.comparison.published import compare_with_published
from lanlab.analysis.findings.judge import judge_run
from lanlab.analysis.findings.run_evidence import RunEvidence
from lanlab.analysis.findings.sample import as_number
from lanlab.analysis.published.values import amount_of, points_for
from lanlab.analysis.simulation.run import (
    fitted_conditions,
    run_accuracies,
    simulated_cells,
)
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.registry import build_figure
from lanlab.report.metrics.metric_table import metric_table
from lanlab.report.simulation.accuracy_table import accuracy_table, accuracy_tables
from lanlab.store import TrialRecord
from lanlab.studies.load import load_study
from lanlab.studies.model import Study

RTT, GOODPUT = "round-trip-simulated", "throughput-simulated"


@pytest.fixture(scope="module")
def simulated() -> PlannedRun:
    """Of goodput something that grows with the size, different for each system and version."""
    found = planned_run("manford-kolahi", "quick", 100_000_000, where="simulated")
    return replace(found, trials=[_spread(trial) for trial in found.trials])


def _spread(trial: TrialRecord) -> TrialRecord:
    if trial.experiment != GOODPUT:
        return trial
    size, version = int(trial.factors["message_size_bytes"]), int(trial.factors["ip_version"])
    goodput_bps = 1e6 * (20 + size / 25 - version + (trial.factors["os"] == "xp") * size / 200)
    return replace(trial, metrics={**trial.metrics, "goodput_bps": goodput_bps})


def study_of(found: PlannedRun) -> Study:
    return Study.model_validate(found.run.study)


def test_published_round_trips_match_simulated_conditions(simulated: PlannedRun) -> None:
    means = {
        point.value.id
        for summary in RunData(simulated.run, simulated.trials).summaries(RTT, "rtt_mean_ns")
        for point in points_for(summary, simulated.published)
        if point.value.statistic == "mean"
    }

    assert means == {"rtt.384.ipv4", "rtt.384.ipv6"}


def test_simulated_round_trips_are_compared_with_published_ones(simulated: PlannedRun) -> None:
    found = compare_with_published(
        RunData(simulated.run, simulated.trials, published=simulated.published)
    )

    assert {"rtt.384.ipv4", "rtt.384.ipv6"} <= {one.value.id for one in found}
    said = {(one.interval, one.why) for one in found if one.ours.n > 2}
    assert said == {(None, "no interval: seeds do not show the model's error")}


def test_published_round_trips_are_in_table_and_figure(simulated: PlannedRun) -> None:
    study, printed = study_of(simulated), simulated.published
    table = metric_table(
        RunData(simulated.run, simulated.trials, study, printed), RTT, "rtt_mean_ns"
    )
    texts = {cell.text for row in table.rows for cell in row}
    [figure] = [one for one in study.figure if one.experiments == (RTT,)]
    chart = build_figure(RunData(simulated.run, simulated.trials, study, printed), figure)
    marks = [mark.printed for one in chart.published for mark in one.marks]

    for printed_ms in ("14.1", "12.3"):
        assert any(printed_ms in text for text in texts)
        assert any(f"{printed_ms}ms" in text for text in marks)


def test_a_greatest_value_is_read_at_the_size_that_the_text_names(simulated: PlannedRun) -> None:
    accurate = run_accuracies(
        RunData(simulated.run, simulated.trials, published=simulated.published)
    )
    read = {one.value.id: one.simulated for one in accurate}
    # 1152 bytes, as the text says, where larger messages reach more here.
    assert read["r.abs.xp.ipv4.max"] == pytest.approx(1e6 * (20 + 1152 / 25 - 4 + 1152 / 200))
    study = load_study("manford-kolahi").study
    rows = {row[0].value: row[1].text for row in accuracy_table(accurate, study).rows}
    assert rows["r.abs.xp.ipv4.max"].endswith(", 1,152 B")
    assert not rows["r.abs.xp.ipv6.max"].endswith(" B")


@pytest.mark.parametrize(
    ("least_bps", "most_bps", "verdict"),
    [
        (24.00e6, 84.60e6, "holds"),
        (23.51e6, 84.64e6, "holds"),
        (23.49e6, 84.60e6, "does not hold"),
        (24.00e6, 84.66e6, "does not hold"),
    ],
)
def test_a_claim_is_judged_to_its_published_digits(
    simulated: PlannedRun, least_bps: float, most_bps: float, verdict: str
) -> None:
    """24 is what 23.51 is printed as, and 84.6 what 84.64 is."""

    def ranged(trial: TrialRecord) -> TrialRecord:
        if trial.experiment != GOODPUT:
            return trial
        share = (int(trial.factors["message_size_bytes"]) - 128) / (1408 - 128)
        goodput_bps = least_bps + share * (most_bps - least_bps)
        return replace(trial, metrics={**trial.metrics, "goodput_bps": goodput_bps})

    findings = load_study("manford-kolahi").findings
    asked = [one for one in findings if one.id == "f1.vista.ipv6"]
    trials = [ranged(trial) for trial in simulated.trials]
    [judged] = judge_run(asked, RunData(simulated.run, trials)).judgements

    assert (judged.verdict, judged.means) == ("undecided", verdict)
    assert {(one.comparison.least, one.comparison.most) for one in judged.comparisons} == {
        (24.0e6, 84.6e6)
    }


def test_a_simulated_sweep_peaks_between_its_loads() -> None:
    """Of a link that carries 1,104 kB/s; of the loads below that the greatest is 1,100 kB/s."""
    found = planned_run("milanovic-srbljic", "quick", 10_000_000, where="simulated")
    lossy = [replace(trial, metrics=_livelocked(trial)) for trial in found.trials]
    cells = RunEvidence.of(found.run, lossy).cells("goodput_bps")
    tops = [as_number(cell.sample).mean for cell in cells if cell.stands == "greatest"]
    assert tops == pytest.approx([620 * 8000] * 5)


def _livelocked(trial: TrialRecord) -> dict[str, float | int]:
    """Throughput that peaks at 620 kB/s, between the loads of 600 and 700, and falls by half of
    what more is sent."""
    load = trial.factors.get("rate_bps")
    if load is None or trial.parameters["message_size_bytes"] != 500:
        return dict(trial.metrics)
    peak = 620 * 8000.0
    return {**trial.metrics, "goodput_bps": min(float(load), peak - (float(load) - peak) / 2)}


def test_only_simulated_runs_are_judged_as_simulations(
    simulated: PlannedRun,
) -> None:
    shown, counts = accuracy_tables(RunData(simulated.run, simulated.trials))
    assert len(shown.rows) > len(counts.rows) > 0
    real = planned_run("manford-kolahi", "quick", 100_000_000, where="real")
    assert accuracy_tables(RunData(real.run, real.trials)) == []
    nothing = simulated.published.model_copy(update={"value": ()})
    assert run_accuracies(RunData(simulated.run, simulated.trials, published=nothing)) == []
    without = {key: own for key, own in simulated.run.study.items() if key != "simulation"}
    bare = replace(simulated.run, study=without)
    assert fitted_conditions(RunEvidence.of(bare, simulated.trials), real.published) == {}
    fitted = fitted_conditions(RunEvidence.of(simulated.run, simulated.trials), real.published)
    assert any("vista" in name for names in fitted.values() for name in names)


def test_every_simulated_verdict_counts_fitted_conditions(
    simulated: PlannedRun,
) -> None:
    findings = load_study("manford-kolahi").findings
    judged = judge_run(
        findings, RunData(simulated.run, list(map(_bent, simulated.trials)))
    ).judgements
    tested = {one.finding.id: one for one in judged if one.verdict != "not tested"}
    assert all(one.fitted is not None for one in tested.values())
    assert tested["f11"].fitted is not None and tested["f11"].fitted[1] == 6


def _bent(trial: TrialRecord) -> TrialRecord:
    """Throughput that rises fast up to 384 bytes over IPv4 and 512 over IPv6, then slowly."""
    if trial.experiment != GOODPUT:
        return trial
    size, version = int(trial.factors["message_size_bytes"]), int(trial.factors["ip_version"])
    bend = 384 if version == 4 else 512
    goodput_bps = 1e5 * (min(size, bend) + size / 10 + trial.number % 3)
    return replace(trial, metrics={**trial.metrics, "goodput_bps": goodput_bps})


def test_copies_of_another_amount_are_not_compared() -> None:
    found = planned_run("schomer-claason", "full", 100_000_000, where="simulated")
    cells = RunEvidence.of(found.run, found.trials).cells("copied_bytes")
    amounts = {amount_of(found.published, cell.levels) for cell in cells}

    def counterparts(ratio: float) -> list[str]:
        moved = [
            replace(one, metrics={**one.metrics, "copied_bytes": ratio * amount})
            for one in found.trials
            for amount in amounts
            if amount and abs(one.metrics["copied_bytes"] / amount - 1) < 0.1
        ]
        cells = simulated_cells(RunEvidence.of(found.run, moved), found.published)
        return [cell.name for cell in cells["elapsed_ns"]]

    assert counterparts(1.0) and counterparts(1.0) == counterparts(1.009) == counterparts(0.991)
    assert counterparts(1.02) == counterparts(0.98) == []


def test_a_maximum_needs_a_scale_with_all_levels() -> None:
    """The default scale has 1, 4 and 15 stations: its greatest throughput was taken for the peak,
    2.033 Mbit/s where all station counts have 2.339."""
    read = {}
    for scale in ("quick", "full"):
        found = planned_run("poo-tan", scale, where="simulated")
        read[scale] = {
            one.value.id: one.simulated
            for one in run_accuracies(RunData(found.run, found.trials, published=found.published))
        }

    peaks = {name for name in read["full"] if name.startswith("x.")}
    assert peaks
    assert not peaks & set(read["quick"])
