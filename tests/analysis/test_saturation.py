"""Where searches ended, from a run's trials alone."""

from dataclasses import replace

import pytest
from planned_runs import PlannedRun, planned_run, without_rate

from lanlab.analysis.links.limits import udp_limit_bps
from lanlab.analysis.saturation.capacity import capacity
from lanlab.analysis.saturation.search import Saturation, curve_of, saturations
from lanlab.analysis.trials.run_data import RunData
from lanlab.cli.results.printing import run_as_json
from lanlab.report.saturation.saturation_text import saturation_sentence, saturation_table
from lanlab.studies.model import Study

SEARCH = "udp-500-saturation"


def end_of(found: PlannedRun) -> Saturation:
    return next(
        end for end in saturations(RunData(found.run, found.trials)) if end.experiment == SEARCH
    )


@pytest.fixture(scope="module")
def quick() -> PlannedRun:
    """A search that can be finished: the link's limit lies within what is searched."""
    return planned_run("milanovic-srbljic", "quick")


def test_the_bounds_of_every_goal_enclose_the_limit_of_the_link(quick: PlannedRun) -> None:
    end = end_of(quick)

    assert end.limit == udp_limit_bps(10_000_000, 500, 4)
    assert [goal.result.loss_ratio for goal in end.goals] == [0.0, 0.01]
    for goal in end.goals:
        lower, upper = goal.result.lower, goal.result.upper
        assert goal.result.kind == "found" and lower is not None and upper is not None
        assert lower <= end.limit / (1 - goal.result.loss_ratio) < upper
        assert upper - lower <= 0.03 * upper


def test_a_lower_bound_is_confirmed_by_its_own_full_length_trials(quick: PlannedRun) -> None:
    end = end_of(quick)

    for goal in end.goals:
        assert goal.confirmed is not None
        at_bound = [s for s in end.steps if s.factors["rate_bps"] == goal.result.lower]
        assert goal.confirmed.n == sum(step.purpose == "confirm" for step in at_bound) >= 1
        assert goal.confirmed.mean is not None
        assert goal.confirmed.mean >= 1 - goal.result.loss_ratio
        assert goal.confirmed.metric == end.metric == "goodput_ratio"


def test_the_curve_is_of_all_full_length_trials_and_falls_beyond_the_limit(
    quick: PlannedRun,
) -> None:
    found = curve_of(quick.run, quick.trials, SEARCH, "goodput_ratio")
    end = end_of(quick)
    loads = [float(summary.factors["rate_bps"]) for summary in found]

    assert loads == sorted(set(loads)) and len(loads) >= 5
    full = [step for step in end.steps if step.purpose in ("confirm", "curve")]
    assert sum(summary.n for summary in found) == len(full) < len(end.steps)
    assert end.limit is not None
    for load, summary in zip(loads, found, strict=True):
        assert summary.mean == pytest.approx(min(1.0, end.limit / load))


def test_every_step_is_kept_in_order(quick: PlannedRun) -> None:
    assert list(end_of(quick).steps) == quick.of(SEARCH)


def test_a_drifting_capacity_is_reported_in_sentence_table_and_json(
    quick: PlannedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    steady = (0.01, -0.02, 0.015, -0.01, 0.02, -0.015, 0.01, -0.01, 0.0, 0.01)
    study = Study.model_validate(quick.run.study)
    for offs, drifts in ((sorted(steady), True), (steady, False)):
        monkeypatch.setattr(
            "lanlab.analysis.saturation.search.capacity",
            lambda *of, offs=offs: replace(capacity(*of), distances=tuple(offs)),
        )
        end = end_of(quick)
        assert ("Capacity drifts" in saturation_sentence(study, end)) == drifts
        rows = saturation_table(RunData(quick.run, quick.trials, study)).rows
        assert any(cell.text == "found, drifts" for row in rows for cell in row) == drifts
        searches = run_as_json(quick.run, quick.trials)["searches"]
        (found,) = (one["drift"] for one in searches if one["experiment"] == SEARCH)
        assert (found is not None and found["correlation"] > 0.4 and found["p"] < 0.05) == drifts


def test_an_unfinished_search_has_no_result(quick: PlannedRun) -> None:
    began = next(trial.number for trial in quick.trials if trial.experiment == SEARCH)

    for ran in (0, began, began + 2):
        assert saturations(RunData(quick.run, quick.trials[:ran])) == ()


def test_a_search_whose_trials_fail_is_undecided() -> None:
    end = end_of(planned_run("milanovic-srbljic", "quick", fails=lambda t: t.experiment == SEARCH))

    assert {goal.result.kind for goal in end.goals} == {"undecided"}
    assert {(goal.result.lower, goal.confirmed) for goal in end.goals} == {(None, None)}
    assert len(end.steps) == 3 + 1 + 1


def test_trials_of_another_plan_are_kept_without_a_result(quick: PlannedRun) -> None:
    strange = replace(quick, trials=[replace(t, block=t.block + 1) for t in quick.trials])

    ends = saturations(RunData(strange.run, strange.trials))

    assert {end.experiment for end in ends} == {
        end.experiment for end in saturations(RunData(quick.run, quick.trials))
    }
    for end in ends:
        assert end.goals == ()
        assert list(end.steps) == strange.of(end.experiment)


def test_trials_of_another_plan_do_not_begin_a_search(
    quick: PlannedRun,
) -> None:
    began = next(trial.number for trial in quick.trials if trial.purpose != "trial")
    strange = [replace(trial, block=trial.block + 1) for trial in quick.trials[:began]]

    assert saturations(RunData(quick.run, strange)) == ()


def test_a_link_without_a_rate_has_no_limit() -> None:
    found = planned_run("milanovic-srbljic", "quick", None)

    for run in (found, without_rate(found)):
        end = end_of(run)
        assert {goal.result.kind for goal in end.goals} == {"at_least_high"}
        assert end.limit is None
