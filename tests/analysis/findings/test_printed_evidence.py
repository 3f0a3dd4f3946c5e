"""What a publication's numbers become: conditions, shares and lost trials; and how it is worded."""

import dataclasses
import math
from typing import Any

import pytest

from lanlab.analysis.findings.contrast import contrast
from lanlab.analysis.findings.judge import judge_published
from lanlab.analysis.findings.published_evidence import PublishedEvidence
from lanlab.analysis.findings.sample import PrintedNumber, PrintedSpread, Trials
from lanlab.studies.load import load_study
from lanlab.studies.published import MissingValue, Published, PublishedValue

RUNS = {"metric": "trials", "statistic": "fact", "value": 40.0, "si": 40.0, "si_unit": "count"}


def value(identifier: str, **fields: Any) -> PublishedValue:
    """A printed goodput in Mbit/s at one size, with some fields changed."""
    number = fields.pop("value", 10.0)
    given = {
        "id": identifier,
        "metric": "goodput_bps",
        "statistic": "mean",
        "published": str(number),
        "value": number,
        "unit": "Mbit/s",
        "si": number * 1e6,
        "si_unit": "bit/s",
        "where": "Table 1",
        "condition": {"message_size_bytes": 500},
        **fields,
    }
    return PublishedValue.model_validate(given)


def printed(*values: PublishedValue, missing: tuple[MissingValue, ...] = ()) -> PublishedEvidence:
    loaded = load_study("milanovic-srbljic")
    published = Published.model_validate({"schema": 1}).model_copy(
        update={"value": values, "missing": missing}
    )
    return PublishedEvidence(dataclasses.replace(loaded, published=published))


@pytest.mark.parametrize(
    ("feasible", "fills"),
    [
        # In steps of the last digit, where that is few numbers.
        ((10.0, 12.0), (10e6, 11e6, 12e6)),
        # In eight equal steps at most: nine numbers.
        ((10.0, 90.0), tuple(1e6 * at for at in range(10, 91, 10))),
    ],
)
def test_a_lost_trial_is_tried_at_nine_values_at_most(
    feasible: tuple[float, float], fills: tuple[float, ...]
) -> None:
    trials = [
        value(
            f"t{number}",
            statistic="trial",
            published=text,
            value=float(text),
            condition={"message_size_bytes": 500, "trial": number},
        )
        for number, text in [(1, "50"), (3, "60")]
    ]
    lost = MissingValue.model_validate(
        {
            "id": "lost",
            "metric": "goodput_bps",
            "statistic": "trial",
            "published": "",
            "unit": "Mbit/s",
            "where": "Table 1",
            "condition": {"message_size_bytes": 500, "trial": 2},
            "status": "missing",
            "feasible": feasible,
        }
    )
    [cell] = printed(*trials, missing=(lost,)).at_conditions("goodput_bps")
    assert isinstance(cell.sample, Trials)
    assert cell.sample.values == (50e6, 60e6)
    assert cell.sample.positions == (1, 3)
    assert cell.sample.resolution == 1e6
    [(found, position)] = cell.sample.missing
    assert found == pytest.approx(fills)
    assert position == 2


def test_published_trials_share_the_coarsest_step_and_keep_their_places() -> None:
    """50, read to 1, and 60.25, read to a hundredth: steps of 1. `first` is no place: they come in
    the order in which they are printed."""
    places = (("50", "first"), ("60.25", 7), ("70.5", "last"))
    trials = [
        value(f"t{text}", statistic="trial", published=text, value=float(text),
              condition={"message_size_bytes": 500, "trial": place})
        for text, place in places
    ]  # fmt: skip
    [cell] = printed(*trials).at_conditions("goodput_bps")
    assert isinstance(cell.sample, Trials)
    assert (cell.sample.resolution, cell.sample.positions) == (1e6, (1, 7, 3))
    assert cell.sample.values == (50e6, 60.25e6, 70.5e6)
    assert cell.sample.sources == {"t50", "t60.25", "t70.5"}
    assert (cell.levels, cell.sample.missing) == ({"message_size_bytes": 500}, ())


