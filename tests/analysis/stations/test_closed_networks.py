"""Bounds and mean values of closed networks, beside examples that others have printed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lanlab.analysis.stations import (
    Queue,
    asymptotic_bounds,
    balanced_job_bounds,
    knee_stations,
    mean_values,
)
from lanlab.errors import UsageError


def demands(service: list[float], visits: list[float]) -> list[Queue]:
    return [Queue(s * v) for s, v in zip(service, visits, strict=True)]


def test_the_interactive_system_of_jain() -> None:
    """R. Jain, "The Art of Computer Systems Performance Analysis", 1991, example 34.2."""
    visits = [16.0, 10.0, 5.0]
    seen = mean_values(demands([0.125, 0.3, 0.2], visits), 20, think_s=4)
    assert seen.queue_lengths == pytest.approx([1.991, 16.177, 0.500], abs=1e-3)
    assert seen.residence_s / visits == pytest.approx([0.373, 4.854, 0.300], abs=1e-3)


def test_the_central_server_of_bolch() -> None:
    """G. Bolch and others, "Queueing Networks and Markov Chains", example 8.3."""
    visits = [1, 0.4, 0.2, 0.1]
    seen = mean_values(demands([0.02, 0.2, 0.4, 0.6], visits), 6)
    assert seen.throughput_per_s[-1] == pytest.approx(9.920, abs=1e-3)
    assert seen.queue_lengths == pytest.approx([0.244, 2.261, 2.261, 1.234], abs=1e-3)
    assert seen.residence_s / visits == pytest.approx([0.025, 0.570, 1.140, 1.244], abs=1e-3)


def test_several_servers_and_a_delay_of_bolch() -> None:
    """The same, example 8.4: two servers at the first queue, and a station without a queue."""
    queues = [Queue.of_servers(0.5, 2), Queue(0.3), Queue(0.4), Queue.of_servers(1.0, 3)]
    seen = mean_values(queues, 3)
    assert seen.queue_lengths == pytest.approx([0.624, 0.473, 0.686, 1.217], abs=1e-3)
    assert seen.throughput_per_s[-1] == pytest.approx(1.218, abs=1e-3)
    # The station without a queue is a think time as well.
    without = mean_values(queues[:3], 3, think_s=1.0)
    assert without.throughput_per_s == pytest.approx(seen.throughput_per_s, rel=1e-12)
    assert without.queue_lengths == pytest.approx(seen.queue_lengths[:3], rel=1e-12)


def test_rates_by_number_of_bolch() -> None:
    """The same, example 8.1, which is solved there by convolution."""
    queues = [
        Queue.of_servers(1 / 0.8, 2),
        Queue(0.667 / 0.6, (1.0, 2.0, 3.0)),
        Queue(0.2 / 0.4),
    ]
    seen = mean_values(queues, 3)
    visits = np.array([1, 0.667, 0.2])
    assert seen.throughput_per_s[-1] * visits == pytest.approx([0.945, 0.630, 0.189], abs=1e-3)
    assert seen.queue_lengths == pytest.approx([1.290, 1.050, 0.660], abs=1e-3)
    assert seen.residence_s / visits == pytest.approx([1.366, 1.667, 3.496], abs=1e-3)


def test_recursion_and_convolution_agree() -> None:
    own = [0.02, 0.08, 0.08, 0.06]
    constant = mean_values([Queue(one) for one in own], 60, think_s=0.5)
    # A queue of two equal rates is as good as one of a single rate, and goes the other way.
    other = mean_values([*(Queue(one) for one in own), Queue(1e-12, (1.0, 2.0))], 60, think_s=0.5)
    assert other.throughput_per_s == pytest.approx(constant.throughput_per_s, rel=1e-9)
    assert other.response_s == pytest.approx(constant.response_s, rel=1e-9)
    assert other.queue_lengths[:4] == pytest.approx(constant.queue_lengths, rel=1e-9)


@pytest.mark.parametrize("stations", [1, 20, 90, 400])
def test_machines_and_repairmen_have_their_closed_form_however_saturated(stations: int) -> None:
    """M/M/8//N by its birth and death equations: where recursions with probabilities fail."""
    service, think, servers = 4.0, 10.0, 8
    seen = mean_values([Queue.of_servers(service, servers)], stations, think_s=think)
    logs = [0.0]
    for n in range(1, stations + 1):
        born, dies = (stations - n + 1) / think, min(n, servers) / service
        logs.append(logs[-1] + math.log(born / dies))
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    rate = float(weights @ np.minimum(np.arange(stations + 1), servers)) / service
    assert seen.throughput_per_s[-1] == pytest.approx(rate, rel=1e-9)
    assert seen.queue_lengths[0] == pytest.approx(
        float(weights @ np.arange(stations + 1)), rel=1e-8
    )


