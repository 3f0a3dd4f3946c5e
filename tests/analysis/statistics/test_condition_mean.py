"""The mean of a condition: arithmetic, with an interval that fits what the metric is."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from lanlab.analysis.statistics import (
    PrintedMean,
    condition_mean,
    mean_interval,
    printed_condition_mean,
)
from lanlab.workloads.registry import WORKLOADS

METRICS = sorted({metric for entry in WORKLOADS.values() for metric in entry.metrics})
#: Differences of two clocks.
SIGNED = [metric for metric in METRICS if metric.startswith("one_way_delay_")]
NOT_NEGATIVE = [metric for metric in METRICS if metric not in SIGNED]
#: Rates of three trials of which one was three times as fast, bit/s.
SKEWED = [60e6, 100e6, 353e6]


def test_the_interval_of_a_rate_is_the_mean_times_and_over_a_factor_worked_out_by_hand() -> None:
    logs = [math.log(rate) for rate in SKEWED]
    variance = statistics.variance(logs)
    factor = math.exp(stats.t.ppf(0.975, 2) * math.sqrt(variance / 3 + variance**2 / 4))

    seen = condition_mean("goodput_bps", SKEWED)

    assert seen is not None
    assert seen.mean == pytest.approx(171e6)
    assert (seen.low, seen.high) == pytest.approx((171e6 / factor, 171e6 * factor))
    assert mean_interval(SKEWED).low < 0, "Student's t on the values goes where no rate is"


def test_a_rate_of_zero_has_no_logarithm_and_is_cut_at_zero() -> None:
    rates = [0.0, 5e6, 6e6]
    student = mean_interval(rates)

    seen = condition_mean("goodput_bps", rates)

    assert seen is not None and seen.scale == "linear"
    assert student.low < 0
    assert (seen.low, seen.high) == (0.0, pytest.approx(student.high))


def test_a_share_is_cut_at_none_and_at_all() -> None:
    few = condition_mean("loss_ratio", [0.0, 0.0, 0.02])
    most = condition_mean("received_ratio", [1.0, 1.0, 0.98])

    assert few is not None and (few.low, few.high < 0.04) == (0.0, True)
    assert most is not None and (most.high, most.low > 0.96) == (1.0, True)


def test_a_ratio_that_is_no_share_goes_above_one() -> None:
    seen = condition_mean("little_ratio", [0.99, 1.0, 0.98])

    assert seen is not None and seen.high > 1


def test_a_difference_of_clocks_may_be_below_zero() -> None:
    for delays in ([-2e3, 1e3, 3e3], [1e3, 1e3, 9e3]):
        seen = condition_mean("one_way_delay_p50_ns", delays)
        assert seen is not None and seen.low < 0


@pytest.mark.parametrize("metric", ["goodput_bps", "loss_ratio", "errors"])
def test_equal_trials_have_an_interval_of_no_width(metric: str) -> None:
    seen = condition_mean(metric, [0.1, 0.1, 0.1])

    assert seen is not None and seen.low == seen.mean == seen.high


def test_printed_moments_of_little_spread_give_what_trials_give() -> None:
    trials = [99e6, 100e6, 101e6, 100.5e6]
    printed = PrintedMean(statistics.mean(trials), statistics.stdev(trials), len(trials))

    for metric in ("goodput_bps", "errors"):
        seen, oracle = printed_condition_mean(metric, printed), condition_mean(metric, trials)
        assert oracle is not None
        assert (seen.low, seen.high) == pytest.approx((oracle.low, oracle.high), rel=1e-4)


@given(
    metric=st.sampled_from(NOT_NEGATIVE),
    values=st.lists(st.floats(0, 1e15), min_size=2, max_size=12),
)
def test_no_interval_of_what_is_not_negative_goes_below_zero(
    metric: str, values: list[float]
) -> None:
    seen = condition_mean(metric, values)

    assert seen is not None
    assert 0 <= seen.low <= seen.high
    assert math.isfinite(seen.high)
    # But for the last bits.
    assert seen.low <= seen.mean * (1 + 1e-12) and seen.mean <= seen.high * (1 + 1e-12)


@given(
    metric=st.sampled_from(NOT_NEGATIVE),
    mean=st.floats(1e-9, 1e12),
    cv=st.floats(0, 3),
    n=st.integers(2, 50),
)
def test_nor_does_one_from_print(metric: str, mean: float, cv: float, n: int) -> None:
    assume(math.isfinite(cv * mean))
    assert printed_condition_mean(metric, PrintedMean(mean, cv * mean, n)).low >= 0
