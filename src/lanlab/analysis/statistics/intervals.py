"""The interval of a mean over trials."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.special import stdtrit

from lanlab.analysis.statistics.samples import CONFIDENCE, Scale, moments, unscaled
from lanlab.frozen import dataclass


@dataclass(frozen=True)
class MeanInterval:
    """A mean and its interval, in the values' unit."""

    mean: float
    low: float
    high: float
    #: Standard deviation of the trials on the scale. For `log`: of the natural logarithms, which is
    #: close to the coefficient of variation.
    sd: float

    @property
    def has_spread(self) -> bool:
        """Whether the trials differed. If not, the interval has width zero, which does not mean
        that the value is exact.
        """
        return self.sd > 0


def mean_interval(values: Sequence[float], *, scale: Scale = "linear") -> MeanInterval:
    """
    The interval of a mean by Student's t distribution.

    Correct for 2 or more trials if they are independent and roughly normal on the scale. For skewed
    values, the log scale (`scale_of`) helps more than further trials.

    Args:
        values: One per trial, any unit, at least 2.
        scale: `log` gives the geometric mean.

    Raises:
        UnfitValues: Fewer than 2, not finite, or not above zero on a log scale.

    Source:
        Student, "The probable error of a mean", Biometrika 6, 1908.

    Examples:
        >>> seen = mean_interval([80, 83, 80, 85, 82])
        >>> f"{seen.mean:.1f} ({seen.low:.2f} … {seen.high:.2f})"
        '82.0 (79.37 … 84.63)'
    """
    seen = moments("values", values, scale=scale)
    half = t_half_width(seen.sd, seen.n)
    return MeanInterval(
        mean=seen.centre,
        low=unscaled(seen.mean - half, seen.scale),
        high=unscaled(seen.mean + half, seen.scale),
        sd=seen.sd,
    )


def t_half_width(sd: float, n: int) -> float:
    """Half the width of the t interval of a mean over `n` trials, in the unit of `sd`."""
    return t_quantile(n) * sd / math.sqrt(n)


def t_quantile(n: float) -> float:
    """Half width of the t interval of a mean over `n` trials, in standard errors. For correlated
    trials, `n` is the equivalent number of independent ones.
    """
    return float(stdtrit(n - 1, 0.5 + CONFIDENCE / 2))
