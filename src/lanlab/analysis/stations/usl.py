"""
The universal scalability law: throughput with a share that waits and a cost of keeping in step.

X(N) = g N / (1 + a (N - 1) + b N (N - 1)): `g` is the rate of one station, `a` the share that goes
one after another, `b` what each pair of stations costs. With b above 0 throughput has a peak at
sqrt((1 - a) / b).

It describes, and it may mislead. A plain server that is saturated has a corner in its curve, which
the law can only follow by a b that is not there: fitted to such curves it errs by up to 14 %
between the levels and by half at four times the stations. So `doubts` says where b is such an
imitation, and no prediction rests on this law alone.

N. J. Gunther, "Guerrilla Capacity Planning", 2007, chapter 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from lanlab.analysis.stations.levels import StationCurve
from lanlab.analysis.stations.maximum import greatest_throughput
from lanlab.errors import UnfitValues

#: Fewer levels leave too little beside three parameters.
LEVELS_WANTED = 6
_PARAMETERS = 3
#: A peak that far beyond the measured changes nothing that anyone would read off the law.
_FAR = 10

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A fitted number and its interval; ends are `None` where too few levels are left for one."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ScalabilityLaw:
    """A fit of the law."""

    #: Operations per second of one station.
    rate_per_s: Estimate
    #: a, 0 to 1, and b, from 0.
    contention: Estimate
    crosstalk: Estimate
    #: Measured over fitted throughput less 1, a level each.
    residual_ratios: tuple[float, ...]
    #: What speaks against trusting the fit, each a sentence; none if nothing does.
    doubts: tuple[str, ...]

    @property
    def peak_stations(self) -> float | None:
        """Where the law has its peak; `None` if it has none."""
        if self.crosstalk.value <= 0:
            return None
        return math.sqrt(max(0.0, 1 - self.contention.value) / self.crosstalk.value)

    def throughput_per_s(self, stations: Sequence[int]) -> Floats:
        """Operations per second that the law gives at these numbers of stations."""
        values = (self.rate_per_s.value, self.contention.value, self.crosstalk.value)
        return law(np.asarray(stations, dtype=float), *values)


def law(stations: Floats, rate: float, contention: float, crosstalk: float) -> Floats:
    """The law itself."""
    others = stations - 1
    found: Floats = rate * stations / (1 + contention * others + crosstalk * stations * others)
    return found


def fit_law(
    curve: StationCurve, throughputs: Floats | None = None, *, confidence: float = 0.95
) -> ScalabilityLaw:
    """
    Fit the law by least squares of relative errors, with 0 <= a <= 1 and b >= 0.

    Args:
        curve: At least 3 levels.
        throughputs: Other means than the curve's own, as drawn ones, shape `(levels,)`.
        confidence: Of the intervals: by the fit's curvature and Student's t, cut off at the bounds.

    Raises:
        UnfitValues: Fewer levels.
    """
    from scipy.optimize import least_squares  # takes a sixth of a second to load

    if len(curve.levels) < _PARAMETERS:
        raise UnfitValues(f"levels: need at least {_PARAMETERS}, got {len(curve.levels)}")
    x = np.array(curve.stations, dtype=float)
    y = np.array(curve.throughputs() if throughputs is None else throughputs)
    scale = float(y[0] / x[0])

    def errors(parameters: Floats) -> Floats:
        off: Floats = law(x, parameters[0] * scale, parameters[1], parameters[2]) / y - 1
        return off

    found = least_squares(
        errors,
        x0=[1.0, 0.1, 0.01],
        bounds=([1e-3, 0.0, 0.0], [1e3, 1.0, np.inf]),
        x_scale=[1.0, 0.1, 0.01],
        max_nfev=500,
    )
    values = found.x * [scale, 1, 1]
    halves = _half_widths(np.asarray(found.jac), 2 * found.cost, len(y), confidence)
    floors, tops = (0.0, 0.0, 0.0), (math.inf, 1.0, math.inf)
    rate, contention, crosstalk = (
        Estimate(
            float(value),
            None if half is None else max(floor, float(value - half * unit)),
            None if half is None else min(top, float(value + half * unit)),
        )
        for value, half, unit, floor, top in zip(
            values, halves, (scale, 1, 1), floors, tops, strict=True
        )
    )
    fit = law(x, *values)
    return ScalabilityLaw(
        rate,
        contention,
        crosstalk,
        tuple(float(one) for one in y / fit - 1),
        tuple(_doubts(curve, contention.value, crosstalk.value)) if throughputs is None else (),
    )


def _half_widths(
    jacobian: Floats, squares: float, count: int, confidence: float
) -> Sequence[float | None]:
    left = count - _PARAMETERS
    if left < 1:
        return [None] * _PARAMETERS
    # A parameter at its bound has no slope there: least squares' own inverse would not exist.
    covariance = np.linalg.pinv(jacobian.T @ jacobian) * squares / left
    t = float(stdtrit(left, 0.5 + confidence / 2))
    return [t * math.sqrt(max(0.0, float(one))) for one in np.diag(covariance)]


def _doubts(curve: StationCurve, contention: float, crosstalk: float) -> list[str]:
    found = []
    if len(curve.levels) < LEVELS_WANTED:
        found.append(
            f"fitted to {len(curve.levels)} numbers of stations, where it takes {LEVELS_WANTED}"
        )
    if greatest_throughput(curve).declines or crosstalk <= 0:
        return found
    peak = math.sqrt(max(0.0, 1 - contention) / crosstalk)
    if peak < _FAR * max(curve.stations):
        found.append(
            f"it has throughput fall beyond {peak:.3g} stations, which nothing measured shows: "
            "b imitates the corner of a saturated server, and what it says of more stations is too "
            "low"
        )
    return found