def test_a_network_keeps_to_littles_law_and_within_its_bounds() -> None:
    own, think = [1.0, 1.6, 2.4, 0.5], 3.0
    seen = mean_values([Queue(one) for one in own], 50, think_s=think)
    for n in range(1, 51):
        rate, response = seen.throughput_per_s[n - 1], seen.response_s[n - 1]
        assert rate * (response + think) == pytest.approx(n)
        wide = asymptotic_bounds(own, think, n)
        narrow = balanced_job_bounds(own, think, n)
        for bounds in (wide, narrow):
            assert bounds.throughput_low <= rate * (1 + 1e-9)
            assert rate <= bounds.throughput_high * (1 + 1e-9)
            assert bounds.response_low <= response * (1 + 1e-9)
            assert response <= bounds.response_high * (1 + 1e-9)
        assert narrow.throughput_low >= wide.throughput_low * (1 - 1e-9)
        assert narrow.throughput_high <= wide.throughput_high * (1 + 1e-9)


def test_a_balanced_network_lies_on_its_balanced_job_bounds() -> None:
    seen = mean_values([Queue(0.5)] * 4, 30)
    for n in (1, 7, 30):
        bounds = balanced_job_bounds([0.5] * 4, 0.0, n)
        assert bounds.throughput_low == pytest.approx(seen.throughput_per_s[n - 1])
        assert bounds.throughput_high == pytest.approx(seen.throughput_per_s[n - 1])


def test_the_bounds_of_bolch_and_the_novell_server_at_sixty_stations() -> None:
    # Bolch, example 9.6, as octave's queueing package has it.
    bounds = asymptotic_bounds([9.2, 8.0], 120, 20)
    assert (bounds.throughput_high, bounds.response_low) == (
        pytest.approx(0.109, abs=1e-3),
        pytest.approx(64, abs=1e-3),
    )
    # 1.5 Mbit/s of 750 octets are 4 ms each.
    assert asymptotic_bounds([0.004], 0, 60).response_low == pytest.approx(0.240)


def test_the_knee_is_where_the_asymptotes_meet() -> None:
    own, think = [0.03, 0.01, 0.02], 0.24
    knee = knee_stations(own, think)
    assert knee == pytest.approx(10)
    assert asymptotic_bounds(own, think, 10).throughput_high == pytest.approx(1 / 0.03)
    assert asymptotic_bounds(own, think, 9).throughput_high < 1 / 0.03


def test_one_station_waits_for_nobody() -> None:
    seen = mean_values([Queue(0.2), Queue.of_servers(0.3, 4)], 1, think_s=0.5)
    assert seen.response_s[0] == pytest.approx(0.5)
    assert seen.throughput_per_s[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("queues", "stations", "think_s"),
    [
        ([], 1, 0.0),
        ([Queue(0.1)], 0, 0.0),
        ([Queue(0.1)], 200_000, 0.0),
        ([Queue(0.1, (1.0, 2.0))], 20_000, 0.0),
        ([Queue(0.0)], 1, 0.0),
        ([Queue(0.1, ())], 1, 0.0),
        ([Queue(0.1, (1.0, 0.0))], 1, 0.0),
        ([Queue(0.1)], 1, -1.0),
        ([Queue(math.inf)], 1, 0.0),
    ],
)
def test_networks_that_cannot_be_are_refused(
    queues: list[Queue], stations: int, think_s: float
) -> None:
    with pytest.raises(UsageError):
        mean_values(queues, stations, think_s=think_s)


def test_demands_that_cannot_be_are_refused() -> None:
    for wrong in ([], [0.0], [-1.0, 2.0], [math.nan]):
        with pytest.raises(UsageError):
            asymptotic_bounds(wrong, 0.0, 1)
    with pytest.raises(UsageError):
        knee_stations([1.0], -1.0)
    with pytest.raises(UsageError):
        balanced_job_bounds([1.0], 0.0, 0)
