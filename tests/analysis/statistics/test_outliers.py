"""Flags: what they catch, and that nothing is taken away. How often they are wrong is simulated
(`test_by_simulation.py`)."""

from __future__ import annotations

import numpy as np
import pytest
from published_trials import W2K, W98

from lanlab.analysis.statistics import flag_outliers
from lanlab.analysis.statistics.outliers import grubbs_threshold, median_threshold
from lanlab.errors import UnfitValues


@pytest.mark.parametrize(
    ("n", "printed"), [(3, 1.1543), (4, 1.481), (5, 1.715), (6, 1.887), (7, 2.020), (9, 2.215)]
)
def test_grubbs_threshold_is_the_printed_one(n: int, printed: float) -> None:
    """Critical values for a two-sided test at 5 %, as tables print them."""
    assert grubbs_threshold(n) == pytest.approx(printed, abs=0.0006)


@pytest.mark.parametrize("n", [10, 13, 20, 50, 101, 200])
def test_the_median_threshold_is_that_of_simulated_conditions(n: int) -> None:
    """95 of 100 conditions of normal trials stay below it."""
    values = np.random.default_rng(n).normal(0, 1, (8_000, n))
    away = np.abs(values - np.median(values, axis=1, keepdims=True))
    most = (away / np.median(away, axis=1, keepdims=True) * 0.67449).max(axis=1)

    assert np.mean(most > median_threshold(n)) == pytest.approx(0.05, abs=0.015)


def test_of_twelve_published_conditions_one_has_a_trial_apart() -> None:
    """263, 263, 261 and 263 s: read in whole seconds, three alike make the fourth stand out."""
    flagged = [trials for trials in (*W2K.values(), *W98.values()) if flag_outliers(trials).count]

    assert flagged == [W98["tcpip", 1]]
    assert flag_outliers([*W2K["tcpip", 1][:4], 110]).flagged == (False,) * 4 + (True,)


def test_from_ten_on_two_outliers_do_not_hide_each_other() -> None:
    few, many = [10.0, 11, 9, 10.5, 9.5], [10.0, 11, 9, 10.5, 9.5, 10.2, 9.8, 10.1, 9.9, 10.3]

    assert flag_outliers([*many, 50, 52]).flagged == (False,) * 10 + (True, True)
    assert flag_outliers([*many, 50, 52]).rule == "median"
    assert flag_outliers([*few, 50, 52]).count == 0


def test_where_most_are_equal_it_falls_back() -> None:
    seen = flag_outliers([5.0] * 11 + [6.0])

    assert (seen.rule, seen.flagged.index(True), seen.count) == ("grubbs", 11, 1)
    assert flag_outliers([5.0] * 12).count == 0
    assert flag_outliers([0.1 + 0.2, 0.3, 0.3, 0.3]).count == 0


def test_at_most_one_of_few_is_flagged() -> None:
    random = np.random.default_rng(1)
    assert all(flag_outliers(random.standard_cauchy(9)).count <= 1 for _ in range(300))


def test_a_log_scale_takes_a_long_tail_as_it_is() -> None:
    values = [1.0, 2, 4, 8, 16, 32, 64]

    assert flag_outliers([*values, 700.0]).count == 1
    assert flag_outliers([*values, 700.0], scale="log").count == 0


def test_nothing_is_removed() -> None:
    values = [80, 83, 80, 120, 82]
    seen = flag_outliers(values)

    assert values == [80, 83, 80, 120, 82]
    assert len(seen.flagged) == len(seen.distances) == 5


def test_two_values_have_no_outlier() -> None:
    with pytest.raises(UnfitValues, match="need at least 3 values, got 2"):
        flag_outliers([1, 2])
