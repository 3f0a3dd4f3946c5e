"""
The results of the readings of a trial of stations: its metrics, and a table of its stations.

Rates, response times and shares cover the operations that ended within the part that counts
(`station_steady`); errors and retries cover the whole trial, so that none is hidden.

An operation that was tried several times is one operation: its response time runs from the intended
start of its first attempt to the end of the last, including waits between attempts. Each failed
attempt is an error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lanlab.frozen import dataclass
from lanlab.trial_data import StationRecord, StationTable
from lanlab.workloads.metrics import LEAST_SAMPLES, PERCENTILES
from lanlab.workloads.stations.steady import OK, Column, Columns, Steady, over_time, station_ends
from lanlab.workloads.stream.fairness import jain_index

Loop = Literal["closed", "open"]
_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class StationSums:
    #: By the names of `METRICS`. Undefined values are omitted: response times if no operation
    #: succeeded, the spread of one station.
    metrics: dict[str, float | int]
    #: For a trial's record: `steady`, the cut; `over_time`, the trial in steps; and `table`, a list
    #: for each column with an entry for each station.
    record: StationRecord


@dataclass(frozen=True)
class _Operations:
    station: Column
    intended_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]
    octets: Column
    well: NDArray[np.bool_]

    def where(self, wanted: NDArray[np.bool_]) -> _Operations:
        return _Operations(
            self.station[wanted],
            self.intended_ns[wanted],
            self.end_ns[wanted],
            self.octets[wanted],
            self.well[wanted],
        )


def station_sums(
    readings: Columns,
    steady: Steady,
    outcomes: Sequence[str],
    *,
    stations: int,
    think_time_s: float = 0.0,
    loop: Loop = "closed",
) -> StationSums:
    """
    Metrics of a trial and the table of its stations.

    Args:
        readings: Columns `station`, `intended_ns`, `start_ns`, `end_ns`, `bytes`, `outcome`,
            `attempt`, one row per attempt, in order of start.
        steady: The part that counts, from `steady_part`.
        outcomes: Names of the outcomes; the first is `ok`.
        stations: Number of stations in the trial.
        think_time_s: Mean wait between a station's operations in a closed loop.
        loop: In an open loop the number of operations in flight differs from the number of
            stations, and is measured for Little's law.
    """
    all_operations = operations_of(readings)
    start, end = steady.start_ns, steady.end_ns
    within = all_operations.where((all_operations.end_ns > start) & (all_operations.end_ns <= end))
    good = within if bool(within.well.all()) else within.where(within.well)
    length_s = (end - start) / 1e9
    # A part that is shorter than a wait shows no rate: each station may have worked at once.
    shows_rates = length_s > 0 and (loop == "open" or length_s >= think_time_s)
    metrics: dict[str, float | int] = {
        "stations": stations,
        "readings": len(good.end_ns),
        "steady_start_ns": start,
        "steady_end_ns": end,
        "steady_ratio": steady.ratio,
    }
    metrics |= _error_metrics(readings, outcomes)
    response = (good.end_ns - good.intended_ns).astype(np.float64)
    counts = np.bincount(good.station, minlength=stations)
    if shows_rates:
        metrics["operations_per_s"] = len(response) / length_s
        metrics["goodput_bps"] = 8 * int(good.octets.sum(dtype=np.int64)) / length_s
        metrics |= shares(counts, length_s)
        little = _little(all_operations, within, steady, stations, think_time_s, loop)
        if little is not None:
            metrics["little_ratio"] = little
    metrics |= _response_metrics(response)
    means, deviations = _by_station(good.station, response, counts)
    metrics |= spread_metrics(means, deviations, counts)
    metrics |= start_skew(readings, stations, loop)
    least, most = extremes(stations, (good.station, response, response))
    table = station_table(readings, outcomes, counts, (means, deviations), least, most)
    record: StationRecord = {
        "steady": steady.to_json(),
        "over_time": over_time(readings, steady),
        "table": table,
    }
    return StationSums(metrics, record)


def _place(count: int, ratio: float) -> int:
    """Index, in ascending order, of the percentile: the smallest value that at least this share of
    all values does not exceed. Never interpolates.
    """
    # A share such as 0.9 is not exact in binary.
    return max(0, math.ceil(ratio * count - 1e-9) - 1)


def operations_of(readings: Columns) -> _Operations:
    well = readings["outcome"] == OK
    attempt = readings["attempt"]
    if not attempt.any():
        return _Operations(
            readings["station"],
            readings["intended_ns"],
            readings["end_ns"],
            readings["bytes"],
            well,
        )
    order = np.argsort(readings["station"], kind="stable")
    station = readings["station"][order]
    first = attempt[order] == 0
    first[1:] |= station[1:] != station[:-1]
    if len(first):
        first[0] = True
    begins = np.flatnonzero(first)
    lasts = np.append(begins[1:], len(order)) - 1
    return _Operations(
        station[begins],
        readings["intended_ns"][order][begins],
        readings["end_ns"][order][lasts],
        readings["bytes"][order][lasts],
        well[order][lasts],
    )


def _error_metrics(readings: Columns, outcomes: Sequence[str]) -> dict[str, float | int]:
    total = len(readings["outcome"])
    by_class = np.bincount(readings["outcome"], minlength=len(outcomes))
    errors = total - int(by_class[OK])
    wrong = outcomes.index("wrong_data") if "wrong_data" in outcomes else None
    found: dict[str, float | int] = {
        "errors": errors,
        "retries": int(np.count_nonzero(readings["attempt"])),
        "wrong_data": 0 if wrong is None else int(by_class[wrong]),
    }
    return found | ({"error_ratio": errors / total} if total else {})


def _response_metrics(response: _Floats) -> dict[str, float | int]:
    if response.size == 0:
        return {}
    found: dict[str, float | int] = {"response_mean_ns": float(response.mean())}
    if response.size > 1:
        found["response_sd_ns"] = float(response.std(ddof=1))
    places = {
        name: _place(response.size, ratio)
        for name, ratio in PERCENTILES.items()
        if response.size >= LEAST_SAMPLES.get(name, 1)
    }
    ordered = np.partition(response, sorted(set(places.values())))
    for name, place in places.items():
        found[f"response_{name}_ns"] = float(ordered[place])
    return found


def shares(counts: NDArray[np.int64], length_s: float) -> dict[str, float | int]:
    per_s = counts / length_s
    found: dict[str, float | int] = {
        "station_operations_min_per_s": float(per_s.min()),
        "station_operations_max_per_s": float(per_s.max()),
    }
    if len(per_s) > 1:
        found["station_operations_sd_per_s"] = float(per_s.std(ddof=1))
    if counts.any():
        found["jain_index"] = jain_index(per_s.tolist())
    return found


def _little(
    everything: _Operations,
    within: _Operations,
    steady: Steady,
    stations: int,
    think_time_s: float,
    loop: Loop,
) -> float | None:
    """
    Throughput times response (and think) time divided by the operations in flight: 1 if nothing was
    miscounted and stations did nothing else. Includes operations that failed in the end, because
    they occupied their stations.
    """
    if len(within.end_ns) == 0:
        return None
    length_ns = steady.end_ns - steady.start_ns
    response_ns = float((within.end_ns - within.intended_ns).sum(dtype=np.float64))
    if loop == "closed":
        return (response_ns + len(within.end_ns) * think_time_s * 1e9) / length_ns / stations
    begins = np.maximum(everything.intended_ns, steady.start_ns)
    ends = np.minimum(everything.end_ns, steady.end_ns)
    under_way_ns = float(np.maximum(ends - begins, 0).sum(dtype=np.float64))
    return response_ns / under_way_ns if under_way_ns > 0 else None


def _by_station(
    station: Column, response: _Floats, counts: NDArray[np.int64]
) -> tuple[_Floats, _Floats]:
    """Means and standard deviations of each station; 0 if there are no values."""
    n = len(counts)
    totals = np.bincount(station, weights=response, minlength=n)
    means = np.divide(totals, counts, out=np.zeros(n), where=counts > 0)
    squares = np.bincount(station, weights=(response - means[station]) ** 2, minlength=n)
    variances = np.divide(squares, counts - 1, out=np.zeros(n), where=counts > 1)
    return means, np.sqrt(variances)


def spread_metrics(
    means: _Floats, deviations: _Floats, counts: NDArray[np.int64]
) -> dict[str, float]:
    known = means[counts > 0]
    if not len(known):
        return {}
    found = {
        "response_station_min_ns": float(known.min()),
        "response_station_max_ns": float(known.max()),
    }
    several = (counts > 1) & (means > 0)
    if several.any():
        found["response_cv_ratio"] = float((deviations[several] / means[several]).max())
    if len(known) > 1 and known.mean() > 0:
        found["response_stations_cv_ratio"] = float(known.std(ddof=1) / known.mean())
    return found


def start_skew(readings: Columns, stations: int, loop: Loop) -> dict[str, int]:
    firsts = station_ends(readings, stations)[0]
    if loop == "open" or (firsts < 0).any():
        return {}
    return {"start_skew_ns": int(firsts.max() - firsts.min())}


def extremes(stations: int, *parts: tuple[Column, Column, Column]) -> tuple[_Floats, _Floats]:
    """The least and the most of each station, from columns of stations, least and most."""
    least, most = np.full(stations, np.inf), np.zeros(stations)
    for station, low, high in parts:
        np.minimum.at(least, station, low)
        np.maximum.at(most, station, high)
    return least, most


def station_table(
    readings: Columns,
    outcomes: Sequence[str],
    counts: NDArray[np.int64],
    response: tuple[_Floats, _Floats],
    least: _Floats,
    most: _Floats,
) -> StationTable:
    """
    Args:
        response: Means and standard deviations.
    """
    some, (means, deviations) = counts > 0, response
    return {
        "readings": counts.tolist(),
        "response_mean_ns": _rounded(means, some),
        "response_sd_ns": _rounded(deviations, counts > 1),
        "response_min_ns": _rounded(np.where(some, least, 0.0), some),
        "response_max_ns": _rounded(most, some),
        "retries": _counted(readings["station"][readings["attempt"] > 0], len(counts)),
        "errors": _errors_by_class(readings, outcomes, len(counts)),
    }


def _errors_by_class(
    readings: Columns, outcomes: Sequence[str], stations: int
) -> dict[str, list[int]]:
    outcome = readings["outcome"]
    return {
        name: _counted(readings["station"][outcome == code], stations)
        for code, name in enumerate(outcomes)
        if code != OK and bool((outcome == code).any())
    }


def _counted(station: Column, stations: int) -> list[int]:
    return [int(count) for count in np.bincount(station, minlength=stations)]


def _rounded(values: _Floats, known: NDArray[np.bool_]) -> list[int | None]:
    """Whole nanoseconds, like the clock's; `None` if there is no value."""
    return [
        round(value) if there else None
        for value, there in zip(values.tolist(), known.tolist(), strict=True)
    ]
