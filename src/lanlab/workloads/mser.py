"""
Where to cut a series off at its ends so that the mean of the rest is surest: MSER.

What is left has the least marginal standard error, its variance over its number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def best_cuts(
    values: NDArray[np.float64], most_first: int, most_last: int, *, least: int = 1
) -> tuple[int, int]:
    """
    Values to cut off at the start and at the end; of equal cuts the shortest.

    Args:
        values: In the order of time, at equal steps, any unit; of MSER-5, means of five values.
        most_first, most_last: No more are cut off there.
        least: Fewest values to leave; what `most_first` and `most_last` leave may be fewer.

    Source:
        K. P. White, "An effective truncation heuristic for bias reduction in simulation output",
        Simulation 69, 1997; K. P. White, M. J. Cobb, S. C. Spratt, "A comparison of five
        steady-state truncation heuristics", Winter Simulation Conference 2000.

    Examples:
        >>> best_cuts(np.array([0.0, 0.0, 9.0, 10.0, 11.0, 10.0, 10.0, 9.0]), 4, 0)
        (2, 0)
    """
    centred = values - values.mean()
    sums = np.concatenate(([0.0], np.cumsum(centred)))
    squares = np.concatenate(([0.0], np.cumsum(centred**2)))
    first = np.arange(most_first + 1)[:, None]
    last = np.arange(most_last + 1)[None, :]
    stop = values.size - last
    count = np.maximum(stop - first, 1)
    left = squares[stop] - squares[first] - (sums[stop] - sums[first]) ** 2 / count
    # Differences of the sums above leave bits where nothing is left.
    left = np.where(left <= 1e-12 * squares[-1], 0.0, left)
    error = np.where(stop - first < least, np.inf, left / count.astype(float) ** 2)
    at = int(error.argmin())
    return at // (most_last + 1), at % (most_last + 1)
