"""What readings come to, beside sums done by hand and laws of queues."""

import math

import numpy as np
import pytest
from made_up_stations import OUTCOMES, closed_queue, columns

from lanlab.workloads.metrics import LEAST_SAMPLES, PERCENTILES, STATIONS
from lanlab.workloads.stations.steady import Steady, steady_part
from lanlab.workloads.stations.sums import station_sums

MS = 1_000_000


def part(start_ns: int, end_ns: int) -> Steady:
    return Steady(True, start_ns, end_ns, start_ns, end_ns, 0, end_ns, "")


#: Two stations, over 10 ms: 0 reads 4 blocks (of 2, 2, 4 and 2 ms), 1 writes 2 (of 4 ms; then one
#: that is reset, tried again 1 ms later).
BY_HAND = columns(
    [
        (0, 0, 0, 2 * MS, 1000, 0, 0),
        (0, 2 * MS, 2 * MS, 4 * MS, 1000, 0, 0),
        (0, 4 * MS, 4 * MS, 8 * MS, 1000, 0, 0),
        (0, 8 * MS, 8 * MS, 10 * MS, 1000, 0, 0),
        (1, 0, 0, 4 * MS, 500, 0, 0),
        (1, 4 * MS, 4 * MS, 6 * MS, 0, 2, 0),
        (1, 7 * MS, 7 * MS, 10 * MS, 500, 0, 1),
    ]
)


def test_sums_match_a_calculation_by_hand() -> None:
    seen = station_sums(BY_HAND, part(0, 10 * MS), OUTCOMES, stations=2)
    # The operation that was tried twice took from 4 to 10 ms.
    responses = [2, 2, 4, 2, 4, 6]
    assert seen.metrics["operations_per_s"] == pytest.approx(6 / 10e-3)
    assert seen.metrics["goodput_bps"] == pytest.approx(8 * 5000 / 10e-3)
    assert seen.metrics["response_mean_ns"] == pytest.approx(np.mean(responses) * MS)
    assert seen.metrics["response_sd_ns"] == pytest.approx(np.std(responses, ddof=1) * MS)
    assert seen.metrics["response_p50_ns"] == 2 * MS
    # Of so few, other percentiles are the maximum.
    assert not {"response_p90_ns", "response_p99_ns"} & set(seen.metrics)
    assert seen.metrics["response_max_ns"] == 6 * MS
    assert seen.metrics["readings"] == 6
    assert seen.metrics["errors"] == 1 and seen.metrics["error_ratio"] == pytest.approx(1 / 7)
    assert seen.metrics["retries"] == 1 and seen.metrics["wrong_data"] == 0
    assert seen.metrics["station_operations_min_per_s"] == pytest.approx(200)
    assert seen.metrics["station_operations_max_per_s"] == pytest.approx(400)
    assert seen.metrics["station_operations_sd_per_s"] == pytest.approx(math.sqrt(2) * 100)
    assert seen.metrics["jain_index"] == pytest.approx(36 / (2 * (16 + 4)))
    assert seen.metrics["response_station_min_ns"] == pytest.approx(2.5 * MS)
    assert seen.metrics["response_station_max_ns"] == pytest.approx(5 * MS)
    # Means of 2.5 and 5 ms; the reads of station 0 took 2, 2, 4, 2 ms, those of station 1 4 and 6.
    assert seen.metrics["response_stations_cv_ratio"] == pytest.approx(math.sqrt(2) / 3)
    assert seen.metrics["response_cv_ratio"] == pytest.approx(1 / 2.5)
    # Each station was busy all the time: 20 ms of work in 10 ms.
    assert seen.metrics["little_ratio"] == pytest.approx(1)
    assert seen.metrics["start_skew_ns"] == 0
    assert seen.record["table"] == {
        "readings": [4, 2],
        "response_mean_ns": [2_500_000, 5_000_000],
        "response_sd_ns": [MS, round(math.sqrt(2) * MS)],
        "response_min_ns": [2 * MS, 4 * MS],
        "response_max_ns": [4 * MS, 6 * MS],
        "retries": [0, 1],
        "errors": {"reset": [0, 1]},
    }


def test_rates_count_the_steady_part_and_errors_count_everywhere() -> None:
    seen = station_sums(BY_HAND, part(4 * MS, 8 * MS), OUTCOMES, stations=2)
    # One ended after 4 and not after 8 ms; the error at 6 ms was not the end of its operation.
    assert seen.metrics["readings"] == 1
    assert seen.metrics["operations_per_s"] == pytest.approx(250)
    assert seen.metrics["errors"] == 1
    assert seen.metrics["station_operations_min_per_s"] == 0
    assert seen.metrics["jain_index"] == pytest.approx(0.5)
    assert seen.record["table"]["response_mean_ns"] == [4 * MS, None]


def test_no_rate_is_claimed_for_less_than_a_wait_between_operations() -> None:
    once = columns([(0, 0, 0, 2 * MS, 1000, 0, 0), (1, MS, MS, 3 * MS, 1000, 0, 0)])
    steady = part(MS, 2 * MS)
    seen = station_sums(once, steady, OUTCOMES, stations=2, think_time_s=5.0)
    assert not {"operations_per_s", "goodput_bps", "little_ratio"} & set(seen.metrics)
    assert seen.metrics["response_mean_ns"] == 2 * MS
    seen = station_sums(once, steady, OUTCOMES, stations=2, think_time_s=0.001)
    assert seen.metrics["operations_per_s"] == 1000


