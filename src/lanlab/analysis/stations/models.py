"""
A model of a server under a closed loop of stations, fitted to response times.

An operation waits for one of `servers` equal servers, first come first served, and additionally
takes some time without a server (the network, work done in parallel). Times are random, and mean
values exact (`mva`). Throughput never falls with more stations.

It is fitted by least squares to the logarithms of the levels' mean response times, so that a level
of 1 ms has the same weight as one of 100 ms.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lanlab.analysis.stations.levels import StationCurve
from lanlab.errors import UnfitValues
from lanlab.frozen import dataclass

#: Numbers of servers to try; a curve of a dozen levels cannot distinguish values in between.
_SERVERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)
#: Fitted parameters: the time of an operation alone, and the share for which others wait.
_PARAMETERS = 2
_LEAST_SHARE = 1e-6
#: With this many stations beyond four times the knee, a server is idle with a probability of at
#: most 10^-12. The number of stations that are not at the servers is then Poisson distributed,
#: with a mean below the knee.
_ALWAYS_BUSY = 50

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ServerModel:
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
        if stations > 4 * self.knee_stations + self.servers + _ALWAYS_BUSY:
            return stations * self.bottleneck_s - self.think_s
        service_s = self.alone_s * self.busy_share
        apart_s = self.alone_s - service_s + self.think_s
        rate = math.exp(
            _log_sum(stations - 1, service_s, self.servers, apart_s)
            - _log_sum(stations, service_s, self.servers, apart_s)
        )
        return stations / rate - self.think_s


def fit_model(curve: StationCurve) -> ServerModel:
    """
    The queue that fits the mean response times of a curve best.

    Raises:
        UnfitValues: The curve has fewer than 2 levels.
    """
    if len(curve.levels) < _PARAMETERS:
        raise UnfitValues(f"levels: need at least {_PARAMETERS}, got {len(curve.levels)}")
    logs = np.log(curve.responses())
    most = max(curve.stations)
    fits = [_fitted(curve, number, logs) for number in _SERVERS if number <= most]
    return min(fits, key=lambda fit: fit[0])[1]


def _model_at(parameters: Floats, like: ServerModel) -> ServerModel:
    share = min(max(float(parameters[1]), _LEAST_SHARE), 1.0)
    return replace(like, alone_s=math.exp(parameters[0]), busy_share=share)


def _fitted(curve: StationCurve, servers: int, logs: Floats) -> tuple[float, ServerModel]:
    from scipy.optimize import least_squares  # takes a sixth of a second to load

    numbers = curve.stations
    alone_s = math.exp(logs.min())
    slowest_s = (math.exp(logs[-1]) + curve.think_s) / numbers[-1]
    share = min(max(slowest_s * servers / alone_s, 0.01), 0.99)
    start = ServerModel(alone_s, share, servers, curve.think_s)

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
