"""Trials that hang together in their order are seen, and those that do not are left alone."""

import math
from dataclasses import replace

import numpy as np
import pytest
from answered import sentences
from planned_runs import PlannedRun, planned_run

from lanlab.analysis.statistics import neighbours
from lanlab.analysis.trials.order import LEAST_TRIALS, lag_one
from lanlab.store import TrialRecord


def chain(correlation: float, count: int, seed: int) -> list[float]:
    random = np.random.default_rng(seed)
    logs = [float(random.normal())]
    for each in random.normal(0, 1, count - 1):
        logs.append(correlation * logs[-1] + math.sqrt(1 - correlation**2) * float(each))
    return [1e6 * math.exp(0.05 * log) for log in logs]


@pytest.mark.parametrize(
    ("correlation", "count", "least", "most"),
    [(0.0, 12, 0.0, 0.06), (0.0, 40, 0.02, 0.08), (0.6, 20, 0.62, 0.82), (0.6, 40, 0.93, 1.0)],
)
def test_correlation_is_detected_as_often_as_stated(
    correlation: float, count: int, least: float, most: float
) -> None:
    draws = 400
    seen = 0
    for seed in range(draws):
        found = lag_one("goodput_bps", chain(correlation, count, seed))
        assert found is not None
        seen += found[1] <= 0.05
    assert least <= seen / draws <= most


def test_intervals_widen_from_the_stated_number_of_trials() -> None:
    assert LEAST_TRIALS == neighbours.LEAST_TRIALS


def test_equal_trials_show_no_correlation() -> None:
    assert lag_one("goodput_bps", [1e6] * 20) is None
    found = lag_one("received_ratio", [0.0] * 6 + [0.5] * 6)
    assert found is not None and found[0] > 0.7


@pytest.fixture(scope="module")
def twelve() -> PlannedRun:
    return planned_run("manford-kolahi", "standard", 100_000_000, where="real")


def test_a_run_names_conditions_with_correlated_trials(twelve: PlannedRun) -> None:
    trials = [one for one in twelve.trials if one.experiment == "throughput"]
    first = trials[0].factors
    own = [one for one in trials if one.factors == first]
    assert len(own) >= LEAST_TRIALS
    order = {one.number: place for place, one in enumerate(own)}

    def changed(trial: TrialRecord, *, hangs: bool) -> TrialRecord:
        place = order.get(trial.number, trial.number)
        # Half of them slow, one after the other, or in turns of two and one.
        is_slow = place < len(own) // 2 if hangs and trial.number in order else place * 7 % 3 == 0
        rate = float(trial.metrics["goodput_bps"]) * (0.9 if is_slow else 1.0)
        return replace(trial, metrics={**trial.metrics, "goodput_bps": rate})

    told = {
        hangs: [
            one
            for one in sentences(
                twelve.run, [changed(one, hangs=hangs) for one in trials], twelve.published
            )
            if "autocorrelated" in one
        ]
        for hangs in (True, False)
    }
    assert told[False] == []
    (said,) = told[True]
    assert "in 1 of " in said and "the 95 % interval is widened" in said
