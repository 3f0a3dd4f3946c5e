"""Predictions of two runs and their tables: which conditions, which digits, which columns."""

import math
from dataclasses import replace
from typing import Any

import pytest
from model_errors import erring
from planned_runs import PlannedRun, planned_run

from lanlab.analysis.trials.attempts import condition_key
from lanlab.report.simulation.prediction_table import (
    Predicted,
    intervals_sentence,
    prediction_sentence,
    prediction_tables,
    predictions,
    with_intervals,
    with_ranges,
)
from lanlab.studies.load import load_study

STUDY = load_study("milanovic-srbljic").study
ONE = Predicted("udp-500", {"message_size_bytes": 500}, "goodput_bps", 8e6, 4e6, None, None)
KEY = "udp-500", condition_key({"message_size_bytes": 500})


@pytest.mark.parametrize(
    ("before", "after", "ratio"),
    [(8e6, 4e6, 0.5), (0.0, 4e6, None), (None, 4e6, None), (8e6, None, None), (None, None, None)],
)
def test_a_ratio_needs_both_sides(
    before: float | None, after: float | None, ratio: float | None
) -> None:
    assert replace(ONE, before=before, after=after).ratio == ratio


@pytest.mark.parametrize("lacking", [({KEY: 0.0}, {KEY: 0.7}), ({KEY: 0.7}, {KEY: 0.0})])
def test_an_ensemble_member_with_no_throughput_leaves_the_range_open(
    lacking: tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]],
) -> None:
    own = {KEY: 0.8}, {KEY: 0.4}
    (known,) = with_ranges([ONE], own, [({KEY: 0.4}, {KEY: 0.8})])
    assert known.range_before == pytest.approx((4e6, 8e6))
    assert known.range_after == pytest.approx((4e6, 8e6))
    assert known.range_ratio == pytest.approx((0.5, 2.0))
    (unknown,) = with_ranges([ONE], own, [lacking, ({KEY: 0.4}, {KEY: 0.8})])
    assert unknown == ONE
    # It hides no condition after it.
    elsewhere = replace(ONE, factors={"message_size_bytes": 9})
    absent, later = with_ranges([elsewhere, ONE], own, [({KEY: 0.4}, {KEY: 0.8})])
    assert (absent, later) == (elsewhere, known)
    nothing = replace(ONE, after=None)
    (half,) = with_ranges([nothing], own, [own])
    assert half.range_after is None and half.range_ratio is None and half.range_before is not None


def texts(one: Predicted) -> list[str]:
    (table,) = prediction_tables([one], STUDY)
    return [cell.text for cell in table.rows[0]]


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((7.28e6, 8.72e6), "1,000 (910 … 1,100)"),
        ((8e6, 1.1 * 8e6), "1,000 (1,000 … 1,100)"),
        ((7.2e6, 8.001e6), "1,000 (900 … 1,000)"),
        ((7.999e6, 8.8e6), "1,000 (1,000 … 1,100)"),
        ((7.76e6, 8.24e6), "1,000 (970 … 1,030)"),
        ((7.999e6, 8.001e6), "1,000"),
        (None, "1,000"),
    ],
)
def test_digits_of_a_value_follow_its_interval(ends: tuple[float, float] | None, text: str) -> None:
    """Three up to a factor of 1.1 between its ends, then two; an end that says the same stays."""
    assert texts(replace(ONE, interval_before=ends))[1] == text


def test_an_interval_of_a_factor_of_1_1_leaves_three_digits() -> None:
    one = replace(ONE, before=8.072e6, interval_before=(8e6, 8e6 * 1.1))
    assert texts(one)[1] == "1,010 (1,000 … 1,100)"
    wider = replace(one, interval_before=(8e6, 8e6 * 1.11))
    assert texts(wider)[1] == "1,000 (1,000 … 1,100)"


def test_each_experiment_has_its_own_table() -> None:
    causes: dict[str, Any] = {"cause_before": "wire", "cause_after": "receiver's interrupts"}
    full: dict[str, Any] = {
        "interval_before": (7e6, 9e6),
        "interval_after": (3e6, 5e6),
        "interval_ratio": (0.4, 0.6),
    }
    first = replace(ONE, **causes, **full)
    other = replace(ONE, experiment="udp-2", metric="received_ratio", before=0.5, after=None)
    table, last = prediction_tables([first, other, first], STUDY)
    assert (table.name, last.name) == ("prediction-udp-500", "prediction-udp-2")
    assert table.title == "UDP, 500-byte messages: receiving speed (kB/s)"
    assert last.title == "UDP, 2-byte messages: received data (%)"
    head = "receiving speed (kB/s)"
    assert [(c.name, c.heading, c.short, c.is_number) for c in table.columns] == [
        ("condition", "condition", "condition", False),
        ("before", f"{head}, as in the study", "as in the study", True),
        ("before_low", "", "", True),
        ("before_high", "", "", True),
        ("after", f"{head}, changed", "changed", True),
        ("after_low", "", "", True),
        ("after_high", "", "", True),
        ("ratio", "ratio", "ratio", True),
        ("ratio_low", "", "", True),
        ("ratio_high", "", "", True),
        ("limited_by", "limited by", "limited by", False),
        ("limited_by_after", "changed: limited by", "changed: limited by", False),
    ]
    assert len(table.rows) == 2 and len(last.rows) == 1
    assert [cell.value for cell in table.rows[0]] == [
        "500 B", 8e6, 7e6, 9e6, 4e6, 3e6, 5e6, 0.5, 0.4, 0.6, "wire", "receiver's interrupts",
    ]  # fmt: skip
    assert [cell.text for cell in last.rows[0]] == ["500 B", "50.0", *[""] * 10]


