"""How comparisons become verdicts: families, gaps, what is taken of several, what would decide."""

import json
from dataclasses import replace
from typing import Any

import pytest
from bodies_of_evidence import (
    NOISY,
    Numbers,
    along,
    cell,
    finding,
    printed,
    trials,
    verdict,
    verdicts,
)

from lanlab.analysis.findings.as_data import verdicts_as_data
from lanlab.analysis.findings.judge import judge
from lanlab.analysis.findings.sample import PrintedNumber, Trials
from lanlab.analysis.findings.verdicts import Judged

TWO = along("os", {"xp": 100.0, "linux": 103.0})


def test_equal_values_are_not_less_than_each_other() -> None:
    """Three trials of each, none of which differed: not "below", and so not in order; 90 of 100 is
    below by a factor of at most 10 / 9, and within a margin of a tenth."""
    same = Numbers([cell(Trials((100.0,) * 3), os=os) for os in ("xp", "linux")])
    pair: dict[str, Any] = {"a": {"os": "xp"}, "b": {"os": "linux"}}
    less = Numbers(
        [cell(Trials((mean,) * 3), os=os) for os, mean in (("xp", 90.0), ("linux", 100.0))]
    )

    for turned in (pair, {"a": pair["b"], "b": pair["a"]}):
        assert verdict("less", same, **turned) == "does not hold"
        assert verdict("equivalent", same, **turned, margin_ratio=0.1) == "holds"
        # A bound that is told belongs to what is allowed.
        assert verdict("ratio", same, **turned, max=1.0) == "holds"
        assert verdict("ratio", same, **turned, min=1.0) == "holds"
    assert verdict("order", same, along="os", levels=["xp", "linux"]) == "does not hold"
    assert verdict("less", less, **pair) == "holds"
    assert verdict("ratio", less, **pair, max=0.9) == "holds"


def test_a_single_finding_is_judged_less_strictly_than_one_among_many() -> None:
    pair = {"a": {"os": "a"}, "b": {"os": "b"}}
    a, b = Trials((1.0, 1.1, 0.9, 1.0)), Trials((1.2, 1.1, 1.3, 1.25))
    own = [cell(a, os="a"), cell(b, os="b")]
    others = [cell(trials(100.0 + place, NOISY), os=f"o{place}") for place in range(20)]
    alone = judge([finding("less", **pair)], Numbers(own))
    among = judge(
        [
            finding("less", **pair),
            *(finding("less", a={"os": f"o{n}"}, b={"os": f"o{n + 1}"}) for n in range(19)),
        ],
        Numbers([*own, *others]),
    )

    assert alone.judgements[0].verdict == "holds"
    assert among.judgements[0].verdict == "undecided"
    assert among.judgements[0].means == "holds"


def test_a_claim_about_the_greatest_must_hold_for_every_candidate() -> None:
    """150 and 149 cannot be told apart: a claim of the greatest is one of both."""
    evidence = along("size", {1: 20.0, 2: 149.0, 3: 150.0})
    at = {"take": "greatest"}
    [found] = verdicts("value", evidence, at=at, min=100.0).judgements
    [one] = found.comparisons

    assert (found.verdict, one.comparison.candidates) == ("holds", 2)
    assert verdict("value", evidence, at=at, min=149.9) == "undecided"
    assert verdict("value", evidence, at=at, max=100.0) == "does not hold"


def test_experiments_that_differ_further_are_compared_condition_by_condition() -> None:
    """UDP has rates and TCP has none: 2 bytes over UDP stand against 500 over UDP at that rate."""
    udp = [
        replace(cell(trials(mean), size=size, rate=rate), group="udp")
        for (size, rate), mean in {
            (2, 1): 10.0,
            (500, 1): 20.0,
            (2, 9): 30.0,
            (500, 9): 40.0,
        }.items()
    ]
    tcp = [
        replace(cell(trials(mean), size=size), group="tcp") for size, mean in ((2, 50), (500, 60))
    ]
    cells = [
        replace(one, levels={**one.levels, "transport": one.group, "time_s": 1.0})
        for one in (*udp, *tcp)
    ]
    [found] = verdicts("less", Numbers(cells), a={"size": 2}, b={"size": 500}).judgements

    assert found.verdict == "holds"
    assert sorted(one.comparison.what for one in found.comparisons) == [
        "(size 2) / (size 500) at rate 1, transport udp",
        "(size 2) / (size 500) at rate 9, transport udp",
        "(size 2) / (size 500) at transport tcp",
    ]


