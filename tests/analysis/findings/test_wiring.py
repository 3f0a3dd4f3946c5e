"""What holds the parts of a judgement together: words, sides, levels that are assumed, data."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from bodies_of_evidence import (
    NOISY,
    STEADY,
    along,
    cell,
    compared,
    finding,
    judged,
    printed,
    trials,
    verdict,
)
from given_numbers import Given

from lanlab.analysis.findings import drift_within
from lanlab.analysis.findings.as_data import judgement_as_data, verdicts_as_data
from lanlab.analysis.findings.contrast import Estimate
from lanlab.analysis.findings.drift_within import change
from lanlab.analysis.findings.judge import judge
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.findings.systems import assumed_levels
from lanlab.analysis.statistics.samples import Scale

GRID = Given(
    [
        cell(trials(mean), os=os, size=size)
        for (os, size), mean in {
            ("xp", 1): 100.0,
            ("xp", 2): 200.0,
            ("linux", 1): 90.0,
            ("linux", 2): 100.0,
        }.items()
    ]
)
A_B: dict[str, Any] = {"a": {"os": "xp"}, "b": {"os": "linux"}}


@pytest.mark.parametrize(
    ("form", "statement", "words"),
    [
        ("value", {"at": {"os": "xp", "size": 1}, "min": 1.0}, ["os xp, size 1"]),
        (
            "value",
            {"at": {"take": "greatest"}, "min": 1.0},
            ["the greatest (at os xp, size 2 among those tried)"],
        ),
        (
            "value",
            {"at": {"os": "linux", "take": "least"}, "min": 1.0},
            ["os linux, the least (at size 1 among those tried)"],
        ),
        ("less", {**A_B, "at": {"size": 1}}, ["(os linux) / (os xp) at size 1"]),
        (
            "difference",
            {**A_B, "at": {"size": 1}, "min": 1.0},
            ["(os xp) - (os linux) at size 1"],
        ),
        (
            "extreme",
            {**A_B, "along": "size", "at_level": 2, "kind": "greatest"},
            [
                "(os xp, size 2) - (os linux, size 2) - (os xp, size 1) + (os linux, size 1)",
            ],
        ),
        (
            "widens",
            {**A_B, "along": "size", "direction": "rising", "by": "ratio"},
            [
                "(os xp, size 2) / (os linux, size 2) / (os xp, size 1) x (os linux, size 1)",
            ],
        ),
        (
            "trend",
            {"at": {"os": "xp"}, "along": "size", "direction": "rising"},
            ["change from size 1 to 2 at os xp"],
        ),
    ],
)
def test_a_comparison_names_the_levels_that_differ(
    form: str, statement: dict[str, Any], words: list[str]
) -> None:
    assert [one.what for one in compared(form, GRID, **statement)] == words


def test_a_ratio_on_the_linear_scale_is_a_weighted_difference() -> None:
    """Errors have no logarithm where one is 0: a / b within 1.5 and 3 is a - 1.5 b and a - 3 b."""
    cells = [
        cell(Trials((4.0, 5.0, 6.0)), os="xp"),
        cell(Trials((0.0, 2.0, 4.0)), os="linux"),
    ]
    evidence = Given(cells, metric="errors")
    low, high = compared("ratio", evidence, metric="errors", **A_B, min=1.5, max=3.0)

    assert (low.value, low.least, low.most, low.measure) == (5 - 1.5 * 2, 0.0, None, "difference")
    assert (high.value, high.least, high.most) == (5 - 3 * 2, None, 0.0)
    assert (low.what, high.what) == (
        "(os xp) - (1.5 \N{MULTIPLICATION SIGN} os linux)",
        "(os xp) - (3 \N{MULTIPLICATION SIGN} os linux)",
    )
    assert (low.point, high.point) == ("holds", "holds")
    for bounds, least, most in (({"min": 1.0}, 0.0, None), ({"max": 1.0}, None, 0.0)):
        [one] = compared("ratio", evidence, metric="errors", **A_B, **bounds)
        assert (one.value, one.least, one.most) == (3.0, least, most)
        assert one.what == "(os xp) - (os linux)"
    # Only a bound of exactly 1 is a plain difference: 1.1 keeps its weight.
    for bounds in ({"min": 1.1}, {"max": 1.1}):
        [one] = compared("ratio", evidence, metric="errors", **A_B, **bounds)
        assert one.value == pytest.approx(5 - 1.1 * 2)


def test_by_a_factor_is_below_by_it() -> None:
    [found] = compared("less", along("os", {"xp": 100.0, "linux": 400.0}), **A_B, by_ratio=4.0)

    assert (found.value, found.least, found.most) == (pytest.approx(0.25), None, 0.25)
    assert found.is_strict and found.point == "does not hold"
    four = {"xp": 100.0, "linux": 401.0}
    assert compared("less", along("os", four), **A_B, by_ratio=4.0)[0].point == "holds"


def test_an_interval_is_cut_at_the_metric_end_but_not_for_link_shares() -> None:
    lost = Given([cell(Trials((0.0, 0.0, 0.02)), os="xp")], metric="loss_ratio")
    [one] = compared("value", lost, metric="loss_ratio", max=0.5)
    assert one.interval(0.95)[0] == 0.0
    assert one.interval(0.95)[1] == pytest.approx(0.02 / 3 + 4.302653 * 0.02 / 3)
    beyond = Given([cell(Trials((1.0, 0.99, 0.98)), os="xp")], metric="received_ratio")
    [value] = compared("value", beyond, metric="received_ratio", max=2.0)
    [share] = compared("share", beyond, metric="received_ratio", max=2.0)
    assert value.interval(0.95)[1] == 1.0
    assert share.interval(0.95)[1] == pytest.approx(0.99 + 4.302653 * 0.01 / math.sqrt(3))
    number = Given([cell(printed(0.005, 0.01), os="xp")], metric="loss_ratio")
    [one] = compared("value", number, metric="loss_ratio", max=0.5)
    assert one.interval(0.95) == (0.0, pytest.approx(0.015))


def test_a_line_is_fitted_by_least_squares_over_all_levels() -> None:
    """Means 1, 2, 6 and 7 by hand: 2.2 a level, 6.6 over three steps; each within one unit."""
    cells = [
        cell(Trials((mean - 1, mean, mean + 1)), size=size)
        for size, mean in enumerate((1.0, 2.0, 6.0, 7.0))
    ]
    evidence = Given(cells, metric="errors")
    [trend] = compared("trend", evidence, metric="errors", along="size", direction="rising")
    assert (trend.value, trend.least, trend.most) == (pytest.approx(6.6), 0.0, None)
    assert trend.measure == "change" and trend.is_strict
    [turned] = compared("trend", evidence, metric="errors", along="size", direction="falling")
    assert (turned.least, turned.most, turned.point) == (None, 0.0, "does not hold")
    # Of a mean of 4 half is 2: the change less that, and more than minus that.
    less, more = compared("no_trend", evidence, metric="errors", along="size", margin_ratio=0.5)
    assert (less.value, less.least, less.most) == (pytest.approx(4.6), None, 0.0)
    assert (more.value, more.least, more.most) == (pytest.approx(8.6), 0.0, None)
    assert less.what.endswith("less 50 % of the mean")
    assert more.what.endswith("and 50 % of the mean")


def test_a_drift_is_compared_with_a_share_of_the_mean() -> None:
    """1, 2 and 3 errors in turn: a change of 2 of a mean of 2, and half of that is 1."""
    rising = Given([cell(Trials((1.0, 2.0, 3.1), (), (0, 1, 2)), os="xp")], metric="errors")
    [one] = compared("no_trend", rising, metric="errors", along="trial", margin_ratio=0.5)
    assert one.value == pytest.approx(2.1)
    assert (one.least, one.most) == (pytest.approx(-6.1 / 6), pytest.approx(6.1 / 6))
    assert one.what == "change from first to last trial at os xp"
    rate = Given([cell(Trials((10.0, 20.0, 41.0), (), (0, 1, 2)), os="xp")])
    [one] = compared("no_trend", rate, along="trial", margin_ratio=0.5)
    assert (one.value, one.least, one.most) == (pytest.approx(4.1), 0.5, 1.5)
    two = judged("no_trend", Given([cell(Trials((1.0, 2.0), (), (0, 1)), os="xp")]),
                 along="trial", margin_ratio=0.5)  # fmt: skip
    assert two.reasons == ("fewer than three trials in a known order at os xp",)
    # A printed number has no order: it leaves the claim open, for there is a number.
    paper = Given([cell(printed(10.0), os="xp")], can_lack=True)
    assert verdict("no_trend", paper, along="trial", margin_ratio=0.5) == "undecided"


def test_a_drift_tries_each_lost_trial_at_three_values(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = tuple((tuple(float(one) for one in range(1, 11)), place) for place in (3, 4, 5))
    evidence = Given([cell(Trials((1.0, 2.0, 3.0), (), (0, 1, 2), lost), os="xp")])
    seen: list[Trials] = []

    def counted(sample: Trials, scale: Scale) -> Estimate:
        seen.append(sample)
        return change(sample, scale)

    monkeypatch.setattr(drift_within, "change", counted)
    compared("no_trend", evidence, along="trial", margin_ratio=0.5)
    assert len(seen) == 3**3


def test_a_change_along_levels_is_compared_with_a_symmetric_share() -> None:
    [one] = compared(
        "no_trend", along("size", {1: 100.0, 2: 105.0}), along="size", margin_ratio=0.25
    )
    assert (one.value, one.least, one.most) == (pytest.approx(1.05), 0.75, 1.25)


def test_after_the_peak_no_level_is_above_it_and_the_last_is_below_by_its_share() -> None:
    evidence = along("size", {1: 10.0, 2: 30.0, 3: 29.0, 4: 20.0})
    last, third = compared(
        "peak_then_decline", evidence, along="size", peak_at_most=2, decline_ratio=0.2
    )
    assert (last.value, last.most, last.is_strict) == (pytest.approx(2 / 3), 0.8, True)
    assert third.value in (pytest.approx(30 / 29), pytest.approx(29 / 30))
    assert not third.is_strict and third.point == "holds"
    late = judged("peak_then_decline", evidence, along="size", peak_at_most=0)
    assert late.reasons == ("size has no level until 0",)
    named = along("os", {"a": 10.0, "b": 30.0, "c": 20.0})
    assert verdict("peak_then_decline", named, along="os", peak_at_most="b") == "holds"
    assert verdict("peak_then_decline", named, along="os", peak_at_most="a") == "does not hold"
    # A number need not be a level; names stand in the order of the study, not of the alphabet.
    between = {"along": "size", "peak_at_most": 2.5, "decline_ratio": 0.2}
    assert verdict("peak_then_decline", evidence, **between) == "holds"
    versions = along("os", {"xp": 10.0, "vista": 30.0, "seven": 20.0})
    assert verdict("peak_then_decline", versions, along="os", peak_at_most="vista") == "holds"
    assert verdict("peak_then_decline", versions, along="os", peak_at_most="xp") == "does not hold"


def test_a_widening_with_no_other_level_names_both_sides_in_their_order() -> None:
    paper = replace(along("size", {1: 100.0}), can_lack=True)
    found = judged("extreme", paper, **A_B, along="size", at_level=1, kind="greatest")
    assert found.reasons == (
        "no goodput_bps at os xp, size 1",
        "no goodput_bps at os linux, size 1",
    )


def test_published_range_ends_apply_to_all_unnamed_factors() -> None:
    least, greatest = (
        replace(cell(printed(mean), os="xp"), stands=stands)
        for mean, stands in ((10.0, "least"), (90.0, "greatest"))
    )
    paper = Given([least, greatest], can_lack=True)
    whole = {"at": {"os": "xp"}, "for_each": ["size"]}
    assert verdict("value", paper, **whole, min=9.0, max=91.0) == "holds"
    assert verdict("value", paper, **whole, min=11.0) == "does not hold"
    assert verdict("value", paper, **whole, max=89.0) == "does not hold"
    assert verdict("value", replace(paper, found=[least]), **whole, max=91.0) == "not tested"
    other = {"at": {"os": "linux"}, "for_each": ["size"]}
    assert verdict("value", paper, **other, min=9.0) == "not tested"
    # An end that names one of the levels gone through says nothing of the others.
    at_one = replace(paper, found=[replace(least, levels={"os": "xp", "size": 1})])
    assert verdict("value", at_one, **whole, min=9.0) == "not tested"
    # Of a run every level has numbers of its own.
    assert verdict("value", replace(paper, can_lack=False), **whole, min=9.0) == "not tested"


def statement(form: str, **said: Any) -> Any:
    return finding(form, **said).statement


@pytest.mark.parametrize(
    ("said", "known", "assumed"),
    [
        (statement("value", at={"os": "vista"}, min=1.0), {"size"}, {"os": "vista"}),
        (statement("value", at={"os": "vista"}, min=1.0), {"os"}, None),
        (statement("value", at={"os": ["xp", "vista"]}, min=1.0), set(), None),
        (statement("value", min=1.0, for_each=["os"]), {"size"}, {"os": "this system"}),
        (
            statement("value", at={"os": "vista"}, min=1.0, for_each=["os", "host"]),
            set(),
            {"os": "vista", "host": "this system"},
        ),
        (statement("less", **A_B), {"size"}, None),
        (
            statement("less", a={"os": "xp", "size": 1}, b={"os": "xp", "size": 2}),
            {"size"},
            {"os": "xp"},
        ),
        (
            statement("monotone", at={"os": "xp"}, along="size", direction="rising"),
            {"size"},
            {"os": "xp"},
        ),
        (statement("monotone", at={"os": "xp"}, along="size", direction="rising"), set(), None),
        (statement("same_order", at={"host": "a"}, along="size", across="os"), {"size"}, None),
        (
            statement(
                "count", at={"host": "a"}, over=["os"], of={"form": "value", "min": 1.0}, min=1
            ),
            {"size"},
            None,
        ),
        (
            statement("all", of=[{"form": "value", "min": 1.0, "at": {"os": "xp"}}]),
            {"size"},
            {"os": "xp"},
        ),
        (
            statement(
                "all",
                of=[
                    {"form": "value", "min": 1.0, "at": {"os": "xp"}},
                    {"form": "value", "min": 1.0, "at": {"os": "vista"}},
                ],
            ),
            {"size"},
            None,
        ),
        (statement("share", at={"os": "xp"}, min=0.5), {"size"}, {"os": "xp"}),
    ],
)
def test_a_statement_about_an_absent_system_may_be_judged_here(
    said: Any, known: set[str], assumed: dict[str, str] | None
) -> None:
    assert assumed_levels(said, known) == assumed


def test_trials_needed_to_decide_count_each_condition_once_with_its_duration() -> None:
    evidence = along("size", {1: 100.0, 2: 106.0, 3: 113.0}, tuple(5 * one for one in STEADY))
    found = judge([finding("monotone", along="size", direction="rising")], evidence).judgements[0]
    first, second = (one.trials_needed for one in found.comparisons)

    assert found.verdict == "undecided" and found.further is not None
    assert first is not None and second is not None
    most = max(first, second)
    assert found.further.trials == (first - 5) + (most - 5) + (second - 5)
    assert found.further.trials_per_condition == most
    assert found.further.minutes is None


def test_json_has_every_part_of_a_judgement() -> None:
    found = judged("less", along("os", {"xp": 100.0, "linux": 106.0}, NOISY), **A_B)
    plain = judgement_as_data(found)
    assert plain["comparisons"][0]["verdict"] == "undecided"
    assert {key: plain[key] for key in plain if key not in ("comparisons", "further")} == {
        "id": "f",
        "claim": "So it is.",
        "origin": "text",
        "verdict": "undecided",
        "means": "holds",
        "means_only": False,
        "fitted": None,
        "reasons": [],
        "on_this_system": None,
    }
    assert found.further is not None
    assert plain["further"] == {
        "trials": found.further.trials,
        "trials_per_condition": found.further.trials_per_condition,
        "minutes": None,
    }
    here = replace(found, verdict="not tested", reasons=("why",), further=None, here=found,
                   assumed=(("os", "this system"),), fitted=(2, 5))  # fmt: skip
    told = judgement_as_data(here)
    assert told["fitted"] == {"conditions": 5, "fitted": 2, "is_fitted_to": False}  # fmt: skip
    assert (told["further"], told["reasons"]) == (None, ["why"])
    assert told["on_this_system"] == {**plain, "in_place_of": {"os": "this system"}}
    json.dumps(told, allow_nan=False)


def test_verdicts_are_counted_by_kind() -> None:
    evidence = along("os", {"xp": 100.0, "linux": 200.0})
    asked = [
        finding("less", **A_B),
        finding("less", a=A_B["b"], b=A_B["a"]),
        finding("value", at={"os": "xp"}, min=100.5),
        finding("value", at={"os": "beos"}, min=1.0),
        finding("value", at={"os": "linux"}, min=1.0),
    ]
    plain = verdicts_as_data(judge(asked, evidence))
    assert plain["counts"] == {
        "holds": 2,
        "does not hold": 1,
        "undecided": 1,
        "not tested": 1,
    }
    assert (plain["on"], plain["level"], plain["family"]) == ("numbers that were given", 0.05, 3)
    assert [one["verdict"] for one in plain["findings"]] == [
        *("holds", "does not hold", "undecided", "not tested", "holds")
    ]


@pytest.mark.parametrize("sides", ["a", "b"])
def test_a_side_without_a_number_is_a_partial_gap(sides: str) -> None:
    pair = {**A_B, sides: {"os": "beos"}}
    paper = replace(along("os", {"xp": 100.0, "linux": 200.0}), can_lack=True)
    assert verdict("less", paper, **pair) == "undecided"
    both = {"a": {"os": "amiga"}, "b": {"os": "beos"}}
    found = judged("less", paper, **both)
    assert found.verdict == "not tested"
    assert found.reasons == ("no goodput_bps at os amiga; no goodput_bps at os beos",)


def test_the_extreme_of_a_model_is_its_greatest_mean() -> None:
    cells = [cell(Trials((mean,)), size=at) for at, mean in enumerate((9.9, 10.0))]
    [one] = compared("value", Given(cells, is_model=True), at={"take": "greatest"}, min=9.95)
    assert one.candidates == 1 and one.value == pytest.approx(10.0)


def test_a_factor_implied_by_the_compared_level_may_differ() -> None:
    services = {"novell": "ncp", "3plus": "smb1+spp", "ibm": "smb1+nbf"}
    cells = [
        replace(cell(trials(mean), system=system, service=service), varied=("system",))
        for mean, (system, service) in zip((10.0, 20.0, 30.0), services.items(), strict=True)
    ]
    order = {"along": "system", "levels": list(services)}
    assert verdict("order", Given(cells), **order) == "holds"
    assert verdict("order", Given(cells[::-1]), **{**order, "levels": order["levels"][::-1]}) == (
        "does not hold"
    )
    varied = [replace(one, varied=("system", "service")) for one in cells]
    assert verdict("order", Given(varied), **order) == "not tested"
