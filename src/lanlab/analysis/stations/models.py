"""
Models of a server under a closed loop of stations, fitted to response times.

`queue`: an operation waits for one of `servers` equal servers, first come first served, and besides
takes some time in which it waits for no server (the way, what the server does for all at once). Its
times are random: exact mean values (`mva`). `corner`: the same with times that are always the same
and stations that keep out of each other's way, as far as they can: the asymptotes themselves. A
server lies between the two. Neither ever loses throughput with more stations.

Both are fitted by least squares to logarithms of the mean response times of the levels, so that a
level of 1 ms weighs as much as one of 100 ms.
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
#: Numbers of servers that are tried; in between no curve of a dozen levels tells them apart.
_SERVERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)
#: Each fit has these: time of an operation alone, and what share of it others wait for.
PARAMETERS = 2
_LEAST_SHARE = 1e-6
#: With this many stations beyond four times the knee no server is idle in one of 10^12 turns: those
#: that are elsewhere are distributed as Poisson has it, with a mean below the knee.
_ALWAYS_BUSY = 50

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ServerModel:
    family: Family
    #: Response time of a station alone, seconds.
    alone_s: float
    #: Share of it in which a server is busy with the operation, so that others may wait.
    busy_share: float
    servers: int
    #: Wait of the stations between operations, seconds.
    think_s: float

    @property
    def bottleneck_s(self) -> float:
        """Demand at the bottleneck: the reciprocal of the greatest throughput, seconds."""
        return self.alone_s * self.busy_share / self.servers

    @property
    def knee_stations(self) -> float:
        """Stations from which on some must wait, N*."""
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


def fit_model(
    curve: StationCurve, family: Family, responses_s: Floats | None = None
) -> ServerModel:
    """
    The model of a family that fits the mean response times of a curve best.

    Args:
        curve: At least 2 levels.
        family: Which.
        responses_s: Other means than the curve's own, as drawn ones, shape `(levels,)`.

    Raises:
        UnfitValues: Fewer levels.
    """
    if len(curve.levels) < PARAMETERS:
        raise UnfitValues(f"levels: need at least {PARAMETERS}, got {len(curve.levels)}")
    logs = np.log(curve.responses() if responses_s is None else responses_s)
    most = max(curve.stations)
    servers = [1] if family == "corner" else [n for n in _SERVERS if n <= most]
    fits = [_fitted(curve, family, number, logs) for number in servers]
    return min(fits, key=lambda fit: fit[0])[1]


def refits(curve: StationCurve, model: ServerModel, drawn_s: Floats) -> list[ServerModel]:
    """
    The model fitted to other response times, by one step of Gauss and Newton from its own fit: as
    good as a fit for means that differ by as much as trials do.

    Args:
        curve: What the model was fitted to.
        model: With the number of servers that stays.
        drawn_s: Mean response times, shape `(draws, levels)`.
    """
    numbers = curve.stations
    start = np.array([math.log(model.alone_s), model.busy_share])
    fitted = np.log(model.response_s(numbers))
    slopes = np.empty((len(numbers), PARAMETERS))
    for place in range(PARAMETERS):
        step = np.zeros(PARAMETERS)
        # Away from the bound of the share.
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
