"""Where small faults of arithmetic stayed unseen: other numbers of groups and trials, and limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lanlab.analysis.statistics import bootstrap_interval, fit_groups, flag_outliers, welch_anova


@pytest.mark.parametrize("k", [2, 4, 5, 9])
def test_welchs_analysis_is_scipys_for_any_number_of_groups(k: int) -> None:
    """With three, a product and a quotient of k - 2 are the same."""
    rng = np.random.default_rng(k)
    groups = {str(at): rng.normal(100 + at, 1 + at, 3 + at).tolist() for at in range(k)}
    seen = welch_anova(groups)
    oracle = stats.f_oneway(*groups.values(), equal_var=False)
    assert (seen.f, seen.p) == pytest.approx((oracle.statistic, oracle.pvalue))
    assert seen.df_between == k - 1


def test_a_bootstrap_takes_999_resamples() -> None:
    low, high = bootstrap_interval(range(40), seed=1, resamples=999)
    assert low < 19.5 < high


def test_one_degree_of_freedom_is_enough_to_see_a_lack_of_fit() -> None:
    """A line through the origin and two means: by hand, with weights of 1.

    Slope = (1 * 2 * 2 + 2 * 3) / (1 * 2 + 4) = 5/3 of groups (1: 1, 3) and (2: 3).
    """
    fit = fit_groups({"slope": [1.0, 2.0]}, [[1.0, 3.0], [3.0]], weights=[1.0, 1.0])
    assert fit.coefficients["slope"].value == pytest.approx(5 / 3)
    lack = 2 * (2 - 5 / 3) ** 2 + (3 - 10 / 3) ** 2
    assert fit.df_lack == 1
    assert fit.p_lack == pytest.approx(float(stats.f.sf(lack / 2.0, 1, 1)))


def test_values_that_are_all_nothing_have_no_outlier() -> None:
    seen = flag_outliers([0.0, 0.0, 0.0])
    assert seen.distances == (0, 0, 0)
    assert seen.count == 0


@pytest.mark.parametrize("beside", [(10.0, -11.0), (-11.0, 10.0), (9.0, 10.0, -11.0)])
def test_only_the_most_extreme_of_several_is_flagged_by_grubbs(beside: tuple[float, ...]) -> None:
    """Most values are equal, so that they have no median deviation."""
    values = [0.0] * 60 + list(beside)
    seen = flag_outliers(values)
    assert seen.rule == "grubbs"
    assert sum(distance > seen.threshold for distance in seen.distances) == len(beside)
    assert [value for value, flagged in zip(values, seen.flagged, strict=True) if flagged] == [-11]
