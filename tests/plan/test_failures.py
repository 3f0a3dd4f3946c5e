"""Failed trials: retried at their place, then missing; and what cannot work is given up soon."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from test_plan import Ran, ran, run_out, study
from test_repeats import Level, key

from lanlab.plan.plan import Plan, PlannedTrial
from lanlab.plan.search import SearchState
from lanlab.plan.search_reading import SearchReading
from lanlab.plan.search_rule import GoalResult, SearchRule
from lanlab.studies.load import parse_study
from lanlab.studies.model import Study

LASTING = {"code": "request.value", "message": "not allowed", "hint": None, "retry_helps": False}


def failing(*numbers: int, **changes: Any) -> Callable[[PlannedTrial], Ran]:
    return lambda trial: ran(
        trial, **({"status": "failed", **changes} if trial.number in numbers else {})
    )


def blocks_of(history: list[Ran], condition: Level) -> list[tuple[int, str]]:
    return [(r.block, r.status) for r in history if key(r) == condition and r.purpose == "trial"]


def two_searches() -> Study:
    search = {"factor": "rate_bps", "low": "1M", "high": "9M", "loss_goals": [0], "curve": 0}
    experiment = {"title": "", "workload": "stream", "metrics": ["goodput_bps"], "search": search}
    return parse_study(
        {
            "schema": 1,
            "id": "s",
            "title": "S",
            "experiment": [{**experiment, "id": name} for name in ("first", "second")],
            "scale": {"quick": {"parameters": {"time_s": 1, "warmup_s": 0}}},
        },
        "study.toml",
    )


def test_a_failed_trial_is_retried_at_the_end_of_its_block() -> None:
    plan = Plan(study(min=2, max=2), "quick", 1)
    history = [r for r in run_out(plan, failing(0)) if r.purpose == "trial"]

    assert [r.block for r in history] == 8 * [0] + 7 * [1]
    assert key(history[7]) == key(history[0])
    assert plan.given_up() == ()


def test_a_block_with_only_failures_is_retried() -> None:
    plan = Plan(study(min=2, max=2), "quick", 1)

    history = [r for r in run_out(plan, failing(*range(7))) if r.purpose == "trial"]

    conditions = {key(r) for r in history}
    assert len(history) == 7 + 14
    for condition in conditions:
        assert blocks_of(history, condition) == [(0, "failed"), (0, "done"), (1, "done")]


def test_after_its_retries_a_place_stays_missing() -> None:
    plan = Plan(study(min=4, max=4, retry_failed=1), "quick", 1)
    first = plan.next_trial()
    assert first is not None

    def run(trial: PlannedTrial) -> Ran:
        broken = key(trial) == key(first) and trial.block == 1
        return ran(trial, status="failed" if broken else "done")

    history = run_out(plan, run)

    assert blocks_of(history, key(first)) == [
        (0, "done"),
        (1, "failed"),
        (1, "failed"),
        (2, "done"),
        (3, "done"),
    ]
    assert plan.given_up() == ()


def test_a_hopeless_condition_costs_five_trials() -> None:
    plan = Plan(study(min=9, max=9), "quick", 1)
    broken = plan.next_trial()
    assert broken is not None

    def run(trial: PlannedTrial) -> Ran:
        return ran(trial, status="failed" if key(trial) == key(broken) else "done")

    history = run_out(plan, run)

    assert [block for block, _ in blocks_of(history, key(broken))] == [0, 0, 0, 1, 2]
    (given_up,) = plan.given_up()
    assert dict(given_up.factors) == dict(broken.factors)
    others = {key(r) for r in history if r.purpose == "trial"} - {key(broken)}
    assert all(len(blocks_of(history, other)) == 9 for other in others)


def test_a_success_restores_the_retries() -> None:
    plan = Plan(study(min=5, max=5, retry_failed=1), "quick", 1)
    first = plan.next_trial()
    assert first is not None
    # Missing; one attempt that does; a retry again; two more.
    fates = iter(("failed", "failed", "done", "failed", "done", "done", "done"))

    def run(trial: PlannedTrial) -> Ran:
        return ran(trial, status=next(fates) if key(trial) == key(first) else "done")

    history = run_out(plan, run)

    assert [block for block, _ in blocks_of(history, key(first))] == [0, 0, 1, 2, 2, 3, 4]


def test_a_cause_that_no_retry_removes_is_not_retried() -> None:
    plan = Plan(study(min=9, max=9), "quick", 1)
    first = plan.next_trial()
    assert first is not None

    def run(trial: PlannedTrial) -> Ran:
        refused = key(trial) == key(first)
        return ran(trial, **({"status": "failed", "error": LASTING} if refused else {}))

    history = run_out(plan, run)

    assert blocks_of(history, key(first)) == [(0, "failed")]
    assert [dict(c.factors) for c in plan.given_up()] == [dict(first.factors)]


def test_a_lasting_fault_after_a_success_costs_only_the_place() -> None:
    plan = Plan(study(min=3, max=3), "quick", 1)
    history = run_out(plan, failing(7, error=LASTING))
    condition = key(history[7])

    assert blocks_of(history, condition) == [(0, "done"), (1, "failed"), (2, "done")]


@pytest.mark.parametrize("allowed", [0, 1, 3])
def test_a_study_sets_the_number_of_retries(allowed: int) -> None:
    plan = Plan(study(min=1, max=1, retry_failed=allowed), "quick", 1)

    history = run_out(plan, lambda trial: ran(trial, status="failed"))

    trials = [r for r in history if r.purpose == "trial"]
    assert len(trials) == 7 * (1 + allowed)
    assert len(plan.given_up()) == 7


def test_a_search_retries_at_once_and_then_yields() -> None:
    plan = Plan(two_searches(), "quick", 1)
    order: list[tuple[str, int]] = []

    def run(trial: PlannedTrial) -> Ran:
        order.append((trial.experiment, trial.block))
        rate = trial.parameters["rate_bps"]
        assert isinstance(rate, int)
        ratio = min(1.0, 5e6 / rate)
        status = "failed" if trial.number < 3 else "done"
        return ran(trial, status=status, metrics={"goodput_ratio": ratio})

    run_out(plan, run)

    names = [name for name, _ in itertools.groupby(order, key=lambda o: o[0])]
    assert names == ["first", "second", "first"]
    assert order[:3] == 3 * [("first", 0)]
    assert plan.searches_given_up() == ()
    for result in plan.search_results().values():
        (goal,) = result.goals
        assert goal.kind == "found" and 0.98 * 5e6 <= (goal.lower or 0) <= 5e6


def test_a_hopeless_search_costs_five_trials() -> None:
    plan = Plan(two_searches(), "quick", 1)

    def run(trial: PlannedTrial) -> Ran:
        return ran(
            trial,
            status="failed" if trial.experiment == "first" else "done",
            metrics={"goodput_ratio": 1.0},
        )

    history = run_out(plan, run)

    assert sum(r.experiment == "first" for r in history) == 3 + 1 + 1
    assert plan.searches_given_up() == ("first",)
    assert plan.search_results()["first"].goals == (GoalResult(0, "undecided"),)
    assert plan.search_results()["second"].goals[0].kind == "at_least_high"


def test_a_refused_search_ends_at_once() -> None:
    plan = Plan(two_searches(), "quick", 1)
    run_out(plan, lambda trial: ran(trial, status="failed", error=LASTING))

    assert plan.searches_given_up() == ("first", "second")


def test_a_failed_probe_is_not_counted_as_loss() -> None:
    clean, broken = Plan(two_searches(), "quick", 1), Plan(two_searches(), "quick", 1)

    def run(trial: PlannedTrial) -> Ran:
        rate = trial.parameters["rate_bps"]
        assert isinstance(rate, int)
        return ran(trial, metrics={"goodput_ratio": min(1.0, 5e6 / rate)})

    def first_attempt_fails(trial: PlannedTrial) -> Ran:
        return ran(trial, status="failed") if trial.repeats == 0 else run(trial)

    run_out(clean, run)
    run_out(broken, first_attempt_fails)

    assert broken.search_results() == clean.search_results()


def test_a_failed_point_of_the_curve_is_skipped() -> None:
    rule = SearchRule(
        factor="rate_bps",
        low=1e6,
        high=9e6,
        metric="goodput_ratio",
        loss_goals=(0.0,),
        short_time_s=0.25,
        full_time_s=1.0,
        curve=5,
        curve_trials=2,
    )
    orders = []
    for missing in (None, 1):
        state, tried = SearchState(rule), []
        while (step := state.next_step()) is not None:
            if step.purpose == "curve":
                tried.append(step.level)
            is_missing = step.purpose == "curve" and len(tried) - 1 == missing
            state.record(None if is_missing else SearchReading(0.0, 1.0))
        orders.append(tried)
        assert not state.given_up

    assert orders[0] == orders[1] and len(orders[0]) >= 4
