"""
Models of a server under a closed loop of stations, fitted to response times.

`queue`: an operation waits for one of `servers` equal servers, first come first served, and
additionally takes some time without a server (the network, work done in parallel). Times are
random, and mean values exact (`mva`). `corner`: the same with constant times, and stations that
avoid each other as far as possible: the asymptotic bounds. A real server lies between the two. In
neither model does throughput fall with more stations.

Both are fitted by least squares to the logarithms of the levels' mean response times, so that a
level of 1 ms has the same weight as one of 100 ms.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lanlab.analysis.stations.levels import StationCurve
from lanlab.errors import UnfitValues
from lanlab.frozen import dataclass

Family = Literal["queue", "corner"]
#: Numbers of servers to try; a curve of a dozen levels cannot distinguish values in between.
_SERVERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)
#: Fitted parameters: the time of an operation alone, and the share for which others wait.
PARAMETERS = 2
_LEAST_SHARE = 1e-6
#: With this many stations beyond four times the knee, a server is idle with a probability of at
#: most 10^-12. The number of stations that are not at the servers is then Poisson distributed,
#: with a mean below the knee.
_ALWAYS_BUSY = 50

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ServerModel:
    family: Family
    #: Response time of a single station, seconds.
    alone_s: float
    #: Share of it in which a server is busy, so that others may wait.
    busy_share: float
    servers: int
    #: Pause of the stations between operations, seconds.
    think_s: float

    @property
    def bottleneck_s(self) -> float:
        """Demand at the bottleneck: the reciprocal of the greatest throughput, seconds."""
        return self.alone_s * self.busy_share / self.servers

    @property
    def knee_stations(self) -> float:
        """Number of stations above which some must wait, N*."""
        return (self.alone_s + self.think_s) / self.bottleneck_s

    def response_s(self, stations: Sequence[int]) -> Floats:
        """Mean response times at these numbers of stations, seconds."""
        return np.array([self._response_s(number) for number in stations])

    def _response_s(self, stations: int) -> float:
        if self.family == "corner":
            return max(self.alone_s, stations * self.bottleneck_s - self.think_s)
        if stations > 4 * self.knee_stations + self.servers + _ALWAYS_BUSY:
            return stations * self.bottleneck_s - self.think_s
        service_s = self.alone_s * self.busy_share
        apart_s = self.alone_s - service_s + self.think_s
        rate = math.exp(
            _log_sum(stations - 1, service_s, self.servers, apart_s)
            - _log_sum(stations, service_s, self.servers, apart_s)
        )
        return stations / rate - self.think_s


def fit_model(curve: StationCurve, family: Family) -> ServerModel:
    """
    The model of a family that fits the mean response times of a curve best.

    Raises:
        UnfitValues: The curve has fewer than 2 levels.
    """
    if len(curve.levels) < PARAMETERS:
        raise UnfitValues(f"levels: need at least {PARAMETERS}, got {len(curve.levels)}")
    logs = np.log(curve.responses())
    most = max(curve.stations)
    servers = [1] if family == "corner" else [n for n in _SERVERS if n <= most]
    fits = [_fitted(curve, family, number, logs) for number in servers]
    return min(fits, key=lambda fit: fit[0])[1]


def refits(curve: StationCurve, model: ServerModel, drawn_s: Floats) -> list[ServerModel]:
    """
    The model fitted to other response times by one Gauss-Newton step from its own fit. This is as
    good as a full fit if the means differ only as much as trials do.

    Args:
        curve: The curve that the model was fitted to.
        model: Its number of servers is kept.
        drawn_s: Mean response times, shape `(draws, levels)`.
    """
    numbers = curve.stations
    start = np.array([math.log(model.alone_s), model.busy_share])
    fitted = np.log(model.response_s(numbers))
    slopes = np.empty((len(numbers), PARAMETERS))
    for place in range(PARAMETERS):
        step = np.zeros(PARAMETERS)
        # Step away from the bounds of the share.
        step[place] = -1e-4 if place == 1 and model.busy_share > 0.5 else 1e-4
        moved = np.log(_model_at(start + step, model).response_s(numbers))
        slopes[:, place] = (moved - fitted) / step[place]
    own = np.log(curve.responses())
    steps = (np.log(drawn_s) - own) @ np.linalg.pinv(slopes).T
    return [_model_at(start + step, model) for step in steps]


def _model_at(parameters: Floats, like: ServerModel) -> ServerModel:
    share = min(max(float(parameters[1]), _LEAST_SHARE), 1.0)
    return replace(like, alone_s=math.exp(parameters[0]), busy_share=share)


def residuals(curve: StationCurve, model: ServerModel) -> Floats:
    found: Floats = np.log(curve.responses()) - np.log(model.response_s(curve.stations))
    return found


def _fitted(
    curve: StationCurve, family: Family, servers: int, logs: Floats
) -> tuple[float, ServerModel]:
    from scipy.optimize import least_squares  # takes a sixth of a second to load

    numbers = curve.stations
    alone_s = math.exp(logs.min())
    slowest_s = (math.exp(logs[-1]) + curve.think_s) / numbers[-1]
    share = min(max(slowest_s * servers / alone_s, 0.01), 0.99)
    start = ServerModel(family, alone_s, share, servers, curve.think_s)

    def errors(parameters: Floats) -> Floats:
        off: Floats = logs - np.log(_model_at(parameters, start).response_s(numbers))
        return off

    found = least_squares(
        errors,
        x0=[math.log(alone_s), share],
        bounds=([-np.inf, _LEAST_SHARE], [np.inf, 1.0]),
        x_scale=[0.1, 0.1],
        max_nfev=60,
    )
    return 2 * float(found.cost), _model_at(found.x, start)


@functools.lru_cache(maxsize=4096)
def _log_ways(stations: int, servers: int) -> Floats:
    from scipy.special import gammaln  # takes a tenth of a second to load

    at_servers = np.arange(stations + 1)
    full = np.minimum(at_servers, servers)
    found: Floats = -gammaln(full + 1) - (at_servers - full) * math.log(servers)
    return found - gammaln(stations - at_servers + 1)


def _log_sum(stations: int, service_s: float, servers: int, apart_s: float) -> float:
    ways = _log_ways(stations, servers)
    if apart_s <= 0:
        return float(ways[-1]) + stations * math.log(service_s)
    logs = ways + np.arange(stations + 1) * math.log(service_s / apart_s)
    most = float(logs.max())
    return stations * math.log(apart_s) + most + math.log(float(np.exp(logs - most).sum()))
