"""
How much longer an interval of a mean is where trials are like the one before, as under load that
lasts over several of them.

The correlation of neighbours is not known but estimated, from as few trials as there are. So it is
taken higher than it is seen by 0.7 / sqrt(n), and what it leaves of the trials decides Student's t:
then intervals hold the mean in 93 to 97 of 100 cases, for correlations from 0 to 0.6 and 12 trials
or more (`bench/coverage.py`). With fewer trials nothing can be seen, and nothing is done.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from lanlab.analysis.statistics.intervals import t_quantile

#: With fewer trials a correlation of neighbours is hardly ever seen.
LEAST_TRIALS = 12
#: What is added to an estimate, for one trial, so that it is not too low too often.
_ADDED = 0.7
#: No more is believed: the trials would be worth less than two of them.
_MOST = 0.9


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


def widening(values: Sequence[float], confidence: float) -> float:
    """
    By what an interval of their mean, made for independent trials, is multiplied.

    Args:
        values: On the scale on which the interval is made, in the order in which they were
            measured.
        confidence: Of the interval.

    Returns:
        1 for fewer than `LEAST_TRIALS`, and where neighbours are not alike; else more.

    Source:
        The bias of the estimate: M. G. Kendall, "Note on bias in the estimation of
        autocorrelation", Biometrika 41, 1954. The variance of a mean, and what it leaves of n:
        G. V. Bayley, J. M. Hammersley, "The 'effective' number of independent observations in an
        autocorrelated time series", Journal of the Royal Statistical Society, Supplement 8, 1946.

    Examples:
        >>> widening([1, 2, 1, 2] * 5, 0.95)
        1.0
        >>> round(widening([1, 2, 2, 1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 1], 0.95), 2)
        1.69
    """
    n = len(values)
    seen = lag_one(values) if n >= LEAST_TRIALS else None
    if seen is None or seen <= 0:
        return 1.0
    likely = (seen + 1 / n) / (1 - 3 / n) + _ADDED / math.sqrt(n)
    correlation = min(likely, _MOST)
    inflation = 1 + 2 * math.fsum((1 - k / n) * correlation**k for k in range(1, n))
    errors = math.sqrt(inflation * (n - 1) / (n - inflation))
    worth = max(2.0, n / inflation)
    return errors * t_quantile(worth, confidence) / t_quantile(n, confidence)
