"""Drift against trial order, against scipy, statsmodels and published trials."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from published_trials import W2K, W98
from scipy import stats
from statsmodels.formula.api import ols

from lanlab.analysis.statistics import Scale, drift
from lanlab.errors import NoSpread, UnfitValues


@pytest.mark.parametrize(
    ("trials", "slope", "p", "tau", "tau_p"),
    [
        (W98["tcpip", 1], -0.20, 0.742, -0.24, 0.655),
        (W98["tcpip", 2], 0.50, 0.326, 0.55, 0.279),
        (W98["netbeui", 2], 0.90, 0.801, 0.00, 1.000),
        (W2K["tcpip", 1], 0.40, 0.626, 0.32, 0.448),
        (W2K["nwlink", 1], 2.50, 0.018, 0.80, 0.083),
        (W2K["nwlink", 2], 0.20, 0.906, 0.11, 0.801),
        (W2K["netbeui", 2], 3.40, 0.014, 0.80, 0.083),
    ],
)
def test_the_drift_of_published_trials_matches_a_hand_calculation(
    trials: list[float], slope: float, p: float, tau: float, tau_p: float
) -> None:
    seen = drift([trials])

    assert (seen.slope, seen.tau) == pytest.approx((slope, tau), abs=0.006)
    assert (seen.p, seen.tau_p) == pytest.approx((p, tau_p), abs=0.0006)
    assert seen.drifts == (p < 0.05)


@pytest.mark.parametrize(
    ("conditions", "slope", "half", "p"),
    [
        (list(W98.values()), 0.10, 1.02, 0.8389),
        (list(W2K.values()), 1.38, 0.93, 0.0053),
        ([own for (name, _), own in W2K.items() if name != "tcpip"], 2.15, 1.16, 0.0013),
    ],
)
def test_the_pooled_drift_matches_a_hand_calculation(
    conditions: list[list[float]], slope: float, half: float, p: float
) -> None:
    seen = drift(conditions)

    assert (seen.slope, seen.high - seen.slope) == pytest.approx((slope, half), abs=0.006)
    assert seen.p == pytest.approx(p, abs=6e-5)


@given(st.integers(0, 10**6))
def test_the_common_slope_agrees_with_statsmodels(seed: int) -> None:
    random = np.random.default_rng(seed)
    conditions = [random.lognormal(at, 0.1, size) for at, size in enumerate((3, 5, 4))]
    positions = [random.permutation(20)[: len(own)] for own in conditions]
    data = pd.DataFrame(
        {
            "y": np.log(np.concatenate(conditions)),
            "x": np.concatenate(positions),
            "c": np.repeat(["a", "b", "c"], [3, 5, 4]),
        }
    )
    oracle = ols("y ~ x + C(c)", data).fit()
    seen = drift(conditions, positions, scale="log")

    assert np.log([seen.slope, seen.low, seen.high]) == pytest.approx(
        [oracle.params["x"], *oracle.conf_int().loc["x"]], abs=1e-9
    )
    assert seen.p == pytest.approx(oracle.pvalues["x"], rel=1e-6)


def test_tau_over_conditions_sums_their_scores() -> None:
    """Two conditions of no ties, each rising but for one pair: 9 - 1 of 10 pairs in each."""
    seen = drift([[1, 2, 3, 5, 4], [2, 1, 3, 4, 5]])
    variance = 2 * 5 * 4 * 15 / 18

    assert seen.tau == pytest.approx(16 / 20)
    assert seen.tau_p == pytest.approx(2 * stats.norm.sf(15 / variance**0.5))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=4, max_size=12))
def test_the_variance_with_ties_agrees_with_scipy(pairs: list[tuple[int, int]]) -> None:
    from lanlab.analysis.statistics.drift import _score_variance

    x, y = (np.array(own, float) for own in zip(*pairs, strict=True))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert _score_variance(x, y) == pytest.approx(0)
        return
    score = sum(np.sign((x[i] - x[j]) * (y[i] - y[j])) for i in range(x.size) for j in range(i))
    z = abs(score) / _score_variance(x, y) ** 0.5
    oracle = stats.kendalltau(x, y, method="asymptotic").pvalue
    assert 2 * stats.norm.sf(z) == pytest.approx(oracle, abs=1e-9)


def test_an_outlier_moves_the_slope_but_hardly_tau() -> None:
    flat = [10, 12, 11, 9, 10.5, 11.5, 9.5, 10.2]
    wild = [*flat[:-1], 100]

    assert abs(drift([wild]).slope - drift([flat]).slope) > 5
    assert abs(drift([wild]).tau - drift([flat]).tau) < 0.4


def test_conditions_with_a_single_trial_are_skipped() -> None:
    assert drift([[1, 3, 2, 5], [7]]) == drift([[1, 3, 2, 5]])


@pytest.mark.parametrize(
    ("conditions", "positions", "error", "said"),
    [
        ([], None, UnfitValues, "at least 3 trials of one, or 2 of several; got 0"),
        ([[1, 2]], None, UnfitValues, "at least 3 trials of one, or 2 of several; got 2"),
        ([[1, 2, 3]], [[1, 2]], UnfitValues, "need one for each value"),
        ([[1, 2, 4]], [[1, 1, 1]], UnfitValues, "have the same position"),
        ([[5, 5, 5], [7, 7]], None, NoSpread, "nothing can drift"),
        ([[1, 2, 3]], None, NoSpread, "on one line"),
        ([[1, float("nan"), 3]], None, UnfitValues, "condition 0: every value must be finite"),
    ],
)
def test_conditions_that_cannot_show_a_drift_are_refused(
    conditions: list[list[float]],
    positions: list[list[float]] | None,
    error: type[Exception],
    said: str,
) -> None:
    with pytest.raises(error, match=said):
        drift(conditions, positions)


def test_a_condition_of_two_trials_adds_to_the_order_test() -> None:
    """By hand: the slope is (5.5 + 1.5) / (5 + 0.5); of the pairs five rise and one falls in the
    first condition, and one rises in the second."""
    seen = drift([[1, 3, 2, 5], [7, 10]])
    variance = 4 * 3 * 13 / 18 + 2 * 1 * 9 / 18

    assert (seen.n, seen.conditions) == (6, 2)
    assert seen.slope == pytest.approx(7 / 5.5)
    assert seen.tau == pytest.approx(5 / 7)
    assert seen.tau_p == pytest.approx(2 * stats.norm.sf(4 / variance**0.5))


def test_opposite_drifts_cancel_out() -> None:
    seen = drift([[1, 2, 3], [6, 5, 4]])

    assert (seen.slope, seen.p, seen.tau, seen.tau_p) == (0.0, 1.0, 0.0, 1.0)


def test_conditions_without_a_pair_to_order_have_no_tau() -> None:
    seen = drift([[1, 2, 4], [5, 5, 5]], [[1, 1, 1], [1, 2, 3]])

    assert (seen.slope, seen.tau, seen.tau_p) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_tied_values_have_a_score_without_variance(n: int) -> None:
    from lanlab.analysis.statistics.drift import _score_variance

    assert _score_variance(np.zeros(n), np.ones(n)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_rounding_errors_do_not_count_as_residuals(
    unit: float,
) -> None:
    with pytest.raises(NoSpread, match="on one line"):
        drift([[0.1 * unit * place for place in range(1, 7)]])


def test_a_mean_of_zero_has_no_relative_drift() -> None:
    with pytest.raises(UnfitValues, match="condition 0: on a log scale"):
        drift([[0, 1, 2]], scale="log")


@pytest.mark.parametrize(
    ("scale", "none"),
    [("linear", 0.0), ("log", 1.0)],
)
def test_a_slope_is_a_drift_if_its_interval_excludes_zero(scale: Scale, none: float) -> None:
    seen = drift([[10, 12, 11, 14]], scale=scale)
    ends = {(-0.2, 0.3): False, (0.1, 0.2): True, (-0.2, -0.1): True, (0.0, 0.1): False}
    ends[-0.1, 0.0] = False

    for (low, high), drifts in ends.items():
        assert replace(seen, low=none + low, high=none + high).drifts is drifts
