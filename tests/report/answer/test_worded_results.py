"""Results in words: how versions differ, and what print has."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from answered import sentences
from synthetic_runs import SyntheticRun, synthetic_run

from lanlab.store import TrialRecord

Value = Callable[[TrialRecord], float]


@pytest.fixture(scope="module")
def versions() -> SyntheticRun:
    return synthetic_run("manford-kolahi", "standard", link_rate_bps=100_000_000)


def said(found: SyntheticRun, metric: str, value: Value) -> list[str]:
    """The sentences of a run whose metric has these values."""
    trials = [
        replace(trial, metrics={**trial.metrics, metric: value(trial)})
        if metric in trial.metrics
        else trial
        for trial in found.trials
    ]
    return sentences(found.run, trials)


def always(value: float) -> Value:
    return lambda trial: value


@pytest.mark.parametrize("metric", ["goodput_bps", "rtt_mean_ns"])
@pytest.mark.parametrize("four", [1.25, 0.75])
def test_versions_are_ordered_by_rates_and_times(
    versions: SyntheticRun, metric: str, four: float
) -> None:
    def value(trial: TrialRecord) -> float:
        noise = 1 + 0.001 * (trial.number % 5)
        return 5e7 * noise * (four if trial.factors["ip_version"] == 4 else 1.0)

    is_four_first = (four > 1) == (metric == "goodput_bps")
    order = "IPv4, then IPv6" if is_four_first else "IPv6, then IPv4"
    ranked = said(versions, metric, value)[metric == "rtt_mean_ns"]
    assert ranked.endswith(f", fastest first: {order}.")
