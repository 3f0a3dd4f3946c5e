"""Results in words: least and most, how versions differ, and what print has."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from synthetic_runs import SyntheticRun, synthetic_run

from lanlab.report.answer.answers import sentences
from lanlab.report.trials.analyses import Analyses
from lanlab.store import RunRecord, TrialRecord

Value = Callable[[TrialRecord], float]


def streams(goodput_mbps: dict[int, float]) -> tuple[RunRecord, list[TrialRecord]]:
    """Streams over IPv4 without published values, one trial of each message size."""
    synthetic = synthetic_run("manford-kolahi", link_rate_bps=100_000_000)
    study = synthetic.study.model_dump(mode="json", exclude_none=True)
    study["experiment"] = [one for one in study["experiment"] if one["id"] == "throughput"]
    study["experiment"][0]["parameters"]["ip_version"] = 4
    study["experiment"][0]["factors"] = {"message_size_bytes": list(goodput_mbps)}
    study["scale"]["tiny"]["experiment"] = {}
    template = next(one for one in synthetic.trials if one.experiment == "throughput")
    trials = [
        replace(
            template,
            number=number,
            factors={"message_size_bytes": size},
            parameters={**template.parameters, "ip_version": 4, "message_size_bytes": size},
            metrics={**template.metrics, "goodput_bps": 1e6 * value},
        )
        for number, (size, value) in enumerate(goodput_mbps.items())
    ]
    return replace(synthetic.run, study=study), trials


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


def at(least: float, most: float, blocks: int = 12) -> Value:
    """A ratio that rises from block to block."""
    return lambda trial: least + (most - least) * (trial.block % blocks) / (blocks - 1)


def test_the_minimum_and_maximum_of_a_range_may_be_anywhere() -> None:
    [first, *_] = sentences(*streams({128: 50.0, 256: 20.0, 512: 60.0, 1408: 30.0}))

    assert first.startswith(
        "Throughput over UDP was between 20.00 Mbit/s (256 B) and 60.00 Mbit/s (512 B), from "
    )


def test_a_single_condition_is_not_a_range() -> None:
    [first, *_] = sentences(*streams({128: 5.0}))

    assert first == (
        "Throughput over UDP was 5.000 Mbit/s, 7.58 % of what this Ethernet can carry."
    )


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


def test_a_difference_within_its_interval_is_not_claimed(versions: SyntheticRun) -> None:
    ratio = at(0.99, 1.02)

    def value(trial: TrialRecord) -> float:
        return 5e7 * (ratio(trial) if trial.factors["ip_version"] == 4 else 1.0)

    [first, *_] = said(versions, "goodput_bps", value)
    # The mean and Student's interval of the twelve logarithms.
    assert first == (
        "No difference in throughput between IPv4 and IPv6 was shown at 128 B: IPv4 beyond IPv6 by "
        "+0.50 % (\N{MINUS SIGN}0.13 % … +1.1 %)."
    )


def test_a_wide_interval_shows_nothing(versions: SyntheticRun) -> None:
    ratio = at(0.2, 5.0)

    def value(trial: TrialRecord) -> float:
        return 5e7 * (ratio(trial) if trial.factors["ip_version"] == 4 else 1.0)

    [first, *_] = said(versions, "goodput_bps", value)
    assert first == (
        "12 blocks cannot show whether the throughput over IPv4 and IPv6 differs at 128 B."
    )


def test_one_block_shows_a_difference_once(versions: SyntheticRun) -> None:
    single = replace(versions, trials=[one for one in versions.trials if one.block == 0])

    [first, *_] = said(
        single, "goodput_bps", lambda trial: 1e7 * float(trial.factors["ip_version"])
    )
    assert first == (
        "The throughput over IPv4 was 33.3 % lower than over IPv6 at 128 B, seen once."
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


def test_an_analysis_that_fails_is_named_once(
    versions: SyntheticRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> list[str]:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr("lanlab.report.answer.answers.order_sentences", fail)
    collected = Analyses()
    with_parts = sentences(versions.run, versions.trials, analyses=collected)
    alone = sentences(versions.run, versions.trials)

    assert alone == [*with_parts, *collected.lines()]
    assert len(collected.failed) == 1 and "order of trials" in collected.lines()[0]