def test_an_interval_stays_within_the_link_and_the_offered_load(run: PlannedRun) -> None:
    """1.0 (0.79 … 1.3) kB/s was printed of 1 kB/s sent."""
    found = predictions((run.run, run.trials), (run.run, run.trials))

    bounded = with_intervals(found, erring(0.5))
    assert all(one.most_before is not None for one in bounded)
    for one in bounded:
        assert one.interval_before is not None and one.before is not None
        assert one.interval_before[1] <= max(one.before, one.most_before or 0)
    (free,) = with_intervals([replace(ONE, most_before=9e6)], erring(0.5))
    assert free.interval_before is not None and free.interval_before[1] == 9e6
    assert free.interval_after is not None and free.interval_after[1] > 6e6


@pytest.fixture(scope="module")
def run() -> PlannedRun:
    return planned_run("milanovic-srbljic", "tiny", where="simulated")


def test_predictions_use_the_first_metric_of_each_condition(run: PlannedRun) -> None:
    trials = [
        replace(trial, metrics={**trial.metrics, "goodput_bps": 2 * trial.metrics["goodput_bps"]})
        for trial in run.trials
    ]
    gone = trials[0].experiment, condition_key(trials[0].factors)
    kept = [one for one in trials if (one.experiment, condition_key(one.factors)) != gone]
    found = predictions((run.run, run.trials), (run.run, kept))
    keys = [(one.experiment, condition_key(one.factors)) for one in found]
    conditions = {(one.experiment, condition_key(one.factors)) for one in run.trials}
    assert len(keys) == len(set(keys)) and set(keys) == conditions
    assert {one.metric for one in found} == {"goodput_bps"}
    for key, one in zip(keys, found, strict=True):
        assert one.ratio == (None if key == gone else 2.0)
        assert one.before is not None and (one.after is None) == (key == gone)
        assert (one.cause_before, one.cause_after) == (None, None)


def test_the_limiting_part_comes_from_the_condition_trials(
    run: PlannedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "lanlab.report.simulation.prediction_table.cause_of",
        lambda trials: ",".join(sorted({f"{one.experiment}{one.factors}" for one in trials})),
    )
    changed = [replace(one, experiment=one.experiment) for one in run.trials]
    for one in predictions((run.run, run.trials), (run.run, changed)):
        assert one.cause_before == one.cause_after == f"{one.experiment}{one.factors}"


def test_searches_are_not_predicted() -> None:
    found = planned_run("milanovic-srbljic", "tiny", where="real")
    searched = {one.id for one in STUDY.experiment if one.search is not None}
    experiments = [
        one.id for one in STUDY.experiment if one.id in {t.experiment for t in found.trials}
    ]
    assert searched & set(experiments)
    predicted = predictions((found.run, found.trials), (found.run, found.trials))
    wanted = [one for one in experiments if one not in searched]
    assert list(dict.fromkeys(one.experiment for one in predicted)) == wanted


def test_one_sentence_states_the_effect_of_a_change() -> None:
    changed = replace(ONE, interval_ratio=(0.4, 0.6))
    other = replace(ONE, experiment="udp-2", before=8e6, after=7e6, interval_ratio=(0.8, 1.1))
    assert prediction_sentence([changed, other], STUDY, "half the clock") == (
        "Half the clock: receiving speed 0.50 \N{MULTIPLICATION SIGN} (UDP, 500-byte messages, "
        "500 B); everything else stays within the model's error."
    )
    assert prediction_sentence([other], STUDY, "half the clock") == (
        "Half the clock: everything stays within the model's error."
    )
    assert "no difference is shown" in prediction_sentence([ONE], STUDY, "half the clock")


