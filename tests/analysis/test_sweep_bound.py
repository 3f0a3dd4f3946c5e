"""A search and a sweep of the same run do not contradict each other in what is said."""

from dataclasses import replace

import pytest
from answered import sentences
from planned_runs import PlannedRun, planned_run

from lanlab.analysis.disturbances.detect import Finding, Judgement
from lanlab.analysis.links.limits import udp_limit_bps
from lanlab.analysis.saturation.search import Saturation, saturations
from lanlab.analysis.saturation.sweep_bound import SweepBound, refutes_random_loss
from lanlab.analysis.trials.run_data import RunData
from lanlab.plan.plan import PlannedTrial
from lanlab.plan.random_loss import RandomLoss
from lanlab.report.runs.run_result import result_text
from lanlab.report.saturation import saturation_text
from lanlab.report.saturation.saturation_text import saturation_sentence, saturation_table
from lanlab.store import TrialRecord
from lanlab.studies.model import Study

SEARCH, SWEEP = "udp-500-saturation", "udp-500"
LIMIT_BPS = udp_limit_bps(10_000_000, 500, 4)


def slow_in_search(planned: PlannedTrial) -> float:
    """The host was slow while the search ran, and not while the sweep did."""
    return 0.7 if planned.experiment == SEARCH else 1.0


def end_of(found: PlannedRun) -> Saturation:
    return next(
        end for end in saturations(RunData(found.run, found.trials)) if end.experiment == SEARCH
    )


@pytest.fixture(scope="module")
def refuted() -> PlannedRun:
    return planned_run("milanovic-srbljic", "quick", carries=slow_in_search)


def levels_of(found: PlannedRun) -> list[float]:
    return sorted({float(trial.factors["rate_bps"]) for trial in found.of(SWEEP)})


def test_a_sweep_without_loss_is_a_lower_bound(refuted: PlannedRun) -> None:
    strictest = end_of(refuted).goals[0]

    best = max(level for level in levels_of(refuted) if level <= LIMIT_BPS)
    assert best > 0.8 * LIMIT_BPS
    assert (strictest.verdict, strictest.load) == ("refuted", None)
    assert strictest.sweep is not None
    assert (strictest.sweep.experiment, strictest.sweep.load) == (SWEEP, best)
    assert end_of(refuted).capacity is None


def test_the_sentence_has_the_bound_and_not_the_estimate(refuted: PlannedRun) -> None:
    said = sentences(refuted.run, refuted.trials)[0]
    best = max(level for level in levels_of(refuted) if level <= LIMIT_BPS) / 8_000

    assert f"nothing was lost up to at least {best:,.1f}"[:-2] in said
    assert "in every trial of the sweep UDP, 500-byte messages" in said
    assert "its estimate is left out" in said
    assert f"{0.7 * LIMIT_BPS / 8_000:,.0f}" not in said


def test_the_table_has_no_bound_that_the_sweep_refutes(refuted: PlannedRun) -> None:
    study = Study.model_validate(refuted.run.study)
    table = saturation_table(RunData(refuted.run, refuted.trials, study))
    names = [column.name for column in table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in table.rows]
    [strictest] = [
        row
        for row in rows
        if (row["experiment"].value, row["lost at most (ratio)"].value) == (SEARCH, 0.0)
    ]

    assert strictest["result"].text == "refuted by a sweep"
    assert strictest["upper bound"].value is None
    assert strictest["interval high"].value is None
    assert strictest["median load"].value == strictest["interval low"].value


@pytest.mark.parametrize("differs", ["other size", "one trial", "lossy below", "agreeing"])
def test_unrelated_sweeps_refute_no_search(differs: str) -> None:
    slow = slow_in_search if differs != "agreeing" else (lambda planned: 1.0)
    found = planned_run("milanovic-srbljic", "quick", carries=slow)
    assert len({trial.block for trial in found.of(SWEEP)}) > 1

    def changed(trial: TrialRecord) -> list[TrialRecord]:
        if trial.experiment != SWEEP:
            return [trial]
        if differs == "other size":
            return [replace(trial, parameters={**trial.parameters, "message_size_bytes": 64})]
        if differs == "one trial":
            return [trial] if trial.block == 0 else []
        lowest = trial.factors["rate_bps"] == min(levels_of(found))
        if differs == "lossy below" and lowest and trial.block == 0:
            return [replace(trial, metrics={**trial.metrics, "goodput_ratio": 0.9})]
        return [trial]

    trials = [one for trial in found.trials for one in changed(trial)]
    verdicts = {goal.verdict for goal in end_of(replace(found, trials=trials)).goals}

    assert "refuted" not in verdicts


@pytest.mark.parametrize(("messages", "refutes"), [(50_000, True), (5_000, False), (0, False)])
def test_enough_lossless_messages_refute_random_loss(messages: int, refutes: bool) -> None:
    """One in 1,000, twice as bursty: 50,000 messages would have lost 25 such bursts, 5,000 2.5."""
    loss = RandomLoss(0.0012, 0.001, 0.0014, 4, 4, 2.0, rises=False)
    bound = SweepBound("sweep", 1e6, 3, messages)

    assert refutes_random_loss(bound, loss, 0.0) is refutes
    assert not refutes_random_loss(bound, loss, 0.01)


@pytest.mark.parametrize("is_most", [False, True])
def test_a_disturbed_host_is_reported_with_the_bound(is_most: bool) -> None:
    found = planned_run("milanovic-srbljic", "quick")
    judged = Judgement((Finding("foreign_cpu", "sender", 0.9, 0.12, True),), ()).to_json()
    end = end_of(found)
    steps = [
        replace(step, raw={"pollution": judged}) if is_most or place % 2 else step
        for place, step in enumerate(end.steps)
    ]
    study = Study.model_validate(found.run.study)

    said = saturation_sentence(study, replace(end, steps=tuple(steps)))

    own, count = len(steps) if is_most else len(steps) // 2, len(steps)
    assert f"he host was disturbed in {own} of the {count} trials of the search" in said
    assert said.startswith("The network carries at least ") == is_most
    assert "disturbed" not in saturation_sentence(study, end)
    # The list of runs does not say otherwise.
    raw = {id(step): new for step, new in zip(end.steps, steps, strict=True)}
    trials = [raw.get(id(trial), trial) for trial in found.of(SEARCH)]
    only = {
        **found.run.study,
        "experiment": [e for e in found.run.study["experiment"] if e["id"] == SEARCH],
    }
    listed = result_text(replace(found.run, study=only), trials)
    assert listed.startswith("not known: host disturbed") == is_most


@pytest.mark.parametrize("is_known", [False, True])
def test_the_table_of_a_disturbed_host_has_a_bound_only_if_it_is_known(
    is_known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = planned_run("milanovic-srbljic", "quick")
    judged = Judgement((Finding("foreign_cpu", "sender", 0.9, 0.12, True),), ()).to_json()
    end = end_of(found)
    steps = tuple(replace(step, raw={"pollution": judged}) for step in end.steps)
    goal = end.goals[0]
    if not is_known:
        nothing = replace(goal.result, lower=None)
        goal = replace(goal, load=None, sweep=None, verdict="undecided", result=nothing)
    one = replace(end, steps=steps, goals=(goal,))
    assert one.is_of_host
    monkeypatch.setattr(saturation_text, "saturations", lambda _: (one,))

    study = Study.model_validate(found.run.study)
    [row] = saturation_text.saturation_table(RunData(found.run, found.trials, study)).rows
    said = "at least: host disturbed" if is_known else "not known: host disturbed"
    assert (row[3].text, row[4].text != "") == (said, is_known)