def test_a_lost_trial_without_digits_is_tried_at_both_ends() -> None:
    trials = [
        value(f"t{at}", statistic="trial", published=text, value=number,
              condition={"message_size_bytes": 500, "trial": at})
        for at, (text, number) in enumerate([("fifty", 50.0), ("sixty", 60.0)], 1)
    ]  # fmt: skip
    lost = MissingValue.model_validate(
        {
            "id": "lost",
            "metric": "goodput_bps",
            "statistic": "trial",
            "published": "",
            "unit": "Mbit/s",
            "where": "Table 1",
            "condition": {"message_size_bytes": 500},
            "status": "missing",
            "feasible": (10.0, 12.0),
            "feasible_if_truncated": (11.0, 13.0),
        }
    )
    [cell] = printed(*trials, missing=(lost,)).at_conditions("goodput_bps")
    assert isinstance(cell.sample, Trials) and cell.sample.resolution == 0
    # Whether it was rounded or cut; without a place of its own it comes last.
    assert cell.sample.missing == (((10e6, 13e6), 3),)


def test_a_share_of_the_link_applies_only_to_its_metric() -> None:
    share = {"statistic": "share_of_link", "unit": "share", "si_unit": "ratio"}
    evidence = printed(
        value("a", value=0.5, si=0.5, **share),
        value("b", value=0.9, si=0.9, metric="offered_bps", **share),
        value("c", value=5.0),
        value("wrong", value=0.7, si=0.7, status="wrong", **share),
    )
    [cell] = evidence.printed_shares("goodput_bps")
    assert isinstance(cell.sample, PrintedNumber)
    assert cell.sample.mean == 0.5
    assert [one.sample for one in evidence.printed_shares("rtt_mean_ns")] == []


def test_a_share_of_the_link_is_a_rate_if_the_link_is_known() -> None:
    """500 bytes over UDP on 10 Mbit/s: 500 of 566 bytes on the wire."""
    condition = {"message_size_bytes": 500, "transport": "udp"}
    share = {"statistic": "share_of_link", "unit": "share", "si_unit": "ratio"}
    evidence = printed(value("a", value=0.5, si=0.5, condition=condition, **share))
    [cell] = evidence.cells("goodput_bps")
    assert isinstance(cell.sample, PrintedNumber)
    assert cell.sample.mean == pytest.approx(0.5 * 10e6 * 500 / 566)
    [cell] = evidence.shares("goodput_bps")
    assert isinstance(cell.sample, PrintedNumber) and cell.sample.mean == 0.5


def test_a_published_mean_has_its_published_spread_and_a_bound_none() -> None:
    runs = value("runs", published="40 times", condition={}, **RUNS)
    spread = value("s", statistic="sd", value=2.0, published="2.0")
    [cell] = printed(value("m"), spread, runs).at_conditions("goodput_bps")
    assert cell.sample == PrintedSpread(10e6, 2e6, 40, 0.05e6, frozenset({"m"}))
    two = runs.model_copy(update={"value": 2.0, "si": 2.0})
    [cell] = printed(value("m"), spread, two).at_conditions("goodput_bps")
    assert cell.sample == PrintedSpread(10e6, 2e6, 2, 0.05e6, frozenset({"m"}))
    once = runs.model_copy(update={"value": 1.0, "si": 1.0})
    [cell] = printed(value("m"), spread, once).at_conditions("goodput_bps")
    assert isinstance(cell.sample, PrintedNumber)
    [cell] = printed(value("m", bound=">="), spread, runs).at_conditions("goodput_bps")
    assert isinstance(cell.sample, PrintedNumber)
    [cell] = printed(value("m"), spread).at_conditions("goodput_bps")
    assert isinstance(cell.sample, PrintedNumber)


def test_four_conditions_are_worded_as_a_product_if_ratios_are_compared() -> None:
    verdicts = judge_published(load_study("milanovic-srbljic"))
    [found] = [one for one in verdicts.judgements if one.finding.id == "f12"]
    worded = [one.comparison.what for one in found.comparisons]
    assert any(") x (host" in words for words in worded), worded
    widening = [one.comparison for one in found.comparisons if one.comparison.measure == "widening"]
    # Printed ratios of 500 and of 2 bytes: the later one divided by the former.
    assert [one.value for one in widening][-2:] == pytest.approx([0.575, 2 / 3])
    assert not any(") + (" in words or ") - (" in words for words in worded)


def test_a_published_number_that_may_be_zero_has_no_least_ratio() -> None:
    may_be_nothing = PrintedNumber(5.0, 0.0, 10.0)
    found = contrast([(1.0, may_be_nothing), (-1.0, PrintedNumber(5.0, 5.0, 5.0))], "log")
    assert found.value == pytest.approx(0.0)
    assert found.below == math.inf
    assert found.above == pytest.approx(math.log(2))