def test_a_change_without_an_effect_or_a_result_is_no_difference() -> None:
    same, none = replace(ONE, after=ONE.before), replace(ONE, after=None)
    nothing = replace(ONE, after=0.0)
    assert prediction_sentence([same], STUDY, "b") == "B: changes no simulated result."
    assert prediction_sentence([none], STUDY, "b") == "B: no condition has results of both sides."
    other = replace(ONE, experiment="udp-2", before=8e6, after=7e6, interval_ratio=(0.8, 1.1))
    said = prediction_sentence([nothing, other, none], STUDY, "b")
    assert said.startswith("B: receiving speed 0 \N{MULTIPLICATION SIGN} (UDP, 500-byte messages")
    assert said.endswith("stays within the model's error; 1 condition without a result.")
    risen, still = replace(ONE, before=0.0, after=7040.0), replace(ONE, before=0.0, after=0.0)
    assert prediction_sentence([risen, other, still], STUDY, "b") == (
        "B: receiving speed 0.88 kB/s instead of 0 (UDP, 500-byte messages, 500 B); "
        "everything else stays within the model's error."
    )
    assert prediction_sentence([still], STUDY, "b") == "B: changes no simulated result."


def test_each_metric_of_a_prediction_has_its_own_error() -> None:
    """Without a known error of one metric, its changes show nothing; those of another do."""
    changed = replace(ONE, interval_ratio=(0.4, 0.6))
    unknown = replace(ONE, experiment="tcp-500", metric="rtt_mean_ns")
    said = prediction_sentence([changed, unknown], STUDY, "half the clock")
    assert said.endswith(
        "; everything else stays within the model's error; the model's error of round-trip time is "
        "not known."
    )


def test_a_range_is_around_the_mean_of_the_run() -> None:
    own = {KEY: 7e6}, {KEY: 3.5e6}
    more = {KEY: 7.7e6}, {KEY: 3.85e6}
    other = {KEY: 7e6}, {KEY: 1.75e6}
    (found,) = with_ranges([ONE], own, [more, other])
    assert found.range_before is not None and found.range_after is not None
    assert [round(end) for end in found.range_before] == [8_000_000, 8_800_000]
    assert [round(end) for end in found.range_after] == [2_000_000, 4_400_000]
    # A machine that is faster on both sides changes no ratio.
    assert found.range_ratio is not None
    assert [round(end, 9) for end in found.range_ratio] == [0.25, 0.5]


def test_prediction_intervals_include_the_model_error() -> None:
    found = replace(ONE, range_before=(8e6, 8e6 * math.exp(0.4)))
    (wide,) = with_intervals([found], erring(0.3))
    assert wide.interval_before == pytest.approx((8e6 * math.exp(-0.3), 8e6 * math.exp(0.5)))
    assert wide.interval_after == pytest.approx((4e6 * math.exp(-0.3), 4e6 * math.exp(0.3)))
    both = 0.3 * math.sqrt(2)
    assert wide.interval_ratio == pytest.approx((0.5 * math.exp(-both), 0.5 * math.exp(both)))
    (same,) = with_intervals([replace(ONE, after=8e6)], erring(0.3))
    assert same.interval_ratio is None and same.interval_after is not None
    assert with_intervals([found], []) == [found]
    # The error of round-trip times says nothing about another metric.
    assert with_intervals([found], erring(0.3, "rtt_mean_ns")) == [found]
    (nothing,) = with_intervals([replace(ONE, before=0.0, after=None)], erring(0.3))
    assert nothing.interval_before is None and nothing.interval_after is None


def test_the_sources_of_intervals_are_reported() -> None:
    assert "was not simulated" in intervals_sentence(0)
    assert "on 1 other set of machine numbers that also fit" in intervals_sentence(1)
    assert "on 6 other sets of machine numbers that also fit" in intervals_sentence(6)


def test_digits_in_the_table_follow_the_interval() -> None:
    own = {KEY: 7e6}, {KEY: 3.5e6}
    more = {KEY: 7e6}, {KEY: 3.5001e6}
    ranged = with_ranges([ONE], own, [more])
    (table,) = prediction_tables(with_intervals(ranged, erring(0.03)), STUDY)
    assert table.title.endswith("(kB/s)")
    texts = [cell.text for cell in table.rows[0]]
    assert "1,000 (970 … 1,030)" in texts and "500 (485 … 515)" in texts
    (table,) = prediction_tables(with_intervals(ranged, erring(0.25)), STUDY)
    texts = [cell.text for cell in table.rows[0]]
    assert "1,000 (780 … 1,300)" in texts and "0.50 (0.35 … 0.71)" in texts
    (table,) = prediction_tables(with_intervals(ranged, []), STUDY)
    texts = [cell.text for cell in table.rows[0]]
    assert "1,000" in texts and "0.500" in texts
    names = [column.name for column in table.columns]
    assert {"before_low", "before_high", "after_low", "ratio_high"} <= set(names)
