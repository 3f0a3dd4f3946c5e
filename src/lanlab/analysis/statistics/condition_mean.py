"""
The mean of a condition and its interval: the one that every table, figure and comparison has.

The mean is arithmetic for every metric: bytes over time of all trials, or the time of all over
their number, as a reader who adds up the trials finds it. How its interval is made follows from
what the metric is (`scale_of`) and never from the values, but for one: 0 has no logarithm.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from lanlab.analysis.statistics.intervals import t_half_width, t_quantile
from lanlab.analysis.statistics.neighbours import widening
from lanlab.analysis.statistics.samples import (
    PrintedMean,
    Scale,
    check_share,
    moments,
    scale_of,
)
from lanlab.frozen import dataclass
from lanlab.workloads.scales import log_error

#: Metrics that can be below zero: differences of two clocks.
_SIGNED = re.compile(r"^one_way_delay_|^clock_offset_")
#: Ratios that are shares of a whole, as others are not: no mean of them is above 1.
_SHARES = re.compile(
    r"_share_ratio$|^(jain_index|(received|loss|blocked|error|stall|steady)_ratio)$"
)
#: Largest factor by which an interval reaches from the mean, as a power of e.
_MOST_LOG = 300.0


@dataclass(frozen=True)
class ConditionMean:
    """A mean over trials and what it may be as well, in the metric's unit."""

    mean: float
    low: float
    high: float
    #: `log`: the ends are the mean divided and multiplied by one factor. `linear`: Student's t,
    #: cut where the metric ends.
    scale: Scale


def condition_mean(
    metric: str,
    values: Sequence[float],
    *,
    confidence: float = 0.95,
    resolution: float = 0.0,
) -> ConditionMean | None:
    """
    The arithmetic mean of a condition's trials, and its interval.

    Of rates and times the interval is made on the log scale, for trials that are about lognormal:
    with s the standard deviation of the n logarithms, the mean is divided and multiplied by
    exp(t √(s²/n + s⁴/(2(n-1)))). The second part is what an arithmetic mean has beyond a geometric
    one. It is never below zero, holds the mean, and below a coefficient of variation of 10 % is
    nearly Student's. If a trial is 0, as nothing arrived, there is no logarithm of it: then, as of
    shares, counts and all other metrics, it is Student's t interval, cut at 0 (of differences of
    clocks it is not) and, of shares, at 1. What is cut away is nothing that the mean could be.

    Where trials are like the one before, the interval is made longer
    (`lanlab.analysis.statistics.neighbours`).

    Args:
        metric: Key of a trial's results; it decides how.
        values: One for each trial, in the metric's unit, in the order in which they were measured.
        confidence: Share of such intervals that hold the true mean.
        resolution: The step in which the values were read, see `samples.moments`.

    Returns:
        `None` for fewer than two values, or where one is not finite. Values without any spread give
        an interval of no width: that is what was seen, not a claim of exactness.

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
    check_share("confidence", confidence)
    if len(values) < 2 or not all(map(math.isfinite, values)):
        return None
    linear = moments("values", values, resolution=resolution)
    mean = linear.mean if linear.sd == 0 else math.fsum(values) / len(values)
    if scale_of(metric) == "log" and min(values) > 0:
        logs = moments("values", values, scale="log", resolution=resolution)
        longer = widening([math.log(value) for value in values], confidence)
        return _by_factor(mean, longer * log_error(logs.sd, logs.n), logs.n, confidence)
    half = t_half_width(linear.sd, linear.n, confidence) * widening(values, confidence)
    return _by_t(metric, mean, half, least=min(values), greatest=max(values))


def printed_condition_mean(
    metric: str, printed: PrintedMean, *, confidence: float = 0.95
) -> ConditionMean:
    """
    The same of a printed mean, standard deviation and number of trials; on the log scale the trials
    are taken as lognormal.

    Examples:
        >>> seen = printed_condition_mean("goodput_bps", PrintedMean(26.5, 0.43, 40))
        >>> f"{seen.low:.2f} … {seen.high:.2f}"
        '26.36 … 26.64'
    """
    check_share("confidence", confidence)
    if scale_of(metric) == "log" and printed.mean > 0:
        error = log_error(printed.moments("log").sd, printed.n)
        return _by_factor(printed.mean, error, printed.n, confidence)
    half = t_half_width(printed.sd, printed.n, confidence)
    return _by_t(metric, printed.mean, half, least=printed.mean, greatest=printed.mean)


def _by_factor(mean: float, error: float, n: int, confidence: float) -> ConditionMean:
    factor = math.exp(min(t_quantile(n, confidence) * error, _MOST_LOG))
    return ConditionMean(mean, mean / factor, mean * factor, "log")


def cut(
    metric: str, ends: tuple[float, float], *, least: float, greatest: float
) -> tuple[float, float]:
    """
    An interval of a mean without what lies where no mean of the metric can.

    Args:
        metric: Key of a trial's results.
        ends: Ends of the interval, in the metric's unit.
        least, greatest: Extremes of the trials. One beyond an end shows that the metric has no such
            end.
    """
    low, high = ends
    if least >= 0 and not _SIGNED.search(metric):
        low = max(0.0, low)
    if greatest <= 1 and _SHARES.search(metric):
        high = min(1.0, high)
    return low, high


def _by_t(metric: str, mean: float, half: float, *, least: float, greatest: float) -> ConditionMean:
    low, high = cut(metric, (mean - half, mean + half), least=least, greatest=greatest)
    # A mean of shares of 1 may be off by its last bit.
    return ConditionMean(mean, min(low, mean), max(high, mean), "linear")
