"""Results in words: how versions differ, and what print has."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from synthetic_runs import SyntheticRun, synthetic_run

from lanlab.report.answer.answers import sentences
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


@pytest.mark.parametrize(
    ("metric", "four", "difference"),
    [
        ("goodput_bps", 1.25, "25.0 % higher"),
        ("goodput_bps", 0.75, "25.0 % lower"),
        ("rtt_mean_ns", 1.25, "25.0 % longer"),
        ("rtt_mean_ns", 0.75, "25.0 % shorter"),
    ],
)
def test_versions_differ_upwards_or_downwards_in_rates_and_times(
    versions: SyntheticRun, metric: str, four: float, difference: str
) -> None:
    def value(trial: TrialRecord) -> float:
        return 5e7 * (four if trial.factors["ip_version"] == 4 else 1.0)

    name = "throughput" if metric == "goodput_bps" else "round-trip time"
    assert f"The {name} over IPv4 was {difference} than over IPv6 at 128 B." in said(
        versions, metric, value
    )


def test_published_means_are_compared_from_the_least_ratio_to_the_greatest(
    versions: SyntheticRun,
) -> None:
    # Print has 58.8, 69.1, 75.6, 79.8 and 86.0 Mbit/s.
    means = [
        text
        for scale in (1.0, 10.0, 0.001)
        for text in said(versions, "goodput_bps", always(4e7 * scale))
        if "means of throughput" in text
    ]

    assert [text.partition("; ours are ")[2] for text in means] == [
        "0.465 to 0.680 times these.",
        "4.65 to 6.80 times these.",
        "0.047 to 0.068 % of these.",
    ]


def test_a_single_published_mean_is_named(versions: SyntheticRun) -> None:
    condition = {"ip_version": 4, "message_size_bytes": 384}
    few = replace(versions, trials=[one for one in versions.trials if one.factors == condition])

    assert (
        "The study published one mean throughput at these conditions; ours is 0.501 times it."
        in said(few, "goodput_bps", always(4e7))
    )
