"""
The mean of a condition and its interval, for all tables, figures and comparisons.

The mean is arithmetic for every metric, so a reader can check it from the trials: total bytes over
total time, or total time over their number. The method of the interval depends on the metric
(`scale_of`), not on the values, with one exception: 0 has no logarithm.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from lanlab.analysis.statistics.intervals import t_half_width, t_quantile
from lanlab.analysis.statistics.neighbours import widening
from lanlab.analysis.statistics.samples import PrintedMean, Scale, moments, scale_of
from lanlab.frozen import dataclass
from lanlab.workloads.scales import log_error

#: Metrics that can be negative: differences of two clocks.
_SIGNED = re.compile(r"^one_way_delay_|^clock_offset_")
#: Ratios that are shares of a whole, so that their means cannot exceed 1.
_SHARES = re.compile(
    r"_share_ratio$|^(jain_index|(received|loss|blocked|error|stall|steady)_ratio)$"
)
#: Largest factor between the mean and an end of its interval, as a power of e.
_MOST_LOG = 300.0


@dataclass(frozen=True)
class ConditionMean:
    """A mean over trials and its interval, in the metric's unit."""

    mean: float
    low: float
    high: float
    #: `log`: the ends are the mean divided and multiplied by one factor. `linear`: Student's t, cut
    #: at the limits of the metric.
    scale: Scale


def condition_mean(metric: str, values: Sequence[float]) -> ConditionMean | None:
    """
    The arithmetic mean of a condition's trials, and its interval.

    For rates and times, the interval uses the log scale and assumes lognormal trials. With s the
    standard deviation of the n logarithms, the mean is divided and multiplied by exp(t √(s²/n +
    s⁴/(2(n-1)))). The second term is the excess of an arithmetic over a geometric mean. This
    interval is above zero, contains the mean, and is close to Student's t for a coefficient of
    variation below 10 %. For shares, counts and all other metrics, and if a trial is 0, the
    interval is Student's t, cut at 0 (except for clock differences) and, for shares, at 1. Only
    impossible means are cut off.

    If successive trials are correlated, the interval is widened
    (`lanlab.analysis.statistics.neighbours`).

    Args:
        metric: Key of a trial's results, which determines the method.
        values: One per trial, in the metric's unit and in order of measurement.

    Returns:
        `None` for fewer than two values, or if one is not finite. Equal values give an interval of
            width zero, which does not mean that the value is exact.

    Source:
        The variance of ȳ + s²/2: D. R. Cox, in C. E. Land, "An Evaluation of Approximate Confidence
        Interval Estimation Methods for Lognormal Means", Technometrics 14, 1972; Student's t for
        few trials: U. Olsson, "Confidence intervals for the mean of a log-normal distribution",
        Journal of Statistics Education 13, 2005. Here around the arithmetic mean.

    Examples:
        >>> seen = condition_mean("goodput_bps", [60e6, 100e6, 353e6])
        >>> f"{seen.mean / 1e6:.0f} ({seen.low / 1e6:.0f} … {seen.high / 1e6:.0f})"
        '171 (10 … 3070)'
        >>> seen = condition_mean("loss_ratio", [0.0, 0.0, 0.02])
        >>> f"{seen.mean:.4f} ({seen.low:.4f} … {seen.high:.4f})"
        '0.0067 (0.0000 … 0.0354)'
    """
    if len(values) < 2 or not all(map(math.isfinite, values)):
        return None
    linear = moments("values", values)
    mean = linear.mean if linear.sd == 0 else math.fsum(values) / len(values)
    if scale_of(metric) == "log" and min(values) > 0:
        logs = moments("values", values, scale="log")
        longer = widening([math.log(value) for value in values])
        return _by_factor(mean, longer * log_error(logs.sd, logs.n), logs.n)
    half = t_half_width(linear.sd, linear.n) * widening(values)
    return _by_t(metric, mean, half, least=min(values), greatest=max(values))


def printed_condition_mean(metric: str, printed: PrintedMean) -> ConditionMean:
    """
    The mean and its interval from a published mean, standard deviation and number of trials. On the
    log scale, the trials are assumed to be lognormal.

    Examples:
        >>> seen = printed_condition_mean("goodput_bps", PrintedMean(26.5, 0.43, 40))
        >>> f"{seen.low:.2f} … {seen.high:.2f}"
        '26.36 … 26.64'
    """
    if scale_of(metric) == "log" and printed.mean > 0:
        error = log_error(printed.moments("log").sd, printed.n)
        return _by_factor(printed.mean, error, printed.n)
    half = t_half_width(printed.sd, printed.n)
    return _by_t(metric, printed.mean, half, least=printed.mean, greatest=printed.mean)


def _by_factor(mean: float, error: float, n: int) -> ConditionMean:
    factor = math.exp(min(t_quantile(n) * error, _MOST_LOG))
    return ConditionMean(mean, mean / factor, mean * factor, "log")


def cut(
    metric: str, ends: tuple[float, float], *, least: float, greatest: float
) -> tuple[float, float]:
    """
    The interval of a mean, cut at the limits of the metric.

    Args:
        metric: Key of a trial's results.
        ends: Ends of the interval, in the metric's unit.
        least, greatest: Extremes of the trials. A limit that a trial exceeds is ignored.
    """
    low, high = ends
    if least >= 0 and not _SIGNED.search(metric):
        low = max(0.0, low)
    if greatest <= 1 and _SHARES.search(metric):
        high = min(1.0, high)
    return low, high


def _by_t(metric: str, mean: float, half: float, *, least: float, greatest: float) -> ConditionMean:
    low, high = cut(metric, (mean - half, mean + half), least=least, greatest=greatest)
    # The mean of shares that are all 1 may have a rounding error.
    return ConditionMean(mean, min(low, mean), max(high, mean), "linear")
