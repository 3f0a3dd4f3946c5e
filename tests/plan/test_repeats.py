"""Disturbed trials are run again at their place, so often as the study allows."""

import itertools
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_plan import Ran, ran, run_out, study

from lanlab.plan.plan import Plan, PlannedTrial

Level = tuple[str, str]


def key(trial: PlannedTrial | Ran) -> Level:
    return trial.experiment, str(sorted(trial.factors.items()))


def sometimes_disturbed(seed: int, share: float = 0.4) -> Callable[[PlannedTrial], Ran]:
    """A laboratory in which trials are disturbed, or fail, by chance that a number decides."""

    def run(trial: PlannedTrial) -> Ran:
        chance = random.Random(f"{seed}:{trial.number}")
        return ran(
            trial,
            status="failed" if chance.random() < 0.1 else "done",
            is_disturbed=chance.random() < share,
            metrics={
                "goodput_bps": chance.gauss(100, 5),
                "rtt_mean_ns": chance.gauss(100, 5),
                "goodput_ratio": chance.random(),
            },
        )

    return run


def test_a_disturbed_trial_is_run_again_at_the_end_of_its_block() -> None:
    plan = Plan(study(min=1, max=1), "quick", 1)
    order: list[Level] = []

    def first_is_disturbed(trial: PlannedTrial) -> Ran:
        order.append(key(trial))
        return ran(trial, is_disturbed=trial.number == 0)

    history = [r for r in run_out(plan, first_is_disturbed) if r.purpose == "trial"]

    assert len(history) == 7 + 1
    assert order[7] == order[0]
    assert {r.block for r in history} == {0}


def test_trials_carry_the_number_of_earlier_attempts() -> None:
    plan = Plan(study(min=1, max=1, repeat_polluted=2), "quick", 1)
    repeats = []

    def run(trial: PlannedTrial) -> Ran:
        repeats.append(trial.repeats)
        return ran(trial, is_disturbed=True)

    run_out(plan, run)

    assert repeats[:21] == 7 * [0] + 7 * [1] + 7 * [2]


@pytest.mark.parametrize("allowed", [0, 1, 3])
def test_repeats_end_if_every_trial_is_disturbed(allowed: int) -> None:
    plan = Plan(study(min=2, max=2, repeat_polluted=allowed), "quick", 1)

    history = run_out(plan, lambda trial: ran(trial, is_disturbed=True))

    trials = [r for r in history if r.purpose == "trial"]
    assert len(trials) == 7 * 2 * (1 + allowed)
    assert plan.estimate() == (0, 0.0)


def test_studies_get_one_repeat_by_default() -> None:
    plan = Plan(study(min=1, max=1), "quick", 1)

    history = run_out(plan, lambda trial: ran(trial, is_disturbed=True))

    assert len([r for r in history if r.purpose == "trial"]) == 14


def test_a_stopping_rule_ignores_replaced_trials() -> None:
    plan = Plan(study(min=3, max=20, relative_ci=0.01), "quick", 1)
    seen: dict[Level, int] = {}

    def run(trial: PlannedTrial) -> Ran:
        times = seen[key(trial)] = seen.get(key(trial), 0) + 1
        disturbed = times % 2 == 1
        value = 100 * times if disturbed else 100
        metrics = {"goodput_bps": value, "rtt_mean_ns": value, "goodput_ratio": 1}
        return ran(trial, is_disturbed=disturbed, metrics=metrics)

    history = [r for r in run_out(plan, run) if r.purpose == "trial"]

    assert len(history) == 7 * 12 * 2


def test_if_its_repeat_fails_the_disturbed_trial_counts() -> None:
    plan = Plan(study(min=4, max=4), "quick", 1)

    def run(trial: PlannedTrial) -> Ran:
        return ran(trial, is_disturbed=True, status="failed" if trial.repeats else "done")

    history = [r for r in run_out(plan, run) if r.purpose == "trial"]

    assert len(history) == 7 * 4 * 2
    assert plan.given_up() == ()


def test_a_search_step_ignores_replaced_trials() -> None:
    plan = Plan(study(min=1, max=1), "quick", 1)

    def run(trial: PlannedTrial) -> Ran:
        rate = trial.parameters.get("rate_bps", 0)
        assert isinstance(rate, int)
        disturbed = trial.purpose != "trial" and trial.repeats == 0
        ratio = 0.0 if disturbed else min(1.0, 5e6 / (rate or 1))
        return ran(trial, is_disturbed=disturbed, metrics={"goodput_ratio": ratio})

    searching = [r for r in run_out(plan, run) if r.purpose != "trial"]

    steps = [list(step) for _, step in itertools.groupby(searching, key=lambda r: r.block)]
    assert all(len(step) == 2 for step in steps)
    assert all(step[0].factors == step[1].factors for step in steps)
    loosest = plan.search_results()["limit"].goals[-1]
    assert loosest.kind == "found" and loosest.loss_ratio == 0.1
    assert 0.98 * 5e6 / 0.9 <= (loosest.lower or 0) <= 5e6 / 0.9


@given(st.integers(), st.integers(0, 3), st.integers(0, 3), st.integers(0, 200))
def test_a_resumed_plan_continues_like_an_uninterrupted_one(
    seed: int, repeated: int, retried: int, cut: int
) -> None:
    rule = {"min": 2, "max": 15, "relative_ci": 0.05}
    rule |= {"repeat_polluted": repeated, "retry_failed": retried}
    plan = Plan(study(**rule), "quick", seed)
    whole = run_out(plan, sometimes_disturbed(seed))

    resumed = Plan(study(**rule), "quick", seed, history=whole[:cut])
    rest = run_out(resumed, sometimes_disturbed(seed))

    assert whole[:cut] + rest == whole
    assert resumed.given_up() == plan.given_up()
    assert resumed.search_results() == plan.search_results()
    assert resumed.estimate() == plan.estimate() == (0, 0.0)


@given(st.integers(), st.integers(0, 3), st.integers(0, 3))
def test_no_place_is_run_again_after_a_clean_trial_or_too_often(
    seed: int, disturbed: int, failed: int
) -> None:
    plan = Plan(study(min=2, max=3, repeat_polluted=disturbed, retry_failed=failed), "quick", seed)

    places: dict[tuple[Level, str, int], list[Ran]] = {}
    for outcome in run_out(plan, sometimes_disturbed(seed)):
        places.setdefault((key(outcome), outcome.purpose, outcome.block), []).append(outcome)

    for attempts in places.values():
        assert len(attempts) <= 1 + disturbed + failed
        assert all(a.is_disturbed or a.status == "failed" for a in attempts[:-1])
