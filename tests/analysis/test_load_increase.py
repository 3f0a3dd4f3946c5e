"""By how much round trips grow under load: within blocks, and from the trials that count."""

from __future__ import annotations

from typing import Any

import pytest

from lanlab.analysis.load_increase import load_results
from lanlab.analysis.statistics import mean_interval
from lanlab.store import TrialRecord


def trial(number: int, block: int, load: str, rtt_ms: float, **more: Any) -> TrialRecord:
    """A trial whose round trips all take the same time."""
    rtt = dict.fromkeys(("rtt_p50_ns", "rtt_p99_ns", "rtt_mean_ns"), rtt_ms * 1e6)
    counts = {"offered_requests": 100, "replies": 100}
    values: dict[str, Any] = {
        "run_id": "r",
        "number": number,
        "experiment": "scan",
        "workload": "load",
        "factors": {"load": load, **more.pop("factors", {})},
        "parameters": {"load": load},
        "block": block,
        "purpose": "trial",
        "status": "done",
        "started_at": "",
        "elapsed_s": 1.0,
        "metrics": rtt | counts | more.pop("metrics", {}),
        "raw": {},
        "error": None,
    }
    return TrialRecord(**values | more)


def test_an_increase_is_counted_within_blocks() -> None:
    """Each block is slower than the one before, alone and under load: only what load adds counts,
    where two means with their spread would show nothing."""
    added = (10.0, 11.0, 12.0)
    trials = [
        each
        for block, grown in enumerate(added)
        for each in (
            trial(2 * block, block, "none", 100.0 * block + 1),
            trial(2 * block + 1, block, "up", 100.0 * block + 1 + grown),
        )
    ]
    (found,) = load_results(trials, "scan")

    assert found.median is not None
    expected = mean_interval([1e6 * each for each in added])
    assert found.median.mean == pytest.approx(11e6)
    assert (found.median.low, found.median.high) == pytest.approx((expected.low, expected.high))
    assert (found.median.alone, found.median.under_load) == pytest.approx((101e6, 112e6))
    assert found.median.blocks == 3
    assert found.echo_round_trips_per_minute == pytest.approx(60e9 / 112e6)
    told = found.to_json()
    assert told["round_trips_per_minute"] == told["echo_round_trips_per_minute"]


def test_a_block_that_lacks_one_of_both_is_not_compared() -> None:
    """Nor is a failed trial: the increase is of the other blocks, and one has no interval."""
    trials = [
        trial(0, 0, "none", 1),
        trial(1, 0, "both", 5),
        trial(2, 1, "both", 900),
        trial(3, 2, "none", 1),
        trial(4, 2, "both", 700, status="failed"),
    ]
    (found,) = load_results(trials, "scan")

    assert found.median is not None
    assert (found.median.mean, found.median.low, found.median.blocks) == (4e6, None, 1)
    assert found.trials == 2


def test_loads_are_compared_with_the_echo_of_their_own_condition() -> None:
    """Of the same levels of all other factors; without one there is nothing to compare with."""
    few, many = {"flows": 1}, {"flows": 8}
    trials = [
        trial(0, 0, "none", 1, factors=few),
        trial(1, 0, "up", 3, factors=few, metrics={"goodput_bps": 8e6}),
        trial(2, 0, "up", 9, factors=many, metrics={"replies": 50}),
        trial(3, 0, "down", 2, factors=few, metrics={"reverse_goodput_bps": 7e6}),
    ]
    up, down, alone = load_results(trials, "scan")

    assert up.median is not None and down.median is not None
    assert (up.median.mean, down.median.mean) == (2e6, 1e6)
    assert (up.goodput_bps, down.goodput_bps) == ({"up": 8e6}, {"down": 7e6})
    assert alone.factors == many and alone.median is None
    assert (alone.loss_ratio, alone.loss_alone_ratio) == (0.5, None)
