"""
Resamples the means of a curve by a bootstrap over trials.

Three trials per level are too few to draw from. So deviations of trials from the mean of their
level are drawn from all levels together, as ratios, because effects on times and rates multiply.
Deviations from a mean of n trials are too small by a factor of sqrt((n - 1) / n), and are corrected
for that. A trial's throughput and response time are drawn together.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lanlab.analysis.stations.levels import StationCurve

Floats = NDArray[np.float64]


def deviations(curve: StationCurve) -> Floats:
    """
    Deviations of trials from the means of their levels.

    Returns:
        Natural logarithms of ratios of throughput and response time, shape `(trials, 2)`, for
            levels with at least two trials.
    """
    found = []
    for level in curve.levels:
        if level.trials < 2:
            continue
        logs = np.log(np.column_stack((level.operations_per_s, level.response_s)))
        scale = math.sqrt(level.trials / (level.trials - 1))
        found.append((logs - logs.mean(axis=0)) * scale)
    return np.concatenate(found) if found else np.zeros((0, 2))


def drawn_means(curve: StationCurve, draws: int) -> Floats | None:
    """
    Resampled means of every level.

    Args:
        curve: With its trials.
        draws: Number of draws, from 1.

    Returns:
        Natural logarithms of throughput and response time, shape `(draws, levels, 2)`; `None` if
        no level has two trials.
    """
    pool = deviations(curve)
    if not len(pool):
        return None
    # The same curve gives the same draws.
    rng = np.random.default_rng(1)
    means = np.empty((draws, len(curve.levels), 2))
    for place, level in enumerate(curve.levels):
        chosen = rng.integers(len(pool), size=(draws, level.trials))
        centre = np.log([level.throughput, level.response])
        means[:, place] = centre + pool[chosen].mean(axis=1)
    return means
