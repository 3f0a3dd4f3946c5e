"""What a fit leaves open of a prediction: the range over machines that agree with print."""

import math
from dataclasses import replace

import pytest
from model_errors import erring

from lanlab.analysis.trials.attempts import condition_key
from lanlab.report.simulation.prediction_table import (
    Predicted,
    intervals_sentence,
    prediction_tables,
    with_intervals,
    with_ranges,
)
from lanlab.studies.load import load_study

FACTORS = {"message_size_bytes": 500}
KEY = "udp", condition_key(dict(FACTORS))
ONE = Predicted("udp", dict(FACTORS), "goodput_bps", 8e6, 4e6, None, None)


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
    # Another metric has an error of its own.
    assert with_intervals([found], erring(0.3, "rtt_mean_ns")) == [found]
    (nothing,) = with_intervals([replace(ONE, before=0.0, after=None)], erring(0.3))
    assert nothing.interval_before is None and nothing.interval_after is None


def test_the_sources_of_intervals_are_reported() -> None:
    assert "was not simulated" in intervals_sentence(0)
    assert "on 1 other set of machine numbers that also fit" in intervals_sentence(1)
    assert "on 6 other sets of machine numbers that also fit" in intervals_sentence(6)


def test_digits_in_the_table_follow_the_interval() -> None:
    study = load_study("milanovic-srbljic").study
    experiment = study.experiment[0].id
    key = experiment, condition_key(dict(FACTORS))
    one = Predicted(experiment, dict(FACTORS), "goodput_bps", 8e6, 4e6, None, None)
    own = {key: 7e6}, {key: 3.5e6}
    more = {key: 7e6}, {key: 3.5001e6}
    ranged = with_ranges([one], own, [more])
    (table,) = prediction_tables(with_intervals(ranged, erring(0.03)), study)
    assert table.title.endswith("(kB/s)")
    texts = [cell.text for cell in table.rows[0]]
    assert "1,000 (970 … 1,030)" in texts and "500 (485 … 515)" in texts
    (table,) = prediction_tables(with_intervals(ranged, erring(0.25)), study)
    texts = [cell.text for cell in table.rows[0]]
    assert "1,000 (780 … 1,300)" in texts and "0.50 (0.35 … 0.71)" in texts
    (table,) = prediction_tables(with_intervals(ranged, []), study)
    texts = [cell.text for cell in table.rows[0]]
    assert "1,000" in texts and "0.500" in texts
    names = [column.name for column in table.columns]
    assert {"before_low", "before_high", "after_low", "ratio_high"} <= set(names)
