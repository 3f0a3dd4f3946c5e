"""What a fit leaves open of a prediction: the range over machines that agree with print."""

from __future__ import annotations

from lanlab.analysis.summary import condition_key
from lanlab.report.prediction_table import Predicted, prediction_tables, with_ranges
from lanlab.studies import load_study

FACTORS = {"message_size_bytes": 500}
KEY = "udp", condition_key(dict(FACTORS))
ONE = Predicted("udp", dict(FACTORS), "goodput_bps", 8e6, 4e6, None, None)


def test_a_range_is_around_the_mean_of_the_run() -> None:
    """A machine with a tenth more, and one that a change halves again."""
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


def test_what_a_machine_has_no_value_of_is_not_known() -> None:
    """No range is made of the other machines alone."""
    own = {KEY: 7e6}, {KEY: 3.5e6}
    (found,) = with_ranges([ONE], own, [own, ({KEY: 7e6}, {})])
    assert found.range_before is None and found.range_ratio is None


def test_the_table_has_three_digits_and_the_range_where_it_shows() -> None:
    """Its ends stand in CSV at full precision."""
    study = load_study("milanovic-srbljic").study
    experiment = study.experiment[0].id
    key = experiment, condition_key(dict(FACTORS))
    one = Predicted(experiment, dict(FACTORS), "goodput_bps", 8e6, 4e6, None, None)
    own = {key: 7e6}, {key: 3.5e6}
    more = {key: 7.7e6}, {key: 3.5001e6}
    (table,) = prediction_tables(with_ranges([one], own, [more]), study)
    texts = [cell.text for cell in table.rows[0]]
    assert "1,000 (1,000 … 1,100)" in texts and "500" in texts and "0.500 (0.455 … 0.500)" in texts
    names = [column.name for column in table.columns]
    assert {"before_low", "before_high", "after_low", "ratio_high"} <= set(names)
