"""Trials of which each is like the one before: how much less they are worth."""

import math

import numpy as np
import pytest
from scipy import stats

from lanlab.analysis.statistics.neighbours import (
    LEAST_TRIALS,
    OF_TWO,
    Dependence,
    dependence,
    lag_one,
    of_correlation,
    widening,
)
from lanlab.analysis.statistics.two_groups import welch

#: Slow, then quick.
DRIFTING = [10.0, 10.2, 10.1, 10.3, 10.2, 10.1, 11.0, 11.2, 11.1, 11.0, 11.2, 11.3]
STEADY = [10.0, 10.3, 10.1, 10.4, 10.0, 10.2, 10.0, 10.4, 10.1, 10.3, 10.0, 10.2]


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("n", [2, 5, 12, 40])
def test_errors_follow_from_the_correlation_matrix(n: int, correlation: float) -> None:
    """With R these and M what takes the mean away: a mean has 1'R1 / nn of the variance, and the
    squares that are left the square of tr MR, over tr MRMR, degrees of freedom."""
    places = np.arange(n)
    matrix = correlation ** np.abs(places[:, None] - places)
    around = (np.eye(n) - 1 / n) @ matrix
    spread = np.trace(around) / (n - 1)
    found = of_correlation(n, correlation)
    assert found.errors == pytest.approx(math.sqrt(matrix.sum() / n / spread))
    degrees = np.trace(around) ** 2 / np.trace(around @ around)
    assert found.degrees == pytest.approx(max(1.0, degrees))


def test_a_correlation_is_corrected_upwards() -> None:
    """By its bias, and by 1.15 over the root of the number of trials, 0.8 at most; of two groups
    that are compared by 0.3."""
    random = np.random.default_rng(3)
    for values in (list(random.normal(0, 1, 400).cumsum()[::20]), DRIFTING):
        assert dependence(values) == of_correlation(len(values), 0.8)
    own = list(random.normal(0, 1, 400))
    hanging = [a + 0.3 * b for a, b in zip(own[1:], own, strict=False)]
    seen = lag_one(hanging)
    assert seen is not None and 0.2 < seen < 0.4
    n = len(hanging)
    likely = (seen + 1 / n) / (1 - 3 / n) + 1.15 / math.sqrt(n)
    assert dependence(hanging) == of_correlation(n, likely)
    assert dependence(hanging, OF_TWO) == of_correlation(n, likely - 0.85 / math.sqrt(n))


def test_few_or_alternating_trials_count_as_independent() -> None:
    few = DRIFTING[3 : 2 + LEAST_TRIALS]
    assert dependence(few) == Dependence(1.0, LEAST_TRIALS - 2.0)
    assert widening(few) == widening(STEADY) == 1.0
    assert dependence(STEADY) == Dependence(1.0, 11.0)
    assert dependence(DRIFTING[3 : 3 + LEAST_TRIALS]).errors > 2


def test_correlation_lengthens_an_interval() -> None:
    found = dependence(DRIFTING)
    wider = stats.t.ppf(0.975, found.degrees) / stats.t.ppf(0.975, 11)
    assert widening(DRIFTING) == pytest.approx(found.errors * wider)
    assert 3.5 < widening(DRIFTING) < 4.5


def test_each_group_is_corrected_for_its_own_correlation() -> None:
    seen = welch(DRIFTING, STEADY, scale="log", in_order=True)
    plain = welch(DRIFTING, STEADY, scale="log")
    own = dependence([math.log(value) for value in DRIFTING], OF_TWO)
    parts = [plain.sd_a**2 / 12 * own.errors**2, plain.sd_b**2 / 12]
    df = sum(parts) ** 2 / (parts[0] ** 2 / own.degrees + parts[1] ** 2 / 11)
    assert seen.standard_error == pytest.approx(math.sqrt(sum(parts)))
    assert seen.df == pytest.approx(df)
    assert (seen.effect, seen.sd_a) == (plain.effect, plain.sd_a)
    assert plain.differs and not seen.differs
    linear = welch(DRIFTING, STEADY, in_order=True)
    errors = dependence(DRIFTING, OF_TWO).errors
    plain = welch(DRIFTING, STEADY)
    wanted = math.sqrt(plain.sd_a**2 / 12 * errors**2 + plain.sd_b**2 / 12)
    assert linear.standard_error == pytest.approx(wanted)
    few = welch(DRIFTING[3:10], STEADY[:7], in_order=True)
    assert few == welch(DRIFTING[3:10], STEADY[:7])
