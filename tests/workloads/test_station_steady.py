"""What part of a trial of stations counts, on readings whose steady part is known."""

import time
from typing import Any

import numpy as np
import pytest
from made_up_stations import closed_queue, columns
from numpy.typing import NDArray

from lanlab.workloads.stations.steady import best_cuts, over_time, steady_part

MS = 1_000_000


def one_after_another(
    response_ns: list[int], station: int = 0, first_ns: int = 0
) -> list[tuple[int, ...]]:
    """Rows of a station that begins each operation as the one before ends."""
    rows, now = [], first_ns
    for each in response_ns:
        rows.append((station, now, now, now + each, 750, 0, 0))
        now += each
    return rows


def noisy(mean_ns: float, count: int, seed: int = 3) -> list[int]:
    drawn = np.random.default_rng(seed).normal(mean_ns, 0.05 * mean_ns, count)
    return [int(each) for each in drawn]


def test_only_the_time_in_which_all_stations_work_counts() -> None:
    rows = one_after_another(noisy(MS, 1000), 0, 0)
    rows += one_after_another(noisy(MS, 900, 4), 1, 30 * MS)
    rows += one_after_another(noisy(MS, 800, 5), 2, 50 * MS)
    seen = steady_part(columns(rows), 3)

    assert seen.found, seen.reason
    assert seen.active_start_ns == 50 * MS
    assert seen.active_end_ns == max(row[3] for row in rows if row[0] == 2)
    assert (seen.first_start_ns, seen.last_end_ns) == (0, max(row[3] for row in rows))
    assert seen.start_ns >= seen.active_start_ns and seen.end_ns <= seen.active_end_ns
    # Nothing settles in it, so that next to nothing of it is cut off.
    assert seen.end_ns - seen.start_ns > 0.9 * (seen.active_end_ns - seen.active_start_ns)
    assert seen.ratio == pytest.approx((seen.end_ns - seen.start_ns) / seen.last_end_ns)


def test_warm_up_readings_of_each_station_do_not_count() -> None:
    rows = one_after_another([50 * MS] * 10 + noisy(MS, 2000), 0, 0)
    rows += one_after_another(noisy(MS, 2500, 4), 1, 0)
    seen = steady_part(columns(rows), 2, 10)

    assert seen.found, seen.reason
    # The slower station needs ten times 50 ms, the other ten of 1 ms.
    assert seen.active_start_ns == 500 * MS
    assert 500 * MS <= seen.start_ns < seen.end_ns
    all_of_it = steady_part(columns(rows), 2, 100_000)
    assert not all_of_it.found
    assert all_of_it.reason == "a station was done with 100000 readings when all had ended"


def test_slow_beginnings_are_cut_off() -> None:
    seen = steady_part(columns(one_after_another(noisy(10 * MS, 60) + noisy(MS, 3000))), 1)

    settled_ns = sum(noisy(10 * MS, 60))
    assert seen.found, seen.reason
    # Not before it has settled, and at most one batch of five values after that.
    assert settled_ns <= seen.start_ns <= settled_ns + 70 * MS
    assert seen.end_ns > 0.95 * seen.last_end_ns


def test_slow_ends_are_cut_off() -> None:
    seen = steady_part(columns(one_after_another(noisy(MS, 3000) + noisy(10 * MS, 60))), 1)

    slow_ns = sum(noisy(MS, 3000))
    assert seen.found, seen.reason
    assert slow_ns - 70 * MS <= seen.end_ns <= slow_ns
    assert seen.start_ns < 0.05 * seen.last_end_ns


def test_response_times_that_only_rise_have_no_steady_state() -> None:
    rising = [MS + 2_000 * place for place in range(4000)]
    seen = steady_part(columns(one_after_another(rising)), 1)

    assert not seen.found and seen.ratio == 0
    assert "had not settled" in seen.reason
    # What is summed all the same is the time in which all stations worked.
    assert (seen.start_ns, seen.end_ns) == (seen.active_start_ns, seen.active_end_ns)


def test_a_station_that_never_began_leaves_no_time_for_all() -> None:
    seen = steady_part(columns(one_after_another(noisy(MS, 1000))), 2)
    assert not seen.found
    assert seen.reason == "station 1 of 2 never began an operation"
    assert (seen.start_ns, seen.end_ns) == (seen.first_start_ns, seen.last_end_ns)


def test_stations_that_were_never_at_work_together_are_named() -> None:
    rows = one_after_another(noisy(MS, 300), 0) + one_after_another(noisy(MS, 300), 1, 400 * MS)
    seen = steady_part(columns(rows), 2)
    assert not seen.found
    assert seen.reason == ("station 0 ended before station 1 began: at no time were all 2 at work")


def test_a_stall_is_not_called_steady() -> None:
    rows = one_after_another(noisy(MS, 1000), 0)
    stall = one_after_another([2500 * MS, *noisy(MS, 1000, 4)], 0, rows[-1][3])
    seen = steady_part(columns(rows + stall), 1)
    assert not seen.found and "a stall" in seen.reason
    early = one_after_another(noisy(1000, 2000), 0)
    late = one_after_another([40 * MS, *noisy(1000, 2000, 4)], 0, early[-1][3])
    stalled = steady_part(columns(early + late), 1)
    assert not stalled.found and "a stall" in stalled.reason
    assert sum(stalled.start_ns < row[3] <= stalled.end_ns for row in early + late) > 3900