def test_an_order_is_compared_within_equal_conditions() -> None:
    means = {("a", "x"): 10.0, ("b", "x"): 20.0, ("a", "y"): 40.0, ("b", "y"): 30.0}
    cells = [
        cell(trials(size * mean), os=os, size=size, host=host)
        for (os, host), mean in means.items()
        for size in (1, 2)
    ]
    asked = {"along": "os", "across": "size"}

    assert verdict("same_order", Numbers(cells), **asked) == "holds"
    lacking = [one for one in cells if one.levels != {"os": "a", "size": 2, "host": "x"}]
    assert verdict("same_order", Numbers(lacking), **asked) == "not tested"


def test_numbers_without_spread_are_known_to_their_digits() -> None:
    apart = Numbers([cell(printed(23.3, 0.05), os="a"), cell(printed(35.3, 0.05), os="b")])
    near = Numbers([cell(printed(23.3, 0.05), os="a"), cell(printed(23.35, 0.05), os="b")])
    pair = {"a": {"os": "a"}, "b": {"os": "b"}}
    [found] = verdicts("less", apart, **pair).judgements

    assert (found.verdict, found.is_means_only) == ("holds", True)
    assert found.comparisons[0].p_holm is None
    assert verdict("less", near, **pair) == "undecided"
    # A bound is as coarse as the number.
    assert verdict("value", apart, at={"os": "a"}, min=23.3, max=23.3) == "holds"
    assert verdict("value", apart, at={"os": "a"}, min=23.34) == "undecided"
    assert verdict("value", apart, at={"os": "a"}, min=23.4) == "does not hold"


def test_a_printed_bound_decides_in_one_direction_only() -> None:
    at_least_four = Numbers([cell(PrintedNumber(4.0, 4.0, float("inf")), os="a")])

    assert verdict("value", at_least_four, min=3.5) == "holds"
    assert verdict("value", at_least_four, max=3.5) == "does not hold"
    assert verdict("value", at_least_four, min=4.5) == "undecided"
    assert verdict("value", at_least_four, max=5.0) == "undecided"


def test_verdicts_that_depend_on_a_lost_trial_stay_open() -> None:
    lost = Trials((120.0, 121.0, 119.0, 120.0), missing=(((112.0, 120.0, 128.0), 5),))
    evidence = Numbers([cell(trials(100.0), os="a"), cell(lost, os="b")])
    pair = {"a": {"os": "a"}, "b": {"os": "b"}}

    assert verdict("less", evidence, **pair) == "holds"
    without = replace(lost, missing=())
    sure = Numbers([cell(trials(100.0), os="a"), cell(without, os="b")])
    assert verdict("less", sure, **pair, by_ratio=1.15) == "holds"
    assert verdict("less", evidence, **pair, by_ratio=1.15) == "undecided"


def test_a_count_of_zero_in_every_trial_is_zero() -> None:
    none = Numbers([cell(Trials((0.0, 0.0, 0.0)), os="a")], metric="timeouts")
    some = Numbers([cell(Trials((0.0, 1.0, 0.0)), os="a")], metric="timeouts")
    two = Numbers([cell(Trials((0.0, 0.0)), os="a")], metric="timeouts")

    def judged(evidence: Numbers) -> tuple[str, Judged]:
        [found] = judge([finding("value", metric="timeouts", max=0.0)], evidence).judgements
        return found.verdict, found.comparisons[0]

    assert judged(none)[0] == "holds"
    assert judged(none)[1].p_holm is None
    [told] = judge([finding("value", metric="timeouts", max=0.0)], none).judgements
    assert (told.is_without_spread, told.is_means_only) == (True, False)
    assert judged(some)[0] == "undecided"
    assert judged(two)[0] == "undecided"


