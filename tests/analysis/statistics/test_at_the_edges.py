"""Where small faults of arithmetic stayed unseen: other numbers of groups and trials; limits."""

import math

import pytest
from planned_trials import trials_for_equivalence, trials_to_detect
from scipy import stats
from statsmodels.stats.power import TTestIndPower

from lanlab.analysis.statistics.equivalence import Margin
from lanlab.analysis.statistics.least_squares import fit_groups
from lanlab.analysis.statistics.power import trials_to_decide
from lanlab.analysis.statistics.two_groups import paired_by_block, welch


def test_one_degree_of_freedom_suffices_to_detect_lack_of_fit() -> None:
    """A line through the origin and two means: by hand, with weights of 1.

    Slope = (1 * 2 * 2 + 2 * 3) / (1 * 2 + 4) = 5/3 of groups (1: 1, 3) and (2: 3).
    """
    fit = fit_groups({"slope": [1.0, 2.0]}, [[1.0, 3.0], [3.0]], weights=[1.0, 1.0])
    assert fit.coefficients["slope"].value == pytest.approx(5 / 3)
    lack = 2 * (2 - 5 / 3) ** 2 + (3 - 10 / 3) ** 2
    assert fit.df_lack == 1
    assert fit.p_lack == pytest.approx(float(stats.f.sf(lack / 2.0, 1, 1)))


@pytest.mark.parametrize("sign", [1, -1])
def test_exceeding_a_margin_is_tested_on_one_side(sign: int) -> None:
    """Of 10 with a margin of 9 and a spread of 2: by statsmodels, half a deviation, one side."""
    a = [98.0, 98.0, 100.0, 102.0, 102.0]
    compared = welch(a, [value - sign * 10 for value in a])
    assert compared.sd_a == pytest.approx(2)
    oracle = TTestIndPower().solve_power(0.5, power=0.8, alpha=0.05, alternative="larger")
    seen = trials_to_decide(compared, mean_trial_s=60, margin=Margin.of_difference(9))
    assert seen.would_show == "different"
    assert seen.trials_per_side == pytest.approx(math.ceil(oracle), abs=1)
    assert seen.minutes == seen.further_trials == 2 * (seen.trials_per_side - 5)


def test_a_plan_has_three_trials_at_least_and_its_cap_at_most() -> None:
    assert trials_to_detect(100, 1, cap=3) == 3
    assert trials_to_detect(1, 1, cap=3) is None
    cap = trials_to_detect(1, 1)
    assert cap is not None
    assert trials_to_detect(1, 1, cap=cap) == cap
    assert trials_to_detect(1, 1, cap=cap - 1) is None


def test_missing_trials_are_counted_for_each_condition() -> None:
    """Of 6 and 3 trials that are to become n each, n - 6 and n - 3 are missing, or none."""
    a, b = [10.0, 12.0, 14.0, 10.0, 12.0, 14.0], [13.0, 14.0, 15.0]
    seen = trials_to_decide(welch(a, b), mean_trial_s=30)
    assert seen.trials_per_side is not None and seen.trials_per_side > 6
    assert seen.further_trials == 2 * seen.trials_per_side - 9
    assert seen.minutes == pytest.approx(seen.further_trials / 2)
    clear = trials_to_decide(welch([0.0, 1.0, 2.0] * 4, [99.0, 101.0]), mean_trial_s=30)
    assert (clear.trials_per_side, clear.further_trials) == (3, 1)


def test_narrow_equivalence_needs_more_trials_near_either_margin() -> None:
    oracle = math.ceil(
        TTestIndPower().solve_power(0.5, power=0.8, alpha=0.05, alternative="larger")
    )
    for true in (3.5, -3.5):
        needed = trials_for_equivalence(Margin.of_difference(4), 1, true=true)
        assert needed == pytest.approx(oracle, abs=1)
    by_block = paired_by_block({0: 1.0, 1: 2.0, 2: 4.0}, {0: 0.5, 1: 1.0, 2: 3.5}, scale="linear")
    assert by_block.sd_difference == pytest.approx(math.sqrt(1 / 12))
