"""How far a mean over trials can be off."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from lanlab.analysis.statistics.samples import (
    Moments,
    PrintedMean,
    Scale,
    check_share,
    moments,
    sample,
    unscaled,
)
from lanlab.errors import NoSpread, UnfitValues, UsageError

#: Below this a bootstrap interval of 95 % covers less than 93 % (docs/statistics.md).
LEAST_FOR_BOOTSTRAP = 30


@dataclass(frozen=True)
class MeanInterval:
    """A mean and what it may be as well, in the values' unit."""

    #: Arithmetic; geometric on a log scale.
    mean: float
    low: float
    high: float
    #: Standard deviation of the trials on the scale: for `log`, of the natural logarithms, which is
    #: near the coefficient of variation.
    sd: float
    n: int
    scale: Scale
    confidence: float

    @property
    def has_spread(self) -> bool:
        """Whether the trials differed. If not, the interval has no width: that is what was seen,
        not a claim of exactness."""
        return self.sd > 0


def mean_interval(
    values: Sequence[float],
    *,
    scale: Scale = "linear",
    confidence: float = 0.95,
    resolution: float = 0.0,
) -> MeanInterval:
    """
    The interval of a mean by Student's t distribution.

    Right for any number of trials from 2 if they are independent and roughly normal on the scale;
    for skewed ones the log scale (`scale_of`) is better than more trials.

    Args:
        values: One for each trial, any unit, at least 2.
        scale: `log` gives the geometric mean.
        confidence: Share of such intervals that hold the true mean.
        resolution: The step in which the values were read, see `samples.moments`.

    Raises:
        UnfitValues: Fewer than 2, not finite, or not above zero on a log scale.

    Source:
        Student, "The probable error of a mean", Biometrika 6, 1908.

    Examples:
        >>> seen = mean_interval([80, 83, 80, 85, 82])
        >>> f"{seen.mean:.1f} ({seen.low:.2f} … {seen.high:.2f})"
        '82.0 (79.37 … 84.63)'
    """
    return _interval(moments("values", values, scale=scale, resolution=resolution), confidence)


def printed_interval(printed: PrintedMean, *, confidence: float = 0.95) -> MeanInterval:
    """
    The same from a printed mean, standard deviation and number of trials.

    Examples:
        >>> seen = printed_interval(PrintedMean(26.5, 0.43, 40))
        >>> f"{seen.low:.2f} … {seen.high:.2f}"
        '26.36 … 26.64'
    """
    return _interval(printed.moments(), confidence)


def bootstrap_interval(
    values: Sequence[float],
    *,
    statistic: Callable[..., Any] = np.mean,
    seed: int,
    confidence: float = 0.95,
    resamples: int = 9_999,
) -> tuple[float, float]:
    """
    The interval of a statistic that has no formula, by the bias-corrected, accelerated bootstrap.

    For a mean take `mean_interval`: few values hold no tail to draw from, so that of five the
    bootstrap's "95 %" cover 82 %.

    Args:
        values: One for each trial, any unit, at least 30.
        statistic: Takes an array and the keyword `axis`, as `numpy.median` does.
        seed: Of the draws. The same values and seed give the same interval.
        confidence: As for `mean_interval`.
        resamples: Draws, from 999.

    Returns:
        `(low, high)` in the statistic's unit.

    Raises:
        UnfitValues: Fewer than 30 values, or not finite.
        NoSpread: All values are equal, or the statistic is the same in every draw.

    Source:
        B. Efron, "Better bootstrap confidence intervals", JASA 82, 1987.
    """
    from scipy import stats

    check_share("confidence", confidence)
    if resamples < 999:
        raise UsageError(f"resamples: need at least 999, got {resamples}")
    array = sample("values", values, 1)
    if array.size < LEAST_FOR_BOOTSTRAP:
        raise UnfitValues(
            f"values: need at least {LEAST_FOR_BOOTSTRAP} for a bootstrap, got {array.size}",
            hint="take the t interval, which holds from 2 on",
        )
    if np.ptp(array) == 0:
        raise NoSpread("values: all are equal, so that every draw is", hint="run more trials")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # That there is no interval is said below.
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        found = stats.bootstrap(
            (array,),
            statistic,
            confidence_level=confidence,
            n_resamples=resamples,
            method="BCa",
            rng=np.random.default_rng(seed),
        ).confidence_interval
    low, high = float(found.low), float(found.high)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise NoSpread(
            "statistic: the same in nearly every draw, so that it has no interval",
            hint="take a statistic that all values move, such as the mean",
        )
    return low, high


def t_half_width(sd: float, n: int, confidence: float = 0.95) -> float:
    """Half the width of the t interval of a mean over `n` trials, in the unit of `sd`."""
    return t_quantile(n, confidence) * sd / math.sqrt(n)


def t_quantile(n: int, confidence: float = 0.95) -> float:
    """How many standard errors a t interval of a mean over `n` trials reaches to either side."""
    return float(stdtrit(n - 1, 0.5 + confidence / 2))


def _interval(seen: Moments, confidence: float) -> MeanInterval:
    check_share("confidence", confidence)
    half = t_half_width(seen.sd, seen.n, confidence)
    return MeanInterval(
        mean=seen.centre,
        low=unscaled(seen.mean - half, seen.scale),
        high=unscaled(seen.mean + half, seen.scale),
        sd=seen.sd,
        n=seen.n,
        scale=seen.scale,
        confidence=confidence,
    )