@pytest.mark.parametrize(
    ("form", "statement"),
    [
        ("trend", {"along": "size", "direction": "rising"}),
        ("no_trend", {"along": "size", "margin_ratio": 0.5}),
        ("monotone", {"along": "size", "direction": "rising"}),
        ("value", {"min": 0.5}),
    ],
)
def test_a_rate_of_zero_is_compared_as_a_difference(form: str, statement: dict[str, Any]) -> None:
    """A goodput that is 0 in a trial has no logarithm: bounds of ratios must not be taken for
    bit/s. The rise is 0.2 bit/s, far below the 1 of "no change" as a ratio."""
    cells = [
        cell(Trials((0.0, 0.01, 0.02)), size=1),
        cell(Trials((0.2, 0.21, 0.22)), size=2),
        cell(Trials((0.4, 0.41, 0.42)), size=3),
    ]
    expected = {"value": "does not hold", "no_trend": "does not hold"}.get(form, "holds")

    assert verdict(form, Numbers(cells), **statement) == expected


def test_less_excludes_equality_if_a_trial_is_zero() -> None:
    cells = [cell(Trials((0.0, 0.01, 0.02)), size=1), cell(Trials((0.2, 0.21, 0.22)), size=2)]
    [found] = verdicts("less", Numbers(cells), a={"size": 1}, b={"size": 2}).judgements

    [one] = found.comparisons
    assert (one.comparison.measure, one.comparison.is_strict) == ("difference", True)


def test_no_ratio_is_computed_if_a_trial_is_zero() -> None:
    cells = [
        cell(Trials((0.0, 0.0, value)), os=os, size=size)
        for os in ("a", "b")
        for size, value in ((1, 0.1), (2, 0.2))
    ]
    [found] = verdicts(
        "widens", Numbers(cells), a={"os": "a"}, b={"os": "b"}, along="size",
        direction="rising", by="ratio",
    ).judgements  # fmt: skip

    assert found.verdict == "not tested"
    assert found.reasons == ("a value is not above zero, so there is no ratio",)


def test_a_part_without_numbers_leaves_runs_untested_and_publications_undecided() -> None:
    parts = [
        {"form": "less", "a": {"os": "xp"}, "b": {"os": "linux"}},
        {"form": "less", "a": {"os": "beos"}, "b": {"os": "linux"}},
    ]
    turned = [{**parts[0], "a": {"os": "linux"}, "b": {"os": "xp"}}, parts[1]]
    as_print = replace(TWO, can_lack=True)

    assert verdict("all", TWO, of=parts) == "not tested"
    assert verdict("all", as_print, of=parts) == "undecided"
    assert verdict("all", TWO, of=turned) == "does not hold"
    [found] = verdicts("all", as_print, of=parts).judgements
    assert (found.means, found.further) == ("holds", None)
    assert "beos" in found.reasons[0]


def test_an_ambiguous_condition_needs_a_level() -> None:
    one = [cell(trials(10.0 * n), size=n) for n in (1, 2)]
    two = [replace(cell(trials(10.0 * n + 1), size=n), group="again") for n in (1, 2)]
    [found] = verdicts(
        "monotone", Numbers([*one, *two]), along="size", direction="rising"
    ).judgements

    assert found.verdict == "not tested"
    assert "name one of its levels, or `take` one of them" in found.reasons[0]


def test_verdicts_are_json() -> None:
    found = verdicts("monotone", along("size", {1: 10.0, 2: 10.0}, (0.1, -0.1)),
                     along="size", direction="rising")  # fmt: skip
    data = json.loads(json.dumps(verdicts_as_data(found), allow_nan=False))

    assert data["counts"]["undecided"] == 1
    [one] = data["findings"][0]["comparisons"]
    assert one["p_holm"] is not None and one["low"] is None
