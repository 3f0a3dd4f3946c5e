"""
Results of a trial of stations that kept only some of its readings.

Counts, means, deviations and ends cover all operations, from the sums of slices of time; failed and
repeated operations are all kept. Percentiles use the readings that were kept, each weighted by the
number it represents. The part that counts is found from the kept readings, and begins and ends at
the limits of slices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lanlab.trial_data import RoleResult, StationRecord, StationSteps
from lanlab.workloads.metrics import LEAST_SAMPLES, PERCENTILES
from lanlab.workloads.stations.slices import Slices
from lanlab.workloads.stations.steady import OK, Columns, Steady
from lanlab.workloads.stations.sums import (
    StationSums,
    extremes,
    operations_of,
    shares,
    spread_metrics,
    start_skew,
    station_table,
)

if TYPE_CHECKING:
    from lanlab.workloads.stations.parameters import StationsParameters

_Floats = NDArray[np.float64 | np.int64]


def thinned_sums(
    readings: Columns,
    steady: Steady,
    slices: Slices,
    parameters: StationsParameters,
    result: RoleResult,
) -> StationSums:
    """
    `station_sums` from thinned readings.

    Args:
        readings: The kept readings.
        steady: The part that counts, from these readings.
        slices: Sums of all operations that succeeded at their first attempt.
        result: The engines' results, with counts of all operations.
    """
    steady = slices.aligned(steady)
    start, end = steady.start_ns, steady.end_ns
    stations = parameters.stations
    is_plain = (readings["outcome"] == OK) & (readings["attempt"] == 0)
    rest = operations_of({name: column[~is_plain] for name, column in readings.items()})
    rest = rest.where((rest.end_ns >= start) & (rest.end_ns < end))
    good = rest.where(rest.well)
    good_ns = (good.end_ns - good.intended_ns).astype(np.float64)
    cells = slices.within(steady)

    def total(of_cells: _Floats, of_rest: _Floats) -> _Floats:
        by_cells = np.bincount(cells.station, weights=of_cells, minlength=stations)
        return by_cells + np.bincount(good.station, weights=of_rest, minlength=stations)

    counts = total(cells.operations, np.ones(len(good_ns))).astype(np.int64)
    sums = total(cells.sum_ns, good_ns)
    squares = total(cells.squares_ns2, np.square(good_ns))
    operations, length_s = int(counts.sum()), (end - start) / 1e9
    plain = int(cells.operations.sum())
    metrics: dict[str, float | int] = {
        "stations": stations,
        "readings": operations,
        "steady_start_ns": start,
        "steady_end_ns": end,
        "steady_ratio": min(1.0, steady.ratio),
        **_errors(result),
    }
    if length_s > 0:
        octets = plain * parameters.message_size_bytes + int(good.octets.sum(dtype=np.int64))
        metrics["operations_per_s"] = operations / length_s
        metrics["goodput_bps"] = 8 * octets / length_s
        metrics |= shares(counts, length_s)
    kept = is_plain & (readings["end_ns"] >= start) & (readings["end_ns"] < end)
    kept_ns = (readings["end_ns"] - readings["intended_ns"])[kept]
    if operations:
        mean = float(sums.sum()) / operations
        metrics["response_mean_ns"] = mean
        if operations > 1:
            spread = max(0.0, float(squares.sum()) - operations * mean**2)
            metrics["response_sd_ns"] = (spread / (operations - 1)) ** 0.5
        metrics |= _percentiles(kept_ns, plain, good_ns)
        ends = [int(cells.max_ns.max())] if plain else []
        metrics["response_max_ns"] = max([*ends, *good_ns.tolist()])
    means = np.divide(sums, counts, out=np.zeros(stations), where=counts > 0)
    apart = np.maximum(squares - counts * means**2, 0.0)
    deviations = np.sqrt(np.divide(apart, counts - 1, out=np.zeros(stations), where=counts > 1))
    metrics |= spread_metrics(means, deviations, counts)
    metrics |= start_skew(readings, stations, parameters.loop)
    # Like `station_sums`, including failed operations.
    every = plain + len(rest.end_ns)
    if length_s > 0 and parameters.loop == "closed" and every:
        took_ns = float(cells.sum_ns.sum() + (rest.end_ns - rest.intended_ns).sum())
        took_ns += every * parameters.think_time_s * 1e9
        metrics["little_ratio"] = took_ns / (end - start) / stations
    of_cells = (cells.station, cells.min_ns, cells.max_ns)
    least, most = extremes(stations, of_cells, (good.station, good_ns, good_ns))
    outcomes, spread_of = result["outcomes"], (means, deviations)
    record: StationRecord = {
        "steady": steady.to_json(),
        "over_time": _over_time(slices),
        "table": station_table(readings, outcomes, counts, spread_of, least, most),
    }
    return StationSums(metrics, record)


def _errors(result: RoleResult) -> dict[str, float | int]:
    errors = sum(result["errors"].values())
    found: dict[str, float | int] = {
        "errors": errors,
        "retries": result["retries"],
        "wrong_data": result["errors"].get("wrong_data", 0),
    }
    total = result["readings_count"]
    return found | ({"error_ratio": errors / total} if total else {})


def _percentiles(kept_ns: _Floats, plain: int, good_ns: NDArray[np.float64]) -> dict[str, float]:
    """The smallest time that a share of all operations does not exceed; the kept readings
    represent `plain` operations, one with several attempts only itself.
    """
    weight = plain / len(kept_ns) if len(kept_ns) else 0.0
    times = np.concatenate((kept_ns.astype(np.float64), good_ns))
    if len(times) == 0:
        return {}
    weights = np.concatenate((np.full(len(kept_ns), weight), np.ones(len(good_ns))))
    order = np.argsort(times, kind="stable")
    reached = np.cumsum(weights[order])
    found = {}
    for name, ratio in PERCENTILES.items():
        # Protects against rounding errors of a sum.
        if reached[-1] + 0.5 < LEAST_SAMPLES.get(name, 1):
            continue
        place = int(np.searchsorted(reached, ratio * reached[-1] * (1 - 1e-9)))
        found[f"response_{name}_ns"] = float(times[order][min(place, len(times) - 1)])
    return found


def _over_time(slices: Slices) -> StationSteps:
    if len(slices.slice) == 0:
        return {"at_ns": [], "operations_per_s": [], "response_mean_ns": []}
    steps = int(slices.slice.max()) + 1
    count = np.bincount(slices.slice, weights=slices.operations, minlength=steps)
    total = np.bincount(slices.slice, weights=slices.sum_ns, minlength=steps)
    width_ns = slices.width_ns
    return {
        "at_ns": [round((step + 0.5) * width_ns) for step in range(steps)],
        "operations_per_s": (count / width_ns * 1e9).tolist(),
        "response_mean_ns": [
            took / each if each else None
            for took, each in zip(total.tolist(), count.tolist(), strict=True)
        ],
    }
