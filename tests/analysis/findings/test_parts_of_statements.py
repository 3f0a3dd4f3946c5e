"""What parts of a statement come down to: words, metrics, bounds, levels without a number."""

from dataclasses import replace
from typing import Any

from bodies_of_evidence import along, cell, finding, printed, trials, verdict, verdicts
from given_numbers import Given

from lanlab.analysis.findings.compare import Comparison
from lanlab.analysis.findings.judge import judge
from lanlab.analysis.findings.printed import PrintedRatio
from lanlab.analysis.findings.published_evidence import with_ratios
from lanlab.analysis.findings.sample import PrintedNumber, Trials
from lanlab.analysis.findings.sides import Side
from lanlab.studies.findings import Finding


def comparison(form: str, evidence: Given, **statement: Any) -> Comparison:
    [found] = verdicts(form, evidence, **statement).judgements
    [one] = found.comparisons
    return one.comparison


def test_a_missing_number_is_reported_with_the_metric_of_its_side() -> None:
    one = {
        "form": "less",
        "metric": "goodput_bps",
        "a": {"metric": "rtt_mean_ns", "x": 1},
        "b": {"metric": "offered_bps", "x": 2},
    }
    statement = {"form": "all", "for_each": ["size"], "of": [one]}
    whole = Finding.model_validate({"id": "f", "claim": "So it is.", "statement": statement})
    [found] = judge([whole], along("x", {1: 10.0, 2: 20.0})).judgements
    assert found.verdict == "not tested"
    assert list(found.reasons) == ["no rtt_mean_ns at size"]


def test_differences_are_compared_without_logarithms() -> None:
    values = (0.0949, 0.095, 0.0951, 0.0950, 0.0950)
    cells = [
        cell(Trials(tuple(factor * one for one in values), (), (1, 2, 3, 4, 5)), os=os)
        for os, factor in (("xp", 1.0), ("linux", 1.05))
    ]
    evidence = Given(cells, metric="loss_ratio")
    sides = {"a": {"os": "xp"}, "b": {"os": "linux"}}
    assert verdict("less", evidence, metric="loss_ratio", **sides) == "holds"
    assert comparison("less", evidence, metric="loss_ratio", **sides).measure == "difference"


def test_a_series_is_named_by_its_ends_and_common_levels() -> None:
    cells = [cell(trials(10.0 * size), os="xp", size=size) for size in (1, 2, 3)]
    trend = comparison("no_trend", Given(cells), along="size", margin_ratio=0.05)
    assert "from size 1 to 3" in trend.what and "os xp" in trend.what
    assert trend.what.count("size") == 1


def test_a_published_ratio_fills_in_only_missing_numbers() -> None:
    ratio = PrintedRatio("os", ("a",), ("b", "c"), PrintedNumber(2.0, 2.0, 2.0), {"size": 1})
    known = [
        cell(printed(10.0), os="a", size=1),
        cell(printed(7.0), os="b", size=1),
        cell(printed(9.0), os="z", size=1),
        cell(printed(3.0), os="a", size=2),
    ]
    found = with_ratios(known, [ratio])
    means = {(one.levels["os"], one.levels["size"]): one.sample.mean for one in found}
    assert means == {("a", 1): 10.0, ("b", 1): 7.0, ("z", 1): 9.0, ("a", 2): 3.0, ("c", 1): 5.0}
    assert [one.levels["os"] for one in found if one.is_derived] == ["c"]


def test_only_trials_can_be_lost() -> None:
    whole = trials(10.0)
    assert Side(cell(printed(10.0), os="xp")).lost_trials == 0
    assert Side(cell(whole, os="xp")).lost_trials == 0
    assert Side(cell(replace(whole, missing=(((1.0,), 6),)), os="xp")).lost_trials == 1


def test_an_extreme_may_be_at_a_level_without_a_number() -> None:
    cells = [cell(trials(mean), os="xp", size=size) for size, mean in ((1, 10.0), (2, 20.0))]
    most: dict[str, Any] = {"at": {"os": "xp", "take": "greatest"}, "min": 15.0}
    whole = Given(cells, can_lack=True, known={"size": (1, 2)})
    assert verdict("value", whole, **most) == "holds"
    lacking = Given(cells, can_lack=True, known={"size": (1, 2, 3)})
    [found] = judge([finding("value", **most)], lacking).judgements
    assert found.verdict == "undecided"
    assert any("size 3" in reason and "greatest" in reason for reason in found.reasons)
    # Those that the statement names are all that count.
    named = {"at": {"os": "xp", "size": [1, 2], "take": "greatest"}, "min": 15.0}
    assert verdict("value", lacking, **named) == "holds"


def test_an_absolute_margin_reaches_to_either_side() -> None:
    close = along("os", {"xp": 100.0, "linux": 100.5})
    for a, b in (("xp", "linux"), ("linux", "xp")):
        sides = {"a": {"os": a}, "b": {"os": b}}
        assert verdict("equivalent", close, **sides, margin=10.0) == "holds"
        assert verdict("equivalent", close, **sides, margin=0.001) != "holds"
