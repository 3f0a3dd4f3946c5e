"""A run that is followed: its rows, its progress, and what is left out of its records."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_runs import synthetic_run

from lanlab.analysis.disturbances.detect import Finding, Judgement
from lanlab.analysis.trials.run_data import RunData
from lanlab.plan.plan import Plan, PlannedTrial
from lanlab.report.trials.trial_table import trial_table
from lanlab.store import TrialRecord, open_store
from lanlab.studies.model import Study
from lanlab.web.run_state import COLUMNS, COUNTS, DISTURBED, FAILED, LEFT_OUT, RunState, lean
from lanlab.web.tables import results_so_far

_WORK = Finding("foreign_cpu", "sender", 0.9, 0.12, True)


def _judged(trial: PlannedTrial) -> Judgement:
    return Judgement((_WORK,) if trial.block == 0 else (), ())


def test_rows_match_the_report_in_any_order_of_arrival() -> None:
    made = synthetic_run("milanovic-srbljic", judged=_judged, fails=lambda trial: trial.block == 1)
    one_by_one, at_once = RunState(made.run), RunState(made.run)
    for trial in made.trials:
        one_by_one.take([trial])
    at_once.take(made.trials)
    cells = [row.cells for row in one_by_one.rows]
    assert cells == [row.cells for row in at_once.rows]
    table = trial_table(RunData(made.run, made.trials, made.study))
    headings = [column.heading for column in table.columns]
    for row, expected in zip(cells, table.rows, strict=True):
        assert row == [expected[headings.index(heading)].text for heading in COLUMNS]
    assert {row.mark for row in one_by_one.rows} >= {COUNTS, LEFT_OUT, DISTURBED, FAILED}


def test_pages_receive_only_changes() -> None:
    made = synthetic_run("milanovic-srbljic", judged=_judged)
    state = RunState(made.run)
    again = next(
        trial
        for trial in made.trials
        if trial.number
        and any(
            (o.experiment, o.factors, o.block) == (trial.experiment, trial.factors, trial.block)
            for o in made.trials[: trial.number]
        )
    )
    state.take(made.trials[: again.number])
    before = state.revision
    state.take([again])
    changed = state.changed_since(before)
    assert len(changed) == 2
    assert [row.mark for row in changed] == [LEFT_OUT, DISTURBED]


def test_progress_is_that_of_the_plan() -> None:
    made = synthetic_run("milanovic-srbljic", most_trials=7)
    state = RunState(made.run)
    state.take(made.trials)
    plan = Plan(made.study, made.run.scale, made.run.seed, made.trials)
    estimate = plan.estimate(link_rate_bps=made.run.testbed["link_rate_bps"])
    progress = state.progress()
    assert (progress.done, progress.left, progress.left_s) == (7, *estimate)
    planned = plan.next_trial()
    assert planned is not None
    title = next(e.title for e in made.study.experiment if e.id == planned.experiment)
    assert progress.next.startswith(title)


def test_a_history_that_no_plan_has_leaves_progress_unknown() -> None:
    made = synthetic_run("milanovic-srbljic", most_trials=3)
    state = RunState(made.run)
    state.take([replace(trial, block=trial.block + 5) for trial in made.trials])
    assert state.progress().left is None
    assert len(state.rows) == 3


def test_omitted_parts_of_records_change_no_table(store: Path) -> None:
    with open_store(str(store)) as records:
        kinds = {(run.study_id, run.scale, run.status): run for run in records.runs()[::-1]}
        runs = [(run, _three_of_each_kind(records.trials(run.id))) for run in kinds.values()]
    assert len({run.study_id for run, _ in runs}) >= 3
    for run, trials in runs:
        assert {"done", "failed"} >= {trial.status for trial in trials} >= {"done"}
        study = Study.model_validate(run.study)
        kept = [replace(trial, raw=lean(trial.raw)) for trial in trials]
        assert results_so_far(run, kept, study) == results_so_far(run, trials, study)
        assert trial_table(RunData(run, kept, study)) == trial_table(RunData(run, trials, study))


def _three_of_each_kind(trials: Sequence[TrialRecord]) -> list[TrialRecord]:
    """By experiment, purpose, and how it ended and was disturbed: each table has rows."""
    found: dict[tuple[str, str, str, str], list[TrialRecord]] = {}
    for trial in trials:
        judged = json.dumps(trial.raw.get("pollution"))
        kind = (trial.experiment, trial.purpose, trial.status, judged)
        found.setdefault(kind, []).append(trial)
    few = [trial for alike in found.values() for trial in alike[:3]]
    return sorted(few, key=lambda trial: trial.number)


@pytest.mark.parametrize("key", ["histogram", "host", "requests"])
def test_large_parts_are_left_out(key: str) -> None:
    raw = {"sender": {key: {"a": 1}, f"{key}_s": 2}, "facts": {"after": {}, "before": {}}}
    assert lean(raw) == {"sender": {f"{key}_s": 2}}


def test_common_parts_of_trials_are_shared_without_changes() -> None:
    first = {"setup": {"a": [1, "x"], "b": 2_000}, "sender": {"n": 1, "z": 0.0}}
    other = {"setup": {"a": [1, "x"], "b": 2_000}, "sender": {"n": True, "z": -0.0}}
    kept = lean(first)
    again = lean(other, kept)

    assert json.dumps(again) == json.dumps(other)
    assert again["setup"] is kept["setup"]
    assert json.dumps(lean({"sender": {"n": 1.0}}, kept)) == '{"sender": {"n": 1.0}}'

    made = synthetic_run("milanovic-srbljic", judged=_judged)
    state = RunState(made.run)
    state.take(made.trials)
    for trial, seen in zip(made.trials, state.trials, strict=True):
        assert json.dumps(seen.raw) == json.dumps(lean(trial.raw))
        assert (seen.metrics, seen.factors, seen.parameters) == (
            trial.metrics,
            trial.factors,
            trial.parameters,
        )


def test_parameters_and_metrics_that_are_named_like_large_parts_stay() -> None:
    made = synthetic_run("milanovic-srbljic", most_trials=2)
    state = RunState(made.run)
    trials = [
        replace(
            one,
            parameters={**one.parameters, "requests": 5},
            metrics={**one.metrics, "requests": 4.0},
        )
        for one in made.trials
    ]
    state.take(trials)
    assert [one.parameters["requests"] for one in state.trials] == [5, 5]
    assert [one.metrics["requests"] for one in state.trials] == [4.0, 4.0]