def test_too_few_readings_are_reported() -> None:
    seen = steady_part(columns(one_after_another(noisy(MS, 249))), 1)
    assert not seen.found
    assert "249 good readings" in seen.reason and "it takes 250" in seen.reason
    assert steady_part(columns(one_after_another(noisy(MS, 250))), 1).found


def test_a_trial_without_readings_has_no_steady_state() -> None:
    assert steady_part(columns([]), 1).reason == "no operation was begun"


def test_failed_operations_have_no_response_time() -> None:
    rows = one_after_another(noisy(MS, 2000))
    # A hundred time-outs of a second each, at the end of which the next began.
    shifted, now = [], 0
    for place, row in enumerate(rows):
        length, outcome = row[3] - row[2], 0
        if place % 20 == 7:
            length, outcome = 1000 * MS, 1
        shifted.append((0, now, now, now + length, 0 if outcome else 750, outcome, 0))
        now += length
    assert steady_part(columns(shifted), 1).found


def test_a_published_point_of_800_readings_is_mostly_kept() -> None:
    kept = []
    for seed in range(40):
        readings = closed_queue(15, 800, service_ns=4 * MS, seed=seed)
        seen = steady_part(readings, 15)
        kept.append(seen.ratio)
    # A loaded queue fills at once: what is cut off by accident is little, and rarely all.
    assert np.median(kept) > 0.85
    assert sum(ratio == 0 for ratio in kept) <= 2


def test_the_steady_part_has_the_true_throughput() -> None:
    seen_rates = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        slow = (rng.exponential(6 * MS, 150)).astype(int).tolist()
        steady = (rng.exponential(MS, 4000)).astype(int).tolist()
        readings = columns(one_after_another(slow + steady))
        seen = steady_part(readings, 1)
        assert seen.found, seen.reason
        ends = readings["end_ns"]
        inside = np.count_nonzero((ends > seen.start_ns) & (ends <= seen.end_ns))
        seen_rates.append(inside / (seen.end_ns - seen.start_ns) * MS)
    # With the beginning left in it would be 4150 / 4900 = 0.85.
    assert np.mean(seen_rates) == pytest.approx(1, abs=0.015)


def test_the_plot_of_a_trial_has_every_good_reading() -> None:
    rows = one_after_another([MS] * 600)
    rows[10] = (*rows[10][:5], 2, 0)
    readings = columns(rows)
    seen = over_time(readings, steady_part(readings, 1), steps=60)

    step_s = 600e-3 / 60
    assert sum(rate * step_s for rate in seen["operations_per_s"]) == pytest.approx(599)
    assert seen["at_ns"][0] == 5 * MS and len(seen["at_ns"]) == 60
    assert set(seen["response_mean_ns"]) == {float(MS)}


def test_a_step_without_an_end_has_no_response_time() -> None:
    readings = columns(one_after_another([MS] * 10 + [50 * MS] + [MS] * 10))
    seen = over_time(readings, steady_part(readings, 1), steps=70)
    assert None in seen["response_mean_ns"]
    assert seen["operations_per_s"][seen["response_mean_ns"].index(None)] == 0


def test_cuts_are_the_best_allowed_ones() -> None:
    rng = np.random.default_rng(8)
    for _ in range(30):
        values = rng.normal(size=40)
        values[:6] += rng.normal(3)
        values[-4:] += rng.normal(3)
        best = min(
            (np.var(values[first : 40 - last]) / (40 - first - last), first, last)
            for first in range(21)
            for last in range(21)
            if 40 - first - last >= 5
        )
        assert best_cuts(values, 20, 20, least=5) == best[1:]


@pytest.fixture(scope="module")
def ten_million() -> dict[str, NDArray[Any]]:
    rng = np.random.default_rng(2)
    stations, each = 100, 100_000
    response = rng.exponential(100_000, (stations, each)).astype(np.int64) + 20_000
    end = np.cumsum(response, axis=1)
    start = end - response
    order = np.argsort(start.ravel(), kind="stable")
    station = np.repeat(np.arange(stations, dtype=np.uint32), each)[order]
    start, end = start.ravel()[order], end.ravel()[order]
    rows = stations * each
    return {
        "station": station,
        "intended_ns": start,
        "start_ns": start,
        "end_ns": end,
        "bytes": np.full(rows, 750, dtype=np.uint32),
        "outcome": np.zeros(rows, dtype=np.uint8),
        "attempt": np.zeros(rows, dtype=np.uint8),
    }


def test_ten_million_readings_take_below_two_seconds_of_processor(
    ten_million: dict[str, NDArray[Any]],
) -> None:
    began = time.process_time()
    seen = steady_part(ten_million, 100)
    took_s = time.process_time() - began
    assert seen.found, seen.reason
    assert took_s < 2, took_s
