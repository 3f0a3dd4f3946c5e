"""
How long an operation keeps the server, from what stations saw of it.

Three ways, each with what it assumes:

- alone: the response time of one station, which waits for nobody, is the sum of all demands;
- by the utilisation law: no part of the server is busy for more than all the time, so that at its
  greatest demand D throughput X keeps X D <= 1. 1 / X bounds D from above, and is D where the
  server is saturated;
- by the slope: beyond the knee each further station makes all wait for D longer, R = N D - Z.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from lanlab.analysis.stations.levels import StationCurve
from lanlab.analysis.stations.maximum import greatest_throughput
from lanlab.errors import UnfitValues, UsageError

#: Levels whose throughput comes so near the greatest are taken to be saturated.
_SATURATED = 0.95
_LEAST_LEVELS = 3


@dataclass(frozen=True)
class Demand:
    """A demand, seconds, and its 95 % interval; ends are `None` where trials are too few."""

    value_s: float
    low_s: float | None
    high_s: float | None


def demand_alone(curve: StationCurve) -> Demand | None:
    """The sum of all demands: the response time of one station; `None` if none was measured."""
    level = curve.levels[0]
    if level.stations != 1:
        return None
    seen = level.interval(of="response")
    return Demand(level.response, *((None, None) if seen is None else (seen.low, seen.high)))


def demand_from_throughput(curve: StationCurve) -> Demand:
    """The most that the greatest demand can be: the reciprocal of the greatest throughput."""
    seen = greatest_throughput(curve)
    ends = (
        (None, None) if seen.interval is None else (1 / seen.interval.high, 1 / seen.interval.low)
    )
    return Demand(1 / seen.operations_per_s, *ends)


def demand_from_utilisation(utilisation_ratio: float, operations_per_s: float) -> float:
    """
    The demand at a part of the server whose utilisation was measured, seconds: U = X D.

    Examples:
        >>> demand_from_utilisation(0.5, 200)
        0.0025
    """
    if not (utilisation_ratio >= 0 and math.isfinite(utilisation_ratio) and operations_per_s > 0):
        raise UsageError(
            f"need a utilisation from 0 and a rate above 0, got {utilisation_ratio:g} and "
            f"{operations_per_s:g}"
        )
    return utilisation_ratio / operations_per_s


def demand_from_slope(curve: StationCurve, *, confidence: float = 0.95) -> Demand:
    """
    The greatest demand by a straight line through the response times of the saturated levels.

    Those are the levels from the first on whose throughput comes within 5 % of the greatest. Least
    squares of the levels' means.

    Raises:
        UnfitValues: Fewer than 3 saturated levels.
    """
    most = greatest_throughput(curve).operations_per_s
    first = next(
        place for place, level in enumerate(curve.levels) if level.throughput >= _SATURATED * most
    )
    chosen = curve.levels[first:]
    if len(chosen) < _LEAST_LEVELS:
        raise UnfitValues(
            f"levels: need at least {_LEAST_LEVELS} at which the server is saturated, got "
            f"{len(chosen)}",
            hint="measure with more stations",
        )
    x = np.array([level.stations for level in chosen], dtype=float)
    y = np.array([level.response for level in chosen])
    centred = x - x.mean()
    squares = float(centred @ centred)
    slope = float(centred @ y) / squares
    rest = y - y.mean() - slope * centred
    df = len(chosen) - 2
    error = math.sqrt(float(rest @ rest) / df / squares)
    half = float(stdtrit(df, 0.5 + confidence / 2)) * error
    return Demand(slope, slope - half, slope + half)