def test_every_shown_metric_has_a_unit() -> None:
    seen = station_sums(BY_HAND, part(0, 10 * MS), OUTCOMES, stations=2)
    elsewhere = {"reconnects", "ended_stations", "unstarted_operations", "setup_errors"} | {
        key for key in STATIONS if key.startswith(("connect_", "own_", "busiest_", "client_"))
    }
    # Only a carrier of frames has these.
    # There are too few operations for them.
    elsewhere |= {"response_p90_ns", "response_p99_ns"}
    elsewhere |= {key for key in STATIONS if "frames_" in key or key in ("rejects", "t1_expiries")}
    assert set(seen.metrics) == set(STATIONS) - elsewhere - {"interrupt_cpu_s", "elapsed_s"}


def test_wrong_data_are_errors_of_their_own() -> None:
    rows = [(0, 0, 0, MS, 750, 6, 0), (0, MS, MS, 2 * MS, 750, 0, 0)]
    seen = station_sums(columns(rows), part(0, 2 * MS), OUTCOMES, stations=1)
    assert seen.metrics["wrong_data"] == 1 and seen.metrics["errors"] == 1
    assert seen.metrics["readings"] == 1
    # The failed one took the station's time, so that the law still holds.
    assert seen.metrics["little_ratio"] == pytest.approx(1)
    assert "station_operations_sd_per_s" not in seen.metrics


def test_a_trial_with_only_failures_has_errors_but_no_response_time() -> None:
    rows = [(0, MS * k, MS * k, MS * (k + 1), 0, 1, 0) for k in range(5)]
    readings = columns(rows)
    seen = station_sums(readings, steady_part(readings, 1), OUTCOMES, stations=1)
    assert seen.metrics["errors"] == 5 and seen.metrics["error_ratio"] == 1
    assert seen.metrics["operations_per_s"] == 0
    assert not [name for name in seen.metrics if name.startswith("response_")]


def test_a_trial_without_a_reading_is_reported() -> None:
    readings = columns([])
    seen = station_sums(readings, steady_part(readings, 3), OUTCOMES, stations=3)
    assert seen.metrics["readings"] == 0 and seen.metrics["errors"] == 0
    assert "operations_per_s" not in seen.metrics and "error_ratio" not in seen.metrics


@pytest.mark.parametrize("think_ns", [0.0, 30.0 * MS])
@pytest.mark.parametrize("stations", [1, 8])
def test_throughput_and_response_of_a_queue_follow_its_law(stations: int, think_ns: float) -> None:
    service_ns = 2.0 * MS
    readings = closed_queue(stations, 40_000, service_ns=service_ns, think_ns=think_ns, seed=5)
    seen = station_sums(
        readings,
        steady_part(readings, stations),
        OUTCOMES,
        stations=stations,
        think_time_s=think_ns / 1e9,
    ).metrics
    weights, total = [1.0], 1.0
    if think_ns:
        for n in range(1, stations + 1):
            weights.append(weights[-1] * (stations - n + 1) * service_ns / think_ns)
        total = sum(weights)
        busy = 1 - weights[0] / total
    else:
        busy = 1.0
    rate_per_s = busy / service_ns * 1e9
    response_ns = stations / rate_per_s * 1e9 - think_ns

    assert seen["operations_per_s"] == pytest.approx(rate_per_s, rel=0.02)
    assert seen["response_mean_ns"] == pytest.approx(response_ns, rel=0.03)
    assert seen["little_ratio"] == pytest.approx(1, abs=0.01)
    assert seen["jain_index"] > 0.99


def test_little_sees_operations_that_were_not_counted() -> None:
    readings = closed_queue(4, 8_000, service_ns=MS, seed=6)
    kept = {name: np.delete(column, np.s_[::20]) for name, column in readings.items()}
    seen = station_sums(kept, steady_part(kept, 4), OUTCOMES, stations=4).metrics
    assert seen["little_ratio"] == pytest.approx(0.95, abs=0.01)


def test_an_open_loop_counts_from_when_operations_were_meant_to_begin() -> None:
    # Every 2 ms one, each of 1 ms, but for the first, which holds up the station for 9 ms.
    rows, free = [], 0
    for k in range(400):
        meant = 2 * MS * k
        start = max(meant, free)
        free = start + (9 * MS if k == 0 else MS)
        rows.append((0, meant, start, free, 750, 0, 0))
    readings = columns(rows)
    seen = station_sums(readings, part(0, rows[-1][3]), OUTCOMES, stations=1, loop="open").metrics
    # The first takes 9 ms; behind it each waits 1 ms less than the one before: 7, 6, … 1.
    exact_ms = (9 + sum(1 + wait for wait in range(7, 0, -1)) + 392 * 1) / 400
    assert seen["response_mean_ns"] == pytest.approx(exact_ms * MS)
    assert seen["little_ratio"] == pytest.approx(1, abs=1e-9)
    assert "start_skew_ns" not in seen


@pytest.mark.parametrize("count", [1, 2, 10, 99, 100, 101, 1000])
def test_percentiles_are_the_readings_at_their_rank(count: int) -> None:
    rows, end = [], 0
    for response_ms in np.random.default_rng(count).permutation(count) + 1:
        begin, end = end, end + int(response_ms) * MS
        rows.append((0, begin, begin, end, 500, 0, 0))
    metrics = station_sums(columns(rows), part(0, end), OUTCOMES, stations=1).metrics
    for name, ratio in PERCENTILES.items():
        if count < LEAST_SAMPLES.get(name, 1):
            assert f"response_{name}_ns" not in metrics
            continue
        assert metrics[f"response_{name}_ns"] == math.ceil(ratio * count - 1e-9) * MS
