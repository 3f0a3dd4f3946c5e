"""When a condition has had enough trials."""

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanlab.analysis.statistics.condition_mean import condition_mean
from lanlab.plan.stopping import LEAST_WITH_GOAL, Trials, t_quantile_975, trials_needed
from lanlab.studies.model import TrialPolicy

#: Table of Student's t, 97.5 %, as in any textbook.
T_TABLE = {1: 12.706, 2: 4.303, 4: 2.776, 9: 2.262, 29: 2.045, 99: 1.984}
RATE, SHARE = "goodput_bps", "loss_ratio"


def trials(*values: float | None, metric: str = RATE, **policy: float) -> Trials:
    state = Trials(TrialPolicy.model_validate(policy), metric)
    for value in values:
        state.record_done(value)
    return state


def stopped_after(state: Trials, values: list[float]) -> int:
    for value in values:
        if not state.active:
            break
        state.record_done(value)
    return state.done


@pytest.mark.parametrize(("degrees_of_freedom", "quantile"), T_TABLE.items())
def test_quantiles_of_t_match_tables(degrees_of_freedom: int, quantile: float) -> None:
    assert t_quantile_975(degrees_of_freedom) == pytest.approx(quantile, abs=5e-4)


@pytest.mark.parametrize("metric", [RATE, SHARE])
@pytest.mark.parametrize(("spread", "goal"), [(0.01, 0.01), (0.05, 0.05), (0.3, 0.2)])
def test_the_planned_number_is_the_least_that_meets_the_goal(
    metric: str, spread: float, goal: float
) -> None:
    first = [1 / (1 + spread), 1.0, 1 + spread] if metric == RATE else [1 - spread, 1, 1 + spread]
    unit = [value / statistics.fmean(first) for value in first]

    found = trials_needed(metric, first, goal, least=2, most=10_000)

    def half_width(n: int) -> float:
        """Of n trials that have the spread of the first, on the scale of the metric."""
        scaled = [math.log(v) if metric == RATE else v for v in unit]
        mean, sd = statistics.fmean(scaled), statistics.stdev(scaled)
        step = sd * math.sqrt((n - 1) / n) if n % 2 == 0 else sd
        signs = (
            [(-1) ** k for k in range(n)] if n % 2 == 0 else [0] + [(-1) ** k for k in range(n - 1)]
        )
        values = [mean + sign * step for sign in signs]
        own = [math.exp(v) if metric == RATE else v for v in values]
        seen = condition_mean("goodput_bps" if metric == RATE else "operations", own)
        assert seen is not None
        widened = t_quantile_975(2) / t_quantile_975(n - 1)
        if metric == RATE:
            return math.expm1(widened * math.log(seen.high / seen.mean))
        return widened * (seen.high - seen.mean) / seen.mean

    assert half_width(found) <= goal * (1 + 1e-9)
    assert half_width(found - 1) > goal


def test_the_planned_number_of_a_rate_uses_logarithms() -> None:
    """By hand: s² = 7/3 ln² 2 = 1.1211 in (s²/n + s⁴/(2(n-1))) = (ln 1.5 / 4.3027)². On a linear
    scale rates and their inverses, the times, would ask for different numbers."""
    first = [1.0, 2.0, 8.0]
    for values in (first, [1 / value for value in first]):
        assert trials_needed(RATE, values, 0.5, least=2, most=1000) == 198


def test_a_rate_of_zero_is_judged_on_a_linear_scale() -> None:
    # Mean 2, standard deviation 2: (4.303 · 2 / (0.5 · 2))² = 74.1.
    assert trials_needed(RATE, [0.0, 2.0, 4.0], 0.5, least=2, most=1000) == 75


def test_without_a_goal_every_condition_gets_the_most() -> None:
    assert trials(10, 10, 10, 10, min=3, max=5).active
    assert not trials(10, 10, 10, 10, 10, min=3, max=5).active


def test_a_steady_condition_stops_after_the_minimum_of_trials() -> None:
    policy = {"min": 3, "max": 20, "relative_ci": 0.02}
    assert stopped_after(trials(**policy), [100.0, 100.1, 99.9] * 9) == LEAST_WITH_GOAL == 12
    assert stopped_after(trials(**{**policy, "min": 15}), [100.0, 100.1, 99.9] * 9) == 15


