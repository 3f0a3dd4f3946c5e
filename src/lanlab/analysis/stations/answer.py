"""The number of stations at which the response time exceeds a limit."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lanlab.analysis.stations.levels import StationCurve
from lanlab.analysis.stations.resampling import drawn_means
from lanlab.errors import UsageError
from lanlab.frozen import dataclass

_DRAWS = 1_000

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class StationsWithin:
    limit_s: float
    #: `None`: unknown, see `basis`.
    stations: int | None
    #: 95 % interval; `high` is `None` if there is no upper end.
    low: int | None
    high: int | None
    #: `measured`: interpolated linearly between two levels. `fewest`: even the lowest measured
    #: number of stations, which is above one, exceeds the limit. `beyond`: all measured levels are
    #: within the limit.
    basis: Literal["measured", "fewest", "beyond"]
    #: The last measured level within the limit, and the first beyond it; `None` if missing.
    last_within: int | None
    first_beyond: int | None


def stations_within(curve: StationCurve, limit_s: float) -> StationsWithin:
    """
    The largest number of stations whose response time is within the limit.

    Isotonic regression first makes the measured response times rise with the stations: a fall is
    random variation or a change in the workload.

    Args:
        curve: Curve of the response time that the limit applies to.
        limit_s: Seconds, above 0.

    Raises:
        UsageError: The limit is not above 0.
    """
    if not (math.isfinite(limit_s) and limit_s > 0):
        raise UsageError(f"limit_s: need a number above 0, got {limit_s:g}")
    logs = np.log(curve.responses())
    found = _crossing(curve, logs, limit_s)
    risen = _rising(curve, logs)
    within = [n for n, log in zip(curve.stations, risen, strict=True) if log <= math.log(limit_s)]
    beyond = [n for n in curve.stations if n not in within]
    last = within[-1] if within else None
    first = beyond[0] if beyond else None
    if found is None:
        most = max(curve.stations)
        return StationsWithin(limit_s, None, most, None, "beyond", most, None)
    draws = drawn_means(curve, _DRAWS)
    low: int | None = None
    high: int | None = None
    if draws is not None:
        crossings = [_crossing(curve, each[:, 1], limit_s) for each in draws]
        ends = np.quantile(
            [math.inf if one is None else one for one in crossings], (0.025, 0.975), method="lower"
        )
        low = math.floor(ends[0])
        # A draw that never exceeds the limit gives no upper end.
        high = None if math.isinf(ends[1]) else math.floor(ends[1])
    if last is None and curve.stations[0] > 1:
        return StationsWithin(limit_s, None, low, high, "fewest", None, first)
    return StationsWithin(limit_s, math.floor(found), low, high, "measured", last, first)


def _crossing(curve: StationCurve, logs: Floats, limit_s: float) -> float | None:
    """The number of stations at which the response time exceeds the limit; 0 if it does at the
    first level, `None` if it never does.
    """
    responses = np.exp(_rising(curve, logs))
    for place, (number, response) in enumerate(zip(curve.stations, responses, strict=True)):
        if response <= limit_s:
            continue
        if place == 0:
            return 0.0
        before, ago = float(responses[place - 1]), curve.stations[place - 1]
        # Round a value just below a whole number up to it.
        return ago + (number - ago) * (limit_s - before) / (float(response) - before) + 1e-9
    return None


def _rising(curve: StationCurve, logs: Floats) -> Floats:
    if logs.size < 2:
        return logs
    from scipy.optimize import isotonic_regression  # takes a sixth of a second to load

    weights = np.array([float(level.trials) for level in curve.levels])
    return np.asarray(isotonic_regression(logs, weights=weights).x)
