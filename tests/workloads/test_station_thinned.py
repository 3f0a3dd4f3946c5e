"""Sums of a trial whose readings were thinned, held against those of all its readings."""

import base64
import struct
from typing import Any

import numpy as np
import pytest

from lanlab.errors import EngineError
from lanlab.workloads.stations.parameters import StationsParameters
from lanlab.workloads.stations.readings import thinned
from lanlab.workloads.stations.slices import Slices, slices_of
from lanlab.workloads.stations.steady import Steady, steady_part
from lanlab.workloads.stations.steps import StationsSteps
from lanlab.workloads.stations.sums import station_sums
from lanlab.workloads.stations.thinned import thinned_sums

STATIONS, OPERATIONS, WIDTH_NS = 3, 40_000, 2**23
OUTCOMES = ["ok", "timed_out"]


def trial() -> dict[str, Any]:
    """Readings of three stations, one after the other at each; every 5000th fails once."""
    random = np.random.default_rng(7)
    parts = []
    for station in range(STATIONS):
        took = np.rint(random.gamma(4.0, 2500.0, OPERATIONS)).astype(np.int64) + 100
        ends = np.cumsum(took)
        number = np.arange(OPERATIONS)
        fails = number % 5000 == 4999
        again = np.roll(fails, 1)
        again[0] = False
        level = np.array([(int(n) & -int(n)).bit_length() - 1 if n else 32 for n in number])
        starts = ends - took
        parts.append(
            {
                "station": np.full(OPERATIONS, station, dtype=np.uint32),
                # What is tried again was meant to begin when the attempt before was.
                "intended_ns": np.where(again, np.roll(starts, 1), starts),
                "start_ns": starts,
                "end_ns": ends,
                "bytes": np.where(fails, 0, 6000).astype(np.uint32),
                "outcome": fails.astype(np.uint8),
                "attempt": again.astype(np.uint8),
                "level": np.where(fails | again, 255, level).astype(np.uint8),
            }
        )
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.argsort(whole["start_ns"], kind="stable")
    return {name: column[order] for name, column in whole.items()}


def told(readings: dict[str, Any]) -> dict[str, Any]:
    return {
        "readings_count": len(readings["station"]),
        "errors": {"timed_out": int(readings["outcome"].sum())},
        "retries": int(np.count_nonzero(readings["attempt"])),
        "outcomes": OUTCOMES,
    }


PARAMETERS = StationsParameters(stations=STATIONS, service="memory", message_size_bytes=6000)


def both(every: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Metrics and tables of all readings, and of a few with the slices' sums, over one time."""
    readings = trial()
    slices = slices_of([], readings, WIDTH_NS, STATIONS)
    kept = thinned(readings, every)
    steady = slices.aligned(steady_part(kept, STATIONS))
    whole = station_sums(
        readings,
        # Up to the end of a slice, and without the first moment of the next.
        Steady(
            **{**steady.to_json(), "end_ns": steady.end_ns - 1, "start_ns": steady.start_ns - 1}
        ),
        OUTCOMES,
        stations=STATIONS,
    )
    few = thinned_sums(kept, steady_part(kept, STATIONS), slices, PARAMETERS, told(readings))
    return whole.metrics, few.metrics, whole.record["table"], few.record["table"]


@pytest.mark.parametrize("every", [2, 64])
def test_sums_of_thinned_readings_equal_those_of_all_readings(every: int) -> None:
    """Only percentiles, which are of those that were kept, and what follows from the first and last
    readings of a station may differ."""
    whole, few, table, thin = both(every)
    sampled = {"response_p50_ns", "response_p90_ns", "response_p99_ns"}
    edges = {"steady_start_ns", "steady_end_ns", "steady_ratio"}
    assert set(whole) == set(few)
    assert whole["readings"] > 90_000 and whole["errors"] == 24
    for name in set(whole) - sampled - edges:
        assert few[name] == pytest.approx(whole[name], rel=1e-9), name
    for name in sampled:
        # 1,900 of 120,000 for the 64th: the 99th percentile to some per cent.
        assert few[name] == pytest.approx(whole[name], rel=0.06 if every > 2 else 0.01), name
    assert thin["readings"] == table["readings"]
    for name in ("response_mean_ns", "response_min_ns", "response_max_ns", "retries", "errors"):
        assert thin[name] == table[name], name
    assert thin["response_sd_ns"] == pytest.approx(table["response_sd_ns"], abs=1.0)


def test_one_of_so_many_operations_is_kept_and_whatever_failed() -> None:
    kept = thinned(trial(), 64)
    assert "level" not in kept
    plain = (kept["outcome"] == 0) & (kept["attempt"] == 0)
    # 625 of 40,000 at each; those of them that failed or came again count as such.
    assert STATIONS * 617 <= int(plain.sum()) <= STATIONS * 625
    assert int((~plain).sum()) == STATIONS * (8 + 7)


def test_engine_cells_are_read_and_joined_with_local_sums() -> None:
    cell = struct.pack("<IIQQdQQ", 1, 5, 10, 1000, 1e5, 50, 200)
    line = {"slices": 1, "octets": base64.b64encode(cell).decode()}
    readings = {
        name: np.array(values)
        for name, values in {
            "station": [0, 1],
            "intended_ns": [0, 0],
            "start_ns": [0, 0],
            "end_ns": [WIDTH_NS + 1, 7],
            "outcome": [0, 0],
            "attempt": [0, 0],
        }.items()
    }
    slices = slices_of([line], readings, WIDTH_NS, 2)
    # The reading of station 1 is in the engine's sum already.
    assert slices.station.tolist() == [0, 1]
    assert slices.slice.tolist() == [1, 5]
    assert slices.operations.tolist() == [1, 10]
    assert slices.max_ns.tolist() == [WIDTH_NS + 1, 200]
    with pytest.raises(EngineError, match="not of the announced length"):
        slices_of([line | {"slices": 2}], readings, WIDTH_NS, 2)
    with pytest.raises(EngineError, match="sums of an unknown station"):
        slices_of([line], readings, WIDTH_NS, 1)


def test_a_time_shorter_than_a_slice_is_counted_with_the_whole_of_it() -> None:
    readings = trial()
    slices: Slices = slices_of([], readings, 2**40, STATIONS)
    aligned = slices.aligned(steady_part(readings, STATIONS))
    assert (aligned.start_ns, aligned.end_ns) == (0, 2**40)


def test_defaults_hold_ten_thousand_stations_in_bounded_memory_and_files() -> None:
    for service in ("memory", "nfs"):
        many = StationsParameters(stations=10_000, service=service)
        assert many.own_file_size_bytes == 2**28 // 10_000
        assert many.written_bytes <= 2**28
        assert many.kept_readings == 250_000
    few = StationsParameters(stations=256, service="nfs")
    assert few.own_file_size_bytes == 2**20
    large = StationsParameters(stations=10_000, message_size_bytes=65_536)
    assert large.own_file_size_bytes == 65_536
    asked = StationsParameters(stations=15, readings_per_station=100_000)
    assert asked.kept_readings == 1_500_000


def test_too_many_requested_readings_are_refused_with_the_limit() -> None:
    with pytest.raises(ValueError, match=r"20000000 for all stations together; allowed: 16777216"):
        StationsParameters(stations=10, readings_per_station=2_000_000)


def test_more_stations_get_an_earlier_start_message() -> None:
    alone = StationsParameters(stations=64)
    together = StationsParameters(stations=10_000, service="nfs")
    assert StationsSteps(alone).lead_beyond_s() == pytest.approx(0.0128)
    assert StationsSteps(together).lead_beyond_s() == pytest.approx(0.2)
