"""Curves of stations whose law is known."""

from collections.abc import Callable, Sequence

import numpy as np
from made_up_stations import OUTCOMES, closed_queue

from lanlab.analysis.stations.levels import StationCurve, StationLevel
from lanlab.workloads.stations.steady import steady_part
from lanlab.workloads.stations.sums import station_sums

NUMBERS = (1, 2, 3, 4, 6, 8, 11, 15)


def exact_curve(
    throughput: Callable[[int], float],
    numbers: Sequence[int] = NUMBERS,
    *,
    noise: float = 0.0,
    trials: int = 3,
    seed: int = 1,
) -> StationCurve:
    """A curve with that throughput; trials differ by a lognormal noise of that size."""
    rng = np.random.default_rng(seed)
    levels = []
    for number in numbers:
        rates = [throughput(number) * float(np.exp(noise * rng.normal())) for _ in range(trials)]
        responses = [number / rate for rate in rates]
        levels.append(StationLevel(number, tuple(rates), tuple(responses)))
    return StationCurve(tuple(levels))


def measured_curve(
    numbers: Sequence[int] = NUMBERS,
    *,
    service_ns: float,
    think_ns: float = 0.0,
    operations: int = 4_000,
    trials: int = 3,
    seed: int = 1,
) -> StationCurve:
    """A curve from readings of a simulated queue, cut and summed as those of a trial are."""
    levels = []
    for number in numbers:
        sums = []
        for trial in range(trials):
            readings = closed_queue(
                number,
                operations,
                service_ns=service_ns,
                think_ns=think_ns,
                seed=1000 * seed + 37 * number + trial,
            )
            steady = steady_part(readings, number)
            sums.append(
                station_sums(
                    readings, steady, OUTCOMES, stations=number, think_time_s=think_ns / 1e9
                ).metrics
            )
        levels.append(
            StationLevel(
                number,
                tuple(float(one["operations_per_s"]) for one in sums),
                tuple(float(one["response_mean_ns"]) / 1e9 for one in sums),
            )
        )
    return StationCurve(tuple(levels))