def test_only_the_first_three_trials_decide() -> None:
    """A look at each trial takes conditions that are narrow by chance: 92 % instead of 95 %."""
    policy = {"min": 3, "max": 40, "relative_ci": 0.02}
    first = [99.0, 100.0, 101.0]
    planned = trials_needed(RATE, first, 0.02, least=12, most=40)
    draws = random.Random(3)

    for sd in (0.0, 1.0, 30.0):
        values = [*first, *(draws.gauss(100, sd) for _ in range(40))]
        assert stopped_after(trials(**policy), values) == planned


def test_a_wide_interval_uses_the_maximum_number() -> None:
    assert stopped_after(trials(min=3, max=20, relative_ci=0.1), [1.0, 100.0] * 15) == 20


def test_a_maximum_below_the_least_is_a_fixed_number() -> None:
    assert stopped_after(trials(min=3, max=9, relative_ci=0.5), [1.0] * 15) == 9


def test_trials_without_the_metric_count_and_cannot_stop_a_condition() -> None:
    policy = {"min": 3, "max": 20, "relative_ci": 0.5}
    assert stopped_after(trials(None, None, math.nan, **policy), [1.0] * 30) == 15
    assert trials(*[None] * 19, **policy).active
    assert not trials(*[None] * 20, **policy).active


@pytest.mark.parametrize(
    ("values", "most"), [((0.0, 0.0, 0.0), 12), ((-1.0, 0.0, 1.0), 99), ((7.0, 7.0, 7.0), 12)]
)
def test_a_mean_of_zero_has_a_planned_number(values: tuple[float, ...], most: int) -> None:
    assert trials(*values, metric=SHARE, min=1, max=99, relative_ci=0.5).planned == most


def test_missing_places_are_not_replaced() -> None:
    state = trials(1, 1, min=3, max=4)
    state.record_missing()

    assert (state.done, state.missing, state.most_left) == (2, 1, 1)
    assert state.active
    state.record_missing()
    assert not state.active and not state.given_up


@given(st.lists(st.booleans(), min_size=12, max_size=30))
def test_missing_places_do_not_count_towards_a_goal(places: list[bool]) -> None:
    state = trials(min=3, max=30, relative_ci=0.5)
    for is_missing in places:
        if not state.active:
            break
        if is_missing:
            state.record_missing()
        else:
            state.record_done(1.0)

    if not state.given_up and state.done + state.missing < 30:
        assert state.active == (state.done < 12)


def test_eleven_trials_and_a_missing_place_are_not_twelve_trials() -> None:
    state = trials(*[1.0] * 11, min=3, max=20, relative_ci=0.5)
    state.record_missing()
    assert state.active and state.most_left == 1

    state.record_done(1.0)

    assert not state.active


def test_missing_places_among_the_first_do_not_decide() -> None:
    state = trials(1.0, min=3, max=20, relative_ci=0.5)
    state.record_missing()
    state.record_missing()
    assert state.planned == 20

    state.record_done(1.0)
    state.record_done(1.0)

    assert state.planned == 12


def test_a_condition_is_given_up_after_three_missing_places() -> None:
    state = trials(1, min=3, max=9)
    state.record_missing()
    state.record_missing()
    state.record_done(1)
    state.record_missing()
    state.record_missing()
    assert state.active and not state.given_up

    state.record_missing()

    assert state.given_up and not state.active
    assert state.most_left == 0


def test_a_condition_without_any_trial_is_given_up() -> None:
    state = trials(min=1, max=2)
    state.record_missing()
    assert not state.given_up
    state.record_missing()
    assert state.given_up


def test_a_lasting_fault_ends_an_untried_condition_at_once() -> None:
    never, once = trials(min=3, max=9), trials(1, min=3, max=9)
    never.record_missing(is_lasting=True)
    once.record_missing(is_lasting=True)

    assert never.given_up
    assert not once.given_up and once.is_in_doubt
