"""
Draws of the means of a curve, as its trials might have come out: a bootstrap over trials.

With three trials at a level there is too little to draw from. So what is drawn is how far trials
lie from the mean of their level, all levels together: as ratios, since what acts on times and rates
multiplies. A deviation from a mean of n trials is too small by the square root of (n - 1) / n, and
is made larger by that. A trial's throughput and response time are drawn together.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lanlab.analysis.stations.levels import StationCurve

Floats = NDArray[np.float64]


def deviations(curve: StationCurve) -> Floats:
    """
    How far each trial lies from the mean of its level.

    Returns:
        Natural logarithms of ratios, of throughput and of response time, shape `(trials, 2)`; of
        the levels with at least two trials.
    """
    found = []
    for level in curve.levels:
        if level.trials < 2:
            continue
        logs = np.log(np.column_stack((level.operations_per_s, level.response_s)))
        scale = math.sqrt(level.trials / (level.trials - 1))
        found.append((logs - logs.mean(axis=0)) * scale)
    return np.concatenate(found) if found else np.zeros((0, 2))


def drawn_means(curve: StationCurve, draws: int, seed: int) -> Floats | None:
    """
    Means of every level, drawn anew.

    Args:
        curve: With its trials.
        draws: How many, from 1.
        seed: The same curve and seed give the same draws.

    Returns:
        Natural logarithms of throughput and response time, shape `(draws, levels, 2)`; `None` if
        no level has two trials.
    """
    pool = deviations(curve)
    if not len(pool):
        return None
    rng = np.random.default_rng(seed)
    means = np.empty((draws, len(curve.levels), 2))
    for place, level in enumerate(curve.levels):
        chosen = rng.integers(len(pool), size=(draws, level.trials))
        centre = np.log([level.throughput, level.response])
        means[:, place] = centre + pool[chosen].mean(axis=1)
    return means


def noise(curve: StationCurve) -> float | None:
    """Standard deviation of a level's mean response time by its trials, as a ratio; the mean over
    the levels. `None` if no level has two trials."""
    pool = deviations(curve)
    if not len(pool):
        return None
    spread = math.sqrt(float(np.square(pool[:, 1]).mean()))
    return spread * float(np.mean([1 / math.sqrt(level.trials) for level in curve.levels]))
