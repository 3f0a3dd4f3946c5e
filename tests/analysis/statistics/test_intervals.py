"""Intervals of means, against scipy by other routes and against published trials."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from published_trials import W2K, W98
from scipy import stats

from lanlab.analysis.statistics.intervals import mean_interval
from lanlab.analysis.statistics.samples import PrintedMean, moments, unscaled
from lanlab.errors import UnfitValues, UsageError


@pytest.mark.parametrize(
    ("trials", "mean", "sd", "half"),
    [
        (W98["tcpip", 1], 262.50, 1.00, 1.59),
        (W98["nwlink", 1], 320.75, 1.71, 2.72),
        (W98["nwlink", 2], 260.00, 0.00, 0.00),
        (W98["netbeui", 2], 291.75, 5.85, 9.31),
        (W2K["tcpip", 1], 82.00, 2.12, 2.63),
        (W2K["nwlink", 2], 130.20, 4.27, 5.30),
        (W2K["netbeui", 2], 132.20, 5.67, 7.05),
    ],
)
def test_the_interval_of_published_trials_matches_a_hand_calculation(
    trials: list[float], mean: float, sd: float, half: float
) -> None:
    seen = mean_interval(trials)

    assert (seen.mean, seen.sd) == pytest.approx((mean, sd), abs=0.005)
    assert seen.high - seen.mean == pytest.approx(half, abs=0.006)
    assert seen.mean - seen.low == pytest.approx(half, abs=0.006)
    assert seen.has_spread == (sd > 0)


@given(st.lists(st.floats(0.1, 1e6), min_size=3, max_size=20))
def test_the_interval_agrees_with_scipy(values: list[float]) -> None:
    if np.ptp(values) < 1e-6 * max(values):
        return
    for scale, scaled in (("linear", np.array(values)), ("log", np.log(values))):
        oracle = stats.ttest_1samp(scaled, 0).confidence_interval(0.95)
        seen = mean_interval(values, scale=scale)
        ends = (seen.low, seen.high) if scale == "linear" else np.log([seen.low, seen.high])
        assert tuple(ends) == pytest.approx(tuple(oracle), rel=1e-6, abs=1e-6)


def test_published_moments_on_a_log_scale_are_lognormal() -> None:
    lognormal = stats.lognorm(s=0.3, scale=math.exp(2))
    moments = PrintedMean(lognormal.mean(), lognormal.std(), 9).moments("log")

    assert (moments.mean, moments.sd) == pytest.approx((2, 0.3))


def test_a_coarse_metric_has_at_least_the_spread_of_its_step() -> None:
    """Of values that are rounded to whole seconds the rounding alone has a deviation of 0.289 s."""
    plain, coarse = mean_interval([260] * 4), moments("x", [260] * 4, resolution=1)

    assert (plain.low, plain.high) == (260, 260)
    assert coarse.sd == pytest.approx(np.std(np.random.default_rng(1).random(10**5)), rel=0.01)
    assert moments("x", [1, 9], resolution=0.1).sd == pytest.approx(32**0.5)
    assert moments("x", [260] * 4, scale="log", resolution=1).sd == pytest.approx(12**-0.5 / 260)


@pytest.mark.parametrize(
    ("values", "scale", "said"),
    [
        ([], "linear", "values: need at least 2 values, got 0"),
        ([1.0], "linear", "values: need at least 2 values, got 1"),
        ([1.0, math.nan], "linear", "values: every value must be finite; found nan at position 1"),
        ([math.inf, 1.0], "linear", "found inf at position 0"),
        ([1.0, 0.0], "log", "must be above 0; found 0 at position 1"),
        ([-2.0, 1.0], "log", "must be above 0; found -2 at position 0"),
    ],
)
def test_too_few_values_for_an_interval_are_refused(
    values: list[float], scale: str, said: str
) -> None:
    with pytest.raises(UnfitValues, match=said) as refused:
        mean_interval(values, scale=scale)
    assert refused.value.hint


@pytest.mark.parametrize("printed", [(1, -1, 5), (math.nan, 1, 5), (1, math.inf, 5), (1, 1, 1)])
def test_impossible_published_moments_are_refused(printed: tuple[float, float, int]) -> None:
    with pytest.raises(UnfitValues, match="published mean"):
        PrintedMean(*printed)
    with pytest.raises(UnfitValues, match="above 0, got -1"):
        PrintedMean(-1, 1, 5).moments("log")


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_numbers_that_differ_only_by_rounding_have_no_spread(unit: float) -> None:
    assert moments("x", [0.3 * unit, (0.1 + 0.2) * unit]).sd == 0
    assert moments("x", [0.3 * unit, 0.3 * unit * (1 + 1e-12)]).sd > 0


def test_a_ratio_beyond_the_float_range_is_infinite() -> None:
    """The greatest is e to the power of 709.78."""
    assert unscaled(708.9, "log") == math.exp(708.9)
    assert unscaled(709.9, "log") == math.inf
    assert unscaled(709.9, "linear") == 709.9


@pytest.mark.parametrize("resolution", [-1.0, math.inf, math.nan])
def test_an_invalid_resolution_is_refused(resolution: float) -> None:
    with pytest.raises(UsageError, match="resolution: need a number from 0"):
        moments("x", [1, 2], resolution=resolution)


def test_a_printed_mean_of_zero_has_no_logarithm() -> None:
    with pytest.raises(UnfitValues, match="on a log scale it must be above 0, got 0"):
        PrintedMean(0, 1, 5).moments("log")
