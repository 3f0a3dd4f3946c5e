"""
How much longer an interval of a mean is where trials are like the one before, as under load that
lasts over several of them.

The correlation of neighbours is not known but estimated, from as few trials as there are. So it is
taken higher than it is seen by 1.15 / sqrt(n), and the mean and the spread of trials with that
correlation decide how long the interval is. Then intervals hold the mean in 93 to 97 of 100 cases,
for correlations from 0 to 0.6 and 12 trials or more, with 8 in 89 or more
(`bench/alike_trials.py`). With fewer trials of a condition little can be seen, and nothing is done:
the interval says that it takes them as independent.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from lanlab.analysis.statistics.intervals import t_quantile

#: With fewer trials a correlation of neighbours is hardly ever seen.
LEAST_TRIALS = 8
#: No more is taken: an interval is then about four times as long.
_MOST = 0.8


#: By how much more, for one trial, a correlation is taken than it is seen: of a mean, and of the
#: capacity of a search; found by simulation.
OF_MEAN = 1.15
#: Of each of two groups that are compared: both are seldom taken too low together.
OF_TWO = 0.3


class Dependence(NamedTuple):
    """What a correlation of neighbours does to the mean and the spread of trials."""

    errors: float
    degrees: float


def lag_one(values: Sequence[float]) -> float | None:
    """
    Correlation of each value with the next, -1 to 1, as seen; `None` where no value differs.

    Args:
        values: In the order in which they were measured, at least 2.

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
    The same of these trials, by the correlation that is seen.

    Args:
        values: On the scale on which they are compared, in the order in which they were measured.
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
    """Of `n` trials, at least 2, each of which is like the one before by a correlation from 0
    to below 1: of `k` places further by its power `k`."""
    # Sums of the rows of the matrix of correlations, and of the squares of all that is in it.
    rows = [
        (1 + correlation - correlation ** (place + 1) - correlation ** (n - place))
        / (1 - correlation)
        for place in range(n)
    ]
    squares = n + 2 * math.fsum((n - k) * correlation ** (2 * k) for k in range(1, n))
    inflation = math.fsum(rows) / n
    left = n - inflation
    around = squares - 2 * math.fsum(row**2 for row in rows) / n + inflation**2
    return Dependence(math.sqrt(inflation * (n - 1) / left), max(1.0, left**2 / around))


def widening(values: Sequence[float], confidence: float) -> float:
    """
    By what an interval of their mean, made for independent trials, is multiplied.

    Args:
        values: As of `dependence`.
        confidence: Of the interval.

    Returns:
        1 where they are taken as independent; else more.

    Examples:
        >>> widening([1, 2, 1, 2] * 5, 0.95)
        1.0
        >>> round(widening([1, 2, 2, 1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 1], 0.95), 2)
        1.83
    """
    found = dependence(values)
    if found.errors == 1.0:
        return 1.0
    wider = t_quantile(found.degrees + 1, confidence) / t_quantile(len(values), confidence)
    return found.errors * wider
