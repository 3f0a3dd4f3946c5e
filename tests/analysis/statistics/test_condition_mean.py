"""The mean of a condition: arithmetic, with an interval that fits what the metric is."""

import math
import statistics

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from lanlab.analysis.statistics.condition_mean import condition_mean, printed_condition_mean
from lanlab.analysis.statistics.intervals import mean_interval
from lanlab.analysis.statistics.samples import PrintedMean
from lanlab.workloads.registry import WORKLOADS

METRICS = sorted({metric for entry in WORKLOADS.values() for metric in entry.metrics})
#: Differences of two clocks.
SIGNED = [metric for metric in METRICS if metric.startswith("one_way_delay_")]
NOT_NEGATIVE = [metric for metric in METRICS if metric not in SIGNED]
#: Rates of three trials of which one was three times as fast, bit/s.
SKEWED = [60e6, 100e6, 353e6]


def test_the_interval_of_a_rate_is_symmetric_by_a_factor() -> None:
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


def test_the_interval_of_a_share_is_cut_at_0_and_1() -> None:
    few = condition_mean("loss_ratio", [0.0, 0.0, 0.02])
    most = condition_mean("received_ratio", [1.0, 1.0, 0.98])

    assert few is not None and (few.low, few.high < 0.04) == (0.0, True)
    assert most is not None and (most.high, most.low > 0.96) == (1.0, True)


def test_a_ratio_that_is_not_a_share_may_exceed_one() -> None:
    seen = condition_mean("little_ratio", [0.99, 1.0, 0.98])

    assert seen is not None and seen.high > 1


def test_a_difference_of_clocks_may_be_below_zero() -> None:
    for delays in ([-2e3, 1e3, 3e3], [1e3, 1e3, 9e3]):
        seen = condition_mean("one_way_delay_p50_ns", delays)
        assert seen is not None and seen.low < 0


@pytest.mark.parametrize("value", [0.1, 0.7, 1 / 3])
@pytest.mark.parametrize("metric", ["goodput_bps", "loss_ratio", "errors"])
def test_the_mean_of_equal_trials_is_exact_to_the_last_bit(metric: str, value: float) -> None:
    """Their sum over their number is not: (0.1 + 0.1 + 0.1) / 3 is above 0.1, however added."""
    for count in range(2, 30):
        seen = condition_mean(metric, [value] * count)
        assert seen is not None and seen.mean == value
        interval = mean_interval([value] * count)
        assert (interval.mean, interval.low, interval.high) == (value, value, value)


def test_published_moments_give_the_same_interval_as_trials() -> None:
    trials = [99e6, 100e6, 101e6, 100.5e6]
    printed = PrintedMean(statistics.mean(trials), statistics.stdev(trials), len(trials))

    for metric in ("goodput_bps", "errors"):
        seen, oracle = printed_condition_mean(metric, printed), condition_mean(metric, trials)
        assert oracle is not None
        assert (seen.low, seen.high) == pytest.approx((oracle.low, oracle.high), rel=1e-4)
        assert seen.scale == oracle.scale == ("log" if metric == "goodput_bps" else "linear")


@given(
    metric=st.sampled_from(NOT_NEGATIVE),
    values=st.lists(st.floats(0, 1e15), min_size=2, max_size=12),
)
def test_intervals_of_non_negative_metrics_stay_above_zero(
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
def test_intervals_from_published_moments_stay_above_zero(
    metric: str, mean: float, cv: float, n: int
) -> None:
    assume(math.isfinite(cv * mean))
    assert printed_condition_mean(metric, PrintedMean(mean, cv * mean, n)).low >= 0


@pytest.mark.parametrize("metric", ["goodput_bps", "errors"])
@pytest.mark.parametrize("values", [[], [5.0], [5.0, math.nan], [math.inf, 5.0]])
def test_a_single_trial_or_nan_has_no_interval(metric: str, values: list[float]) -> None:
    assert condition_mean(metric, values) is None


def test_the_interval_of_a_rate_ends_at_a_factor_of_e_to_300() -> None:
    seen = condition_mean("goodput_bps", [1e-150, 1e150])

    assert seen is not None
    assert math.log(seen.high / seen.mean) == pytest.approx(300)
    assert math.log(seen.mean / seen.low) == pytest.approx(300)


def test_a_trial_beyond_a_limit_removes_the_limit() -> None:
    for values in ([-0.1, 0.02, 0.03], [0.5, 0.6, 1.2]):
        seen, student = condition_mean("loss_ratio", values), mean_interval(values)
        assert seen is not None
        assert (seen.low, seen.high) == pytest.approx(
            (student.low if values[0] < 0 else 0.0, student.high)
        )


def test_intervals_of_published_means_are_cut_at_the_metric_end() -> None:
    """A rate of 0 has no logarithm, and no share is above 1."""
    none = printed_condition_mean("goodput_bps", PrintedMean(0.0, 0.0, 5))
    most = printed_condition_mean("received_ratio", PrintedMean(0.99, 0.05, 4))

    assert (none.scale, none.low, none.high) == ("linear", 0.0, 0.0)
    assert (most.scale, most.high) == ("linear", 1.0)
    assert most.low == pytest.approx(0.99 - 3.182446 * 0.05 / 2)
