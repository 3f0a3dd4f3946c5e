"""
Widens the interval of a mean if successive trials are correlated, as under lasting load.

The correlation must be estimated from few trials. The estimate is increased by 1.15 / sqrt(n); the
mean and the spread of trials with that correlation determine the width. These intervals contain the
mean in 93 to 97 of 100 cases for correlations from 0 to 0.6 and 12 trials or more, and in at least
89 with 8 (`bench/alike_trials.py`). With fewer than 8 trials nothing is done, and the interval
states that it assumes independence.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from lanlab.analysis.statistics.intervals import t_quantile

#: With fewer trials, a correlation of successive trials is hardly ever detectable.
LEAST_TRIALS = 8
#: Upper limit of the correlation: the interval is then about four times as long.
_MOST = 0.8


#: Increase of the estimated correlation for n = 1: for a mean, and for the capacity of a search.
#: Found by simulation.
OF_MEAN = 1.15
#: For each of two compared groups, because both are rarely underestimated at the same time.
OF_TWO = 0.3


class Dependence(NamedTuple):
    """The effect of a correlation of successive trials on their mean and spread."""

    errors: float
    degrees: float


def lag_one(values: Sequence[float]) -> float | None:
    """
    Measured correlation of each value with the next, -1 to 1; `None` if all values are equal.

    Args:
        values: In order of measurement, at least 2.

    Examples:
        >>> lag_one([1, 1, 1, 2, 2, 2])
        0.5
    """
    mean = math.fsum(values) / len(values)
    off = [value - mean for value in values]
    spread = math.fsum(one**2 for one in off)
    if spread <= 1e-24 * max(1.0, mean**2) * len(values):
        return None
    return math.fsum(a * b for a, b in itertools.pairwise(off)) / spread


def dependence(values: Sequence[float], added: float = OF_MEAN) -> Dependence:
    """
    The effect for these trials, by their measured correlation.

    Args:
        values: On the scale of the comparison, in order of measurement.
        added: `OF_MEAN` or `OF_TWO`.

    Source:
        The bias of the estimate: M. G. Kendall, "Note on bias in the estimation of
        autocorrelation", Biometrika 41, 1954. The variance of a mean: G. V. Bayley, J. M.
        Hammersley, "The 'effective' number of independent observations in an autocorrelated time
        series", Journal of the Royal Statistical Society, Supplement 8, 1946. The degrees of
        freedom of a sum of squares: G. E. P. Box, "Some theorems on quadratic forms", Annals of
        Mathematical Statistics 25, 1954.
    """
    n = len(values)
    seen = lag_one(values) if n >= LEAST_TRIALS else None
    if seen is None or seen <= 0:
        return Dependence(1.0, n - 1.0)
    likely = (seen + 1 / n) / (1 - 3 / n) + added / math.sqrt(n)
    return of_correlation(n, min(likely, _MOST))


def of_correlation(n: int, correlation: float) -> Dependence:
    """The effect for `n` trials, at least 2. Successive trials have a correlation from 0 to below
    1, trials `k` apart its `k`-th power.
    """
    # Row sums of the correlation matrix, and the sum of the squares of its elements.
    whole, alike = 1 + correlation, 0
    # Rows far from both ends have the same sum: what they lack is less than can be added.
    reach = next((k for k in range(1, n // 4) if whole - correlation**k == whole), 0)
    if reach:
        near = [(whole - correlation**k) / (1 - correlation) for k in range(1, reach)]
        rows, alike = near + near, n - 2 * len(near)
    else:
        rows = [
            (whole - correlation ** (place + 1) - correlation ** (n - place)) / (1 - correlation)
            for place in range(n)
        ]
    far = whole / (1 - correlation)
    powers = itertools.takewhile(bool, (correlation ** (2 * k) for k in range(1, n)))
    squares = n + 2 * math.fsum((n - k) * power for k, power in enumerate(powers, 1))
    inflation = math.fsum([*rows, *_times(far, alike)]) / n
    left = n - inflation
    squared = math.fsum([*(row**2 for row in rows), *_times(far**2, alike)])
    around = squares - 2 * squared / n + inflation**2
    return Dependence(math.sqrt(inflation * (n - 1) / left), max(1.0, left**2 / around))


def _times(value: float, count: int) -> tuple[float, float]:
    """Two numbers whose sum is exactly the product."""
    product = value * count
    return product, float(Fraction(value) * count - Fraction(product))


def widening(values: Sequence[float]) -> float:
    """
    Factor that widens the interval of a mean that assumes independence.

    Args:
        values: As for `dependence`.

    Returns:
        1 if the values count as independent, otherwise more.

    Examples:
        >>> widening([1, 2, 1, 2] * 5)
        1.0
        >>> round(widening([1, 2, 2, 1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 1]), 2)
        1.83
    """
    found = dependence(values)
    if found.errors == 1.0:
        return 1.0
    wider = t_quantile(found.degrees + 1) / t_quantile(len(values))
    return found.errors * wider
