"""How many stations a limit allows, from curves of known queues."""

import math

import numpy as np
import pytest
from curves import exact_curve, measured_curve

from lanlab.analysis.stations.answer import stations_within
from lanlab.analysis.stations.levels import StationCurve, StationLevel
from lanlab.analysis.statistics.intervals import mean_interval
from lanlab.errors import UnfitValues, UsageError

SERVICE_S, LATENCY_S = 0.002, 0.006


def queue_rate(
    stations: int, service_s: float = SERVICE_S, apart_s: float = LATENCY_S, servers: int = 1
) -> float:
    """The law of a queue with a way of a fixed mean: M/M/m//N by its birth and death equations."""
    logs = [0.0]
    for there in range(1, stations + 1):
        arrives, leaves = (stations - there + 1) / apart_s, min(there, servers) / service_s
        logs.append(logs[-1] + math.log(arrives / leaves))
    weights = np.exp(np.array(logs) - max(logs))
    busy = np.minimum(np.arange(stations + 1), servers)
    return float(weights @ busy / weights.sum() / service_s)


def corner_rate(stations: int) -> float:
    return min(stations / (SERVICE_S + LATENCY_S), 1 / SERVICE_S)


def test_readings_of_a_simulated_queue_agree_with_its_law() -> None:
    curve = measured_curve(
        (1, 2, 4, 8, 15), service_ns=2e6, think_ns=10e6, operations=6_000, trials=5, seed=3
    )
    inside = 0
    for level in curve.levels:
        rate = queue_rate(level.stations, 0.002, 0.010)
        for values, value in (
            (level.operations_per_s, rate),
            (level.response_s, level.stations / rate - 0.010),
        ):
            seen = mean_interval(values, scale="log")
            inside += seen.low <= value <= seen.high
            assert seen.mean == pytest.approx(value, rel=0.03)
    # Ten intervals of 95 %: fewer than eight that hold come up once in a hundred.
    assert inside >= 8


def test_a_limit_between_levels_uses_measured_values() -> None:
    curve = exact_curve(corner_rate, noise=0.01, trials=8, seed=7)
    # 2 ms each in a line: 21 ms are passed at the eleventh station.
    seen = stations_within(curve, 0.021)
    assert (seen.basis, seen.stations) == ("measured", 10)
    assert (seen.last_within, seen.first_beyond) == (8, 11)
    assert seen.low is not None and seen.high is not None
    assert seen.low <= 10 <= seen.high and seen.high - seen.low <= 2


def test_a_limit_exceeded_by_one_station_allows_none() -> None:
    seen = stations_within(exact_curve(queue_rate), 0.007)
    assert (seen.basis, seen.stations) == ("measured", 0)
    seen = stations_within(exact_curve(queue_rate, (4, 8, 12)), 0.007)
    assert (seen.basis, seen.stations, seen.first_beyond) == ("fewest", None, 4)


def test_a_limit_beyond_the_measured_levels_stays_open() -> None:
    seen = stations_within(exact_curve(queue_rate), 0.100)
    assert (seen.basis, seen.stations, seen.low, seen.high) == ("beyond", None, 15, None)
    assert (seen.last_within, seen.first_beyond) == (15, None)


@pytest.mark.parametrize("limit_s", [0.0, -1.0, math.inf, math.nan])
def test_a_limit_must_be_a_time(limit_s: float) -> None:
    with pytest.raises(UsageError):
        stations_within(exact_curve(queue_rate), limit_s)


def test_an_invalid_curve_is_refused() -> None:
    level = StationLevel(2, (100.0,), (0.02,))
    for levels in ((), (level, level), (level, StationLevel(1, (1.0,), (1.0,)))):
        with pytest.raises(UnfitValues):
            StationCurve(levels)
    with pytest.raises(UnfitValues):
        StationCurve((StationLevel(1, (1.0, 2.0), (1.0,)),))
    with pytest.raises(UnfitValues):
        StationCurve((StationLevel(1, (0.0,), (1.0,)),))
