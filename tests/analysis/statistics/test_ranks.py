"""Rank comparisons, against every permutation and against scipy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published_trials import W2K
from scipy import stats

from lanlab.analysis.statistics import mann_whitney
from lanlab.errors import UnfitValues

few_steps = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=4)
distinct = st.lists(st.integers(0, 10**6).map(float), min_size=4, max_size=16, unique=True)


@given(few_steps, few_steps)
def test_p_counts_every_assignment_ties_included(a: list[float], b: list[float]) -> None:
    pooled = a + b
    us = []
    for chosen in itertools.combinations(range(len(pooled)), len(a)):
        others = [pooled[at] for at in range(len(pooled)) if at not in chosen]
        us.append(sum((pooled[i] > y) + 0.5 * (pooled[i] == y) for i in chosen for y in others))
    seen = mann_whitney(a, b)

    assert seen.p_less == pytest.approx(np.mean([u <= seen.u + 1e-9 for u in us]))
    assert seen.p_greater == pytest.approx(np.mean([u >= seen.u - 1e-9 for u in us]))
    smallest = 2 * min(np.mean([u == min(us) for u in us]), np.mean([u == max(us) for u in us]))
    assert seen.smallest_p == pytest.approx(min(1, smallest))
    assert seen.smallest_p <= seen.p_two_sided + 1e-12


@given(distinct, st.integers(1, 3))
def test_without_ties_it_is_scipys_exact_test(values: list[float], share: int) -> None:
    cut = max(1, len(values) * share // 4)
    a, b = values[:cut], values[cut:]
    seen = mann_whitney(a, b)

    for side, p in (
        ("two-sided", seen.p_two_sided),
        ("greater", seen.p_greater),
        ("less", seen.p_less),
    ):
        oracle = stats.mannwhitneyu(a, b, alternative=side, method="exact")
        assert (seen.u, p) == pytest.approx((oracle.statistic, oracle.pvalue))


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_many_values_are_taken_as_scipy_takes_them(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = random.integers(0, 40, 35), random.integers(2, 45, 40)
    seen = mann_whitney(a, b)

    assert not seen.exact
    for side, p in (("greater", seen.p_greater), ("less", seen.p_less)):
        assert p == pytest.approx(stats.mannwhitneyu(a, b, alternative=side).pvalue)


@pytest.mark.parametrize(("n", "smallest"), [(3, 0.1), (4, 0.0286), (5, 0.0079)])
def test_few_trials_cannot_have_a_small_p(n: int, smallest: float) -> None:
    seen = mann_whitney(range(n), range(100, 100 + n))

    assert seen.p_two_sided == seen.smallest_p == pytest.approx(smallest, abs=5e-5)
    assert (seen.low is None) == (n == 3)


def test_exact_and_approximate_meet() -> None:
    random = np.random.default_rng(1)
    a, b = random.normal(0.4, 1, 31), random.normal(0, 1, 30)

    assert mann_whitney(a[1:], b).exact
    assert not mann_whitney(a, b).exact
    ours = mann_whitney(a[1:], b).p_two_sided
    assert ours == pytest.approx(stats.mannwhitneyu(a[1:], b).pvalue, rel=0.1)


def test_the_shift_is_the_median_of_differences_and_its_interval_the_tests() -> None:
    """A shift is outside the interval exactly if the test finds one after taking it off."""
    random = np.random.default_rng(3)
    a, b = random.normal(3, 1, 8), random.normal(0, 1, 9)
    seen = mann_whitney(a, b)
    assert seen.low is not None and seen.high is not None

    assert seen.shift == pytest.approx(np.median([x - y for x in a for y in b]))
    assert 0.95 <= seen.confidence < 0.97
    for off, inside in ((seen.low, False), (seen.high, True)):
        for step in (-1e-9, 1e-9):
            p = mann_whitney(a - off - step, b).p_two_sided
            assert (p > 0.05) == ((step > 0) != inside)


def test_superiority_is_a_share_of_pairs() -> None:
    seen = mann_whitney(W2K["nwlink", 1], W2K["netbeui", 1])

    # pingouin 0.7.0: mwu(nwlink, netbeui) has U_val 8 and CLES 0.32.
    assert (seen.u, seen.superiority) == (8, 0.32)
    assert seen.p_two_sided == pytest.approx(
        stats.permutation_test(
            (W2K["nwlink", 1], W2K["netbeui", 1]),
            lambda x, y: stats.mannwhitneyu(x, y).statistic,
            permutation_type="independent",
            n_resamples=math.inf,
        ).pvalue
    )


def test_equal_values_say_nothing() -> None:
    seen = mann_whitney([5, 5, 5], [5, 5])
    many = mann_whitney([5] * 40, [5] * 40)

    assert (seen.p_two_sided, seen.smallest_p, seen.shift, seen.superiority) == (1, 1, 0, 0.5)
    assert many.p_two_sided == 1


def test_unfit_values_are_refused() -> None:
    with pytest.raises(UnfitValues, match="a: need at least 1 values, got 0"):
        mann_whitney([], [1])
    with pytest.raises(UnfitValues, match="b: every value must be finite"):
        mann_whitney([1], [math.inf])
