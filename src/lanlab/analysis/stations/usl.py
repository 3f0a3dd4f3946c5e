"""
The universal scalability law: throughput limited by a serial share and a cost of coordination.

X(N) = g N / (1 + a (N - 1) + b N (N - 1)): `g` is the rate of one station, `a` the serial share,
`b` the cost of each pair of stations. With b above 0, throughput has a peak.

The curve of a saturated simple server has a corner. The law can only follow it with a wrong b, and
is then too low by half at four times the stations. So lanlab uses the law only as a lower end, and
only if throughput was measured to fall.

N. J. Gunther, "Guerrilla Capacity Planning", 2007, chapter 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanlab.analysis.stations.levels import StationCurve
from lanlab.errors import UnfitValues

_PARAMETERS = 3

Floats = NDArray[np.float64]


def throughput_by_law(curve: StationCurve, stations: int) -> float:
    """
    Operations per second at a number of stations, by the law fitted to a curve: least squares of
    relative errors, with 0 <= a <= 1 and b >= 0.

    Raises:
        UnfitValues: There are fewer than 3 levels.
    """
    from scipy.optimize import least_squares  # takes a sixth of a second to load

    if len(curve.levels) < _PARAMETERS:
        raise UnfitValues(f"levels: need at least {_PARAMETERS}, got {len(curve.levels)}")
    x = np.array(curve.stations, dtype=float)
    y = np.array([level.throughput for level in curve.levels])
    scale = float(y[0] / x[0])

    def errors(parameters: Floats) -> Floats:
        off: Floats = _law(x, parameters[0] * scale, parameters[1], parameters[2]) / y - 1
        return off

    rate, contention, crosstalk = least_squares(
        errors,
        x0=[1.0, 0.1, 0.01],
        bounds=([1e-3, 0.0, 0.0], [1e3, 1.0, np.inf]),
        x_scale=[1.0, 0.1, 0.01],
        max_nfev=500,
    ).x
    return float(_law(np.array([float(stations)]), rate * scale, contention, crosstalk)[0])


def _law(stations: Floats, rate: float, contention: float, crosstalk: float) -> Floats:
    others = stations - 1
    found: Floats = rate * stations / (1 + contention * others + crosstalk * stations * others)
    return found
