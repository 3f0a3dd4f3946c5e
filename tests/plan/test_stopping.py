"""When a condition has had enough trials."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lanlab.plan.stopping import Trials, t_quantile_975
from lanlab.studies.model import TrialPolicy

#: Table of Student's t, 97.5 %, as in any textbook.
T_TABLE = {1: 12.706, 2: 4.303, 4: 2.776, 9: 2.262, 29: 2.045, 99: 1.984}


def trials(*values: float | None, **policy: float) -> Trials:
    state = Trials(TrialPolicy.model_validate(policy))
    for value in values:
        state.record_done(value)
    return state


@pytest.mark.parametrize(("degrees_of_freedom", "quantile"), T_TABLE.items())
def test_quantiles_of_t_are_those_of_the_tables(degrees_of_freedom: int, quantile: float) -> None:
    assert t_quantile_975(degrees_of_freedom) == pytest.approx(quantile, abs=5e-4)


@given(st.lists(st.floats(1, 1e9), min_size=2, max_size=30))
def test_the_half_width_is_that_of_the_t_interval_of_the_mean(values: list[float]) -> None:
    spread = statistics.stdev(values)
    assume(spread == 0 or spread > 1e-6 * max(values))
    expected = (
        t_quantile_975(len(values) - 1) * spread / math.sqrt(len(values)) / statistics.fmean(values)
    )

    state = trials(*values, min=1, max=99)

    assert state.relative_half_width == pytest.approx(expected, rel=1e-6)


def test_without_a_rule_every_condition_gets_the_most() -> None:
    assert trials(10, 10, 10, 10, min=3, max=5).active
    assert not trials(10, 10, 10, 10, 10, min=3, max=5).active


def test_a_narrow_interval_stops_a_condition_after_the_least() -> None:
    # 99, 100, 101: mean 100, standard deviation 1, half-width 4.303 / sqrt(3) = 2.48 %.
    assert trials(99, 100, min=3, max=9, relative_ci=0.5).active
    assert not trials(99, 100, 101, min=3, max=9, relative_ci=0.025).active
    assert trials(99, 100, 101, min=3, max=9, relative_ci=0.024).active


def test_a_wide_interval_goes_on_to_the_most() -> None:
    values = [1.0, 100.0] * 5
    assert trials(*values[:9], min=3, max=10, relative_ci=0.1).active
    assert not trials(*values, min=3, max=10, relative_ci=0.1).active


def test_one_trial_has_no_interval_that_could_stop_it() -> None:
    assert trials(100, min=1, max=5, relative_ci=0.9).active


def test_trials_without_the_metric_count_and_cannot_stop_a_condition() -> None:
    assert trials(None, None, math.nan, 100, min=3, max=9, relative_ci=0.5).active
    assert not trials(*[None] * 9, min=3, max=9, relative_ci=0.5).active


@pytest.mark.parametrize(
    ("values", "width"), [((0.0, 0.0, 0.0), 0.0), ((-1.0, 1.0), math.inf), ((7.0, 7.0), 0.0)]
)
def test_a_mean_of_zero_has_a_decided_width(values: tuple[float, ...], width: float) -> None:
    assert trials(*values, min=1, max=9).relative_half_width == width


def test_a_missing_place_is_no_trial_and_is_not_made_up_for() -> None:
    state = trials(1, 1, min=3, max=4)
    state.record_missing()

    assert (state.done, state.missing, state.most_left) == (2, 1, 1)
    assert state.active
    state.record_missing()
    assert not state.active and not state.given_up


def test_three_missing_places_in_a_row_give_a_condition_up() -> None:
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


def test_a_condition_that_ends_without_any_trial_is_given_up_however_few_it_should_have() -> None:
    state = trials(min=1, max=2)
    state.record_missing()
    assert not state.given_up
    state.record_missing()
    assert state.given_up


def test_a_cause_that_lasts_gives_up_at_once_what_has_never_worked() -> None:
    never, once = trials(min=3, max=9), trials(1, min=3, max=9)
    never.record_missing(is_lasting=True)
    once.record_missing(is_lasting=True)

    assert never.given_up
    assert not once.given_up and once.is_in_doubt
