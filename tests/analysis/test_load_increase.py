"""By how much round trips grow under load: within blocks, and from the trials that count."""

import dataclasses
from typing import Any

import pytest

from lanlab.analysis.statistics.intervals import mean_interval
from lanlab.analysis.traffic.load_increase import load_results
from lanlab.report.presentations.load import load_sentence
from lanlab.store import TrialRecord
from lanlab.studies.model import Study


def trial(number: int, block: int, load: str, rtt_ms: float, **more: Any) -> TrialRecord:
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


def test_incomplete_blocks_are_not_compared() -> None:
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


def test_each_statistic_is_compared_and_three_blocks_have_an_interval() -> None:
    trials = [
        each
        for block in (0, 1, 2)
        for each in (
            trial(2 * block, block, "none", 1.0),
            trial(
                2 * block + 1,
                block,
                "down",
                1.0,
                metrics={
                    "rtt_p50_ns": 2e6 + block,
                    "rtt_p99_ns": 9e6 + block,
                    "rtt_mean_ns": 4e6 + block,
                    "goodput_bps": 8e6 - 1e6 * block,
                    "reverse_goodput_bps": 3e6 + 5e5 * block,
                },
            ),
        )
    ]
    (found,) = load_results(trials, "scan")

    assert found.median is not None and found.p99 is not None and found.mean is not None
    assert (found.experiment, found.load, found.factors) == ("scan", "down", {})
    means = [one.mean for one in (found.median, found.p99, found.mean)]
    assert means == pytest.approx([1e6 + 1, 8e6 + 1, 3e6 + 1])
    expected = mean_interval([8e6, 8e6 + 1, 8e6 + 2])
    assert (found.p99.low, found.p99.high) == pytest.approx((expected.low, expected.high))
    assert (found.p99.alone, found.p99.under_load) == pytest.approx((1e6, 9e6 + 1))
    assert found.goodput_bps == pytest.approx({"up": 7e6, "down": 3.5e6})
    assert found.trials == 3 and found.p99.blocks == 3
    assert found.p99.mean == pytest.approx(8e6 + 1)
    (two,) = load_results([one for one in trials if one.block < 2], "scan")
    assert two.p99 is not None and (two.p99.low, two.p99.high) == (None, None)


def test_losses_are_shares_of_all_requests_with_and_without_load() -> None:
    answered = {"offered_requests": 300, "replies": 270}
    trials = [
        trial(0, 0, "none", 1),
        trial(1, 1, "none", 1, metrics=answered),
        trial(2, 0, "up", 2, metrics={"replies": 60}),
        trial(3, 1, "up", 2, metrics={"offered_requests": 100, "replies": 40}),
        trial(4, 2, "up", 2),
    ]
    uncounted = {"rtt_p50_ns": 2e6, "rtt_p99_ns": 2e6, "rtt_mean_ns": 2e6}
    trials[4] = dataclasses.replace(trials[4], metrics=uncounted)
    (found,) = load_results(trials, "scan")

    assert found.loss_alone_ratio == pytest.approx(1 - 370 / 400)
    assert found.loss_ratio == pytest.approx(1 - 100 / 200)
    (nothing,) = load_results([trials[4]], "scan")
    assert (nothing.loss_ratio, nothing.loss_alone_ratio) == (None, None)
    assert nothing.mean is None and nothing.goodput_bps == {}
    assert nothing.echo_round_trips_per_minute == pytest.approx(60e9 / 2e6)
    unmeasured = dataclasses.replace(trials[4], metrics={})
    (unknown,) = load_results([unmeasured], "scan")
    assert unknown.echo_round_trips_per_minute is None


def test_only_loads_of_the_experiment_are_compared_in_fixed_order() -> None:
    trials = [
        trial(number, 0, load, number + 1.0, factors={"flows": 2, "size": 64})
        for number, load in enumerate(("both", "none", "down", "up"))
    ]
    others = [
        trial(9, 0, "up", 500, experiment="other"),
        trial(10, 0, "up", 500, workload="echo"),
    ]
    found = load_results([*trials, *others], "scan")

    assert [one.load for one in found] == ["up", "down", "both"]
    assert all(one.factors == {"flows": 2, "size": 64} and one.trials == 1 for one in found)
    assert [one.mean.mean for one in found if one.mean is not None] == [2e6, 1e6, -1e6]


@pytest.mark.parametrize(("blocks", "words"), [(1, "1 block"), (2, "2 blocks")])
def test_blocks_without_an_interval_are_counted(blocks: int, words: str) -> None:
    trials = [
        trial(2 * block + place, block, load, rtt_ms)
        for block in range(blocks)
        for place, (load, rtt_ms) in enumerate((("none", 5.0), ("up", 7.0)))
    ]
    study = Study.model_validate({"schema": 1, "id": "s", "title": "S"})
    (found,) = load_results(trials, "scan")

    said = f"Under load up, the median round trip took 2.00 ms more, by {words}, too few for an"
    assert load_sentence(found, study).startswith(said)


def test_a_decrease_is_called_less() -> None:
    trials = [
        trial(2 * block + place, block, load, rtt_ms)
        for block in range(3)
        for place, (load, rtt_ms) in enumerate((("none", 5.0 + block % 2), ("up", 3.0)))
    ]
    study = Study.model_validate({"schema": 1, "id": "s", "title": "S"})
    (found,) = load_results(trials, "scan")

    assert found.median is not None and found.median.low is not None
    assert load_sentence(found, study).startswith(
        "Under load up, the median round trip took 2.33 ms less (95 % 0.899 … 3.77, 3 blocks): "
        "3.00 ms instead of 5.33 ms"
    )
