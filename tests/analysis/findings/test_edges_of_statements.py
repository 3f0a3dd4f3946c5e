"""Statements one step to either side of a limit, and what they say where a number is lacking."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from bodies_of_evidence import (
    STEADY,
    along,
    cell,
    compared,
    finding,
    judged,
    printed,
    trials,
)
from given_numbers import Given

from lanlab.analysis.findings.claim import Comparison
from lanlab.analysis.findings.contrast import Estimate
from lanlab.analysis.findings.evidence import Cell
from lanlab.analysis.findings.judge import Further, _further, _once_each, judge
from lanlab.analysis.findings.printed import times
from lanlab.analysis.findings.sample import PrintedNumber, PrintedSpread, Trials
from lanlab.analysis.findings.verdicts import Judged, Judgement, Verdicts
from lanlab.studies.base import Level


def test_a_combination_without_numbers_is_left_out_unless_every_factor_is_listed() -> None:
    cells = [cell(trials(10.0), os=os, size=size) for os in ("xp", "linux") for size in (1, 2)]
    evidence = Given([*cells, cell(trials(10.0), os="linux", size=3)])
    asked: dict[str, Any] = {"for_each": ["os", "size"], "min": 1.0}
    some = judged("value", evidence, at={"os": ["xp", "linux"]}, **asked)
    assert (some.verdict, len(some.comparisons), some.reasons) == ("holds", 5, ())
    every = judged("value", evidence, at={"os": ["xp", "linux"], "size": [1, 2, 3]}, **asked)
    assert (every.verdict, len(every.comparisons)) == ("not tested", 5)
    assert every.reasons == ("no goodput_bps at os xp, size 3",)
    # Of nothing listed, what there is.
    assert len(judged("value", evidence, **asked).comparisons) == 5


@dataclass
class OnlyShares(Given):
    """Evidence that has shares of the link and no number of the metric itself."""

    def cells(self, metric: str) -> Sequence[Cell]:
        return []

    def shares(self, metric: str) -> Sequence[Cell]:
        return self.found

    def speaks(self, *_: object) -> bool:
        return True


def test_levels_known_only_as_a_share_are_judged() -> None:
    evidence = OnlyShares([cell(trials(mean), size=n) for n, mean in ((1, 0.5), (2, 0.25))])
    found = compared("share", evidence, for_each=["size"], min=0.1)
    assert [(one.what, one.value) for one in found] == [
        ("size 1", pytest.approx(0.5)),
        ("size 2", pytest.approx(0.25)),
    ]
    assert all((one.measure, one.unit) == ("share", "share") for one in found)


@pytest.mark.parametrize(("count", "verdict"), [(65, "holds"), (66, "undecided")])
def test_more_than_65_possible_extremes_leave_a_verdict_open(count: int, verdict: str) -> None:
    cells = [cell(printed(10.0, 0.5), size=size) for size in range(count)]
    found = judged("value", Given(cells, can_lack=True), at={"take": "greatest"}, min=5.0)
    assert found.verdict == verdict
    told = ("too many conditions could be the extreme one; name levels, or run more trials",)
    assert found.reasons == (() if verdict == "holds" else told)
    assert [one.comparison.candidates for one in found.comparisons] == [65] * (count == 65)


def test_unstated_fields_of_a_number_are_empty() -> None:
    bare = Comparison("a", "m", "value", 1.0, None, None, "as printed", "none", "holds")
    assert (bare.unit, bare.is_strict, bare.n, bare.lost_trials) == ("metric", False, (), 0)
    assert (bare.p_for, bare.p_against, bare.p, bare.hedges_g) == (1.0, 1.0, 1.0, None)
    assert (bare.candidates, bare.conditions, bare.sources) == (1, (), frozenset())
    assert not bare.is_tested
    assert bare.interval(0.95) == (-math.inf, math.inf) and bare.trials_needed(0.05) is None
    # What is worked out of it, and where it came from, make it no other comparison.
    more = replace(
        bare,
        interval=lambda confidence: (0.0, 2.0),
        trials_needed=lambda level: 7,
        sources=frozenset("s"),
    )
    assert more == bare and hash(more) == hash(bare) and replace(bare, value=2.0) != bare
    assert not {"interval", "trials_needed"} & set(re.findall(r"(\w+)=", repr(bare)))
    half = replace(bare, p_for=0.7, p_against=0.6)
    assert half.p == 1.0
    assert replace(bare, p_for=0.25, p_against=0.75).p == 0.5

    estimate = Estimate(2.0, "as printed", "none")
    assert estimate.interval(0.95) == (2.0, 2.0)
    assert (estimate.error, estimate.df, estimate.is_bound) == (0.0, 1.0, False)
    assert (estimate.n, estimate.hedges_g, estimate.sources) == ((), None, frozenset())

    one = Judged(bare, "holds", None, 0, None, 1.0, 1.0)
    assert one.trials_needed is None
    asked = finding("value", min=1.0)
    told = Judgement(asked, "holds", None, (), (one,))
    assert (told.further, told.tallies, told.here, told.assumed, told.fitted) == (
        *(None, (), None, (), None),
    )
    assert told.is_repeatable and told.is_means_only and not told.is_without_spread
    whole = Verdicts("numbers", (told,), 0)
    assert (whole.level, whole.is_simulated) == (0.05, False)
    assert (whole.count("holds"), whole.count("undecided")) == (1, 0)


def open_about(conditions: tuple[str, ...], n: tuple[int, ...], needed: int | None) -> Judged:
    """A comparison of these conditions that is undecided, and the trials that would decide it."""
    bare = Comparison("a", "m", "ratio", 1.0, 1.0, None, "tested", "t", "holds")
    seen = replace(bare, conditions=conditions, n=n)
    return Judged(seen, "undecided", 0.2, 1, 0.95, 0.5, 1.5, needed)


def test_trials_to_decide_are_the_maximum_needed_minus_those_done() -> None:
    """Of a 9 - 5, of b the greater of 9 and 12 less 5, of c 12 - 4: 19 of half a minute each."""
    own = [open_about(("a", "b"), (5, 5), 9), open_about(("b", "c"), (5, 4), 12)]
    decided = replace(own[0], truth="holds", trials_needed=None)
    assert _further([*own, decided], 30.0) == Further(19, 12, 9.5)
    assert _further(list(reversed(own)), None) == Further(19, 12, None)
    # What has enough already asks for nothing, and takes nothing from the others.
    assert _further([own[0], open_about(("c",), (90,), 12)], 60.0) == Further(8, 12, 8.0)
    assert _further([open_about(("c",), (12,), 12)], 60.0) is None
    assert _further([*own, open_about(("d",), (5,), None)], 30.0) is None
    assert _further([decided], 30.0) is None and _further([], 30.0) is None


def test_the_true_one_of_two_opposite_findings_is_reported() -> None:
    one = open_about(("a",), (5,), 9)
    other = open_about(("b",), (5,), 9)
    holds = replace(one, truth="holds")
    against = replace(one, truth="does not hold")
    assert _once_each([against, other, holds]) == (holds, other)
    assert _once_each([holds, against, other]) == (holds, other)
    assert _once_each([against, one]) == (against,)


@dataclass
class WithRatio(Given):
    """Evidence that has printed a ratio as well: xp 5 times as much as the other."""

    def ratio(
        self, metric: str, a: Mapping[str, Level], b: Mapping[str, Level]
    ) -> PrintedNumber | None:
        return PrintedNumber(5.0, 4.95, 5.05) if a["os"] == "xp" else PrintedNumber(0.2, 0.19, 0.21)


def test_a_published_ratio_is_used_if_a_side_was_derived_from_it() -> None:
    sides: dict[str, Any] = {"a": {"os": "xp"}, "b": {"os": "linux"}}
    xp, linux = cell(printed(40.0, 0.5), os="xp"), cell(printed(10.0, 0.5), os="linux")
    [own] = compared("ratio", WithRatio([xp, linux]), **sides, min=1.0)
    assert (own.value, own.what) == (pytest.approx(4.0), "(os xp) / (os linux)")
    for derived in ([replace(xp, is_derived=True), linux], [xp, replace(linux, is_derived=True)]):
        [told] = compared("ratio", WithRatio(derived), **sides, min=4.0, max=6.0)
        assert told.value == pytest.approx(5.0)
        assert told.interval(0.95) == pytest.approx((4.95, 5.05))
        assert (told.what, told.measure, told.unit) == ("(os xp) / (os linux)", "ratio", "ratio")
        assert (told.least, told.most, told.is_strict, told.point) == (4.0, 6.0, False, "holds")
        # Where no ratio is printed, it is that of both sides after all.
        [made] = compared("ratio", Given(derived), **sides, min=1.0)
        assert made.value == pytest.approx(4.0)
    [below] = compared("less", WithRatio([replace(xp, is_derived=True), linux]), **sides)
    assert (below.is_strict, below.point) == (True, "does not hold")


def test_sides_with_the_same_wording_keep_their_order() -> None:
    evidence = along("size", {1: 10.0, 2: 20.0, 3: 40.0})
    [found] = compared("less", evidence, a={"take": "least"}, b={"take": "greatest"})
    assert (found.value, found.least, found.most) == (pytest.approx(0.25), None, 1.0)
    assert found.what == (
        "(the least (at size 1 among those tried)) / (the greatest (at size 3 among those tried))"
    )
    named = along("os", {"b": 10.0, "a": 20.0})
    [turned] = compared("less", named, a={"os": "b"}, b={"os": "a"})
    assert (turned.what, turned.value, turned.least) == ("(os a) / (os b)", pytest.approx(2.0), 1.0)
    # With a factor the sides are as they were written.
    [kept] = compared("less", named, a={"os": "b"}, b={"os": "a"}, by_ratio=1.5)
    assert (kept.what, kept.most) == ("(os b) / (os a)", 1 / 1.5)


def test_two_metrics_are_worded_by_their_names() -> None:
    @dataclass
    class Both(Given):
        def cells(self, metric: str) -> Sequence[Cell]:
            factor = {"goodput_bps": 1.0, "offered_bps": 2.0}[metric]
            return [replace(one, sample=times(one.sample, factor)) for one in self.found]

    evidence = Both([cell(trials(10.0), os="xp")])
    sides: dict[str, Any] = {"a": {"metric": "goodput_bps"}, "b": {"metric": "offered_bps"}}
    [ratio] = compared("ratio", evidence, **sides, min=0.1)
    assert (ratio.what, ratio.value) == (
        "(goodput_bps) / (offered_bps) at os xp",
        pytest.approx(0.5),
    )
    [less] = compared("difference", evidence, **sides, max=1.0)
    assert (less.what, less.value) == (
        "(goodput_bps) - (offered_bps) at os xp",
        pytest.approx(-10.0),
    )


def test_an_interval_without_correction_has_95_percent_confidence() -> None:
    """5, 5, 5 and one that was lost: 5 as well, and no trial differs, or 8, and it is tested:
    5.75 with a deviation of 1.5, t of three degrees of freedom 3.182446."""
    lost = Trials((5.0, 5.0, 5.0), (), (1, 2, 3), (((5.0, 8.0), 4),))
    evidence = Given([cell(lost, os="xp")], metric="errors")
    [one] = judged("value", evidence, metric="errors", min=4.0).comparisons
    assert (one.comparison.basis, one.p_holm, one.confidence) == ("all equal", None, None)
    assert (one.low, one.high) == pytest.approx((5.75 - 3.182446 * 0.75, 5.75 + 3.182446 * 0.75))
    assert (one.comparison.value, one.comparison.lost_trials) == (5.0, 1)


def test_an_interval_is_cut_at_the_metric_end_unless_a_trial_exceeds_it() -> None:
    """0.9, 1.0 and 1.1: a share that was above 1 is none; t of two degrees of freedom 4.302653."""
    half = 4.302653 * 0.1 / math.sqrt(3)
    above = Given([cell(Trials((0.9, 1.0, 1.1)), os="xp")], metric="received_ratio")
    [one] = compared("value", above, metric="received_ratio", min=0.0)
    assert one.interval(0.95) == pytest.approx((1 - half, 1 + half))
    below = Given([cell(Trials((-0.1, 0.0, 0.1)), os="xp")], metric="errors")
    [one] = compared("value", below, metric="errors", max=9.0)
    assert one.interval(0.95) == pytest.approx((-half, half))
    # Also not where a condition that may be the least as well did.
    cells = [cell(Trials((0.05, 0.1, 0.15)), size=1), cell(Trials((-0.1, 0.2, 0.5)), size=2)]
    tied = Given(cells, metric="errors")
    [one] = compared("value", tied, metric="errors", at={"take": "least"}, max=9.0)
    assert one.candidates == 2 and one.interval(0.95)[0] < 0
    # A printed mean is a number that was seen, too.
    spread = Given([cell(PrintedSpread(0.01, 0.5, 9), os="xp")], metric="errors")
    [one] = compared("value", spread, metric="errors", max=9.0)
    assert one.interval(0.95)[0] == 0.0


def test_the_width_of_each_interval_follows_the_rank_of_its_p() -> None:
    """The least p of four is held against a fourth of 5 %, the next against a third; behind the
    first that is not decided all are held against what that one is. Alphabets do not matter."""
    off = {"d": 9.0, "b": 5.0, "a": 0.1, "c": 0.05}
    cells = [cell(Trials(tuple(x + one for one in (-1.0, 0.0, 1.0, 0.5, -0.5))), os=os)
             for os, x in off.items()]  # fmt: skip
    evidence = Given(cells, metric="errors")
    asked = [finding("value", metric="errors", at={"os": os}, max=0.0) for os in "abcd"]
    found = judge(asked, evidence)
    seen = {one.comparisons[0].comparison.what: one.comparisons[0] for one in found.judgements}
    truths = {name: one.truth for name, one in seen.items()}
    assert truths == {
        **dict.fromkeys(("os a", "os c"), "undecided"),
        **dict.fromkeys(("os b", "os d"), "does not hold"),
    }
    levels = {name: 1 - (one.confidence or 0) for name, one in seen.items()}
    assert levels == pytest.approx(
        {"os d": 0.05 / 4, "os b": 0.05 / 3, "os a": 0.05 / 2, "os c": 0.05 / 2}
    )
    assert {one.family for one in seen.values()} == {4}
    # What would decide is asked for at the same level.
    wanted = seen["os a"].comparison.trials_needed(0.05 / 2)
    assert seen["os a"].trials_needed == wanted
    assert seen["os d"].trials_needed is None


@pytest.mark.parametrize(("lesser", "candidates"), [(9.0, 2), (8.99, 1)])
def test_published_numbers_with_overlapping_roundings_are_undecided(
    lesser: float, candidates: int
) -> None:
    cells = [cell(printed(10.0, 0.5), size=1), cell(printed(lesser, 0.5), size=2)]
    evidence = Given(cells, metric="errors")
    [one] = compared("value", evidence, metric="errors", at={"take": "greatest"}, min=1.0)
    assert one.candidates == candidates
    [least] = compared("value", evidence, metric="errors", at={"take": "least"}, min=1.0)
    assert (least.candidates, least.value) == (candidates, lesser)


def test_shares_are_compared_with_bounds_and_equivalence_with_both_ends() -> None:
    evidence = along("os", {"xp": 0.5, "linux": 0.55})
    [share] = compared("share", evidence, at={"os": "xp"}, min=0.25, max=0.75)
    assert (share.least, share.most, share.unit, share.measure) == (0.25, 0.75, "share", "share")
    sides: dict[str, Any] = {"a": {"os": "xp"}, "b": {"os": "linux"}}
    [ratio] = compared("equivalent", evidence, **sides, margin_ratio=0.25)
    assert (ratio.least, ratio.most, ratio.unit) == (0.75, 1.25, "ratio")
    [margin] = compared("equivalent", evidence, **sides, margin=0.25)
    assert (margin.least, margin.most, margin.unit) == (-0.25, 0.25, "metric")
    [difference] = compared("difference", evidence, **sides, min=-0.5, max=0.125)
    assert (difference.least, difference.most) == (-0.5, 0.125)
    assert difference.value == pytest.approx(-0.05)
    assert {one.is_strict for one in (share, ratio, margin, difference)} == {False}


def test_any_of_several_parts_and_a_number_of_combinations() -> None:
    means = {("xp", 1): 1.0, ("xp", 2): 2.0, ("linux", 1): 3.0, ("linux", 2): 4.0}
    cells = [cell(Trials((mean,) * 3), os=os, size=n) for (os, n), mean in means.items()]
    evidence = Given(cells)
    above: dict[str, Any] = {"form": "value", "min": 2.5}

    def counted(over: list[str], **bounds: int) -> Judgement:
        return judged("count", evidence, over=over, of=above, **bounds)

    both = ["os", "size"]
    assert counted(both, min=2).verdict == counted(both, max=2).verdict == "holds"
    assert counted(both, min=3).verdict == counted(both, max=1).verdict == "does not hold"
    [tally] = counted(both, min=2, max=3).tallies
    assert (tally.parts, tally.shown, tally.refuted, tally.least, tally.most) == (4, 2, 2, 2, 3)
    # Of two systems, each at both sizes.
    [of_two] = counted(["os"], min=1).tallies
    assert (of_two.parts, of_two.shown, of_two.refuted) == (2, 1, 1)
    assert counted(both, min=4).verdict == "does not hold"
    few = counted(both, min=5)
    assert few.reasons == ("only 4 combinations of os, size; the claim needs 5",)
    assert counted(["host"], min=1).reasons == ("no goodput_bps at host",)
    parts = [{**above, "at": {"os": os}} for os in ("xp", "linux")]
    assert judged("any", evidence, of=parts).verdict == "holds"
    assert judged("any", evidence, of=parts[:1]).verdict == "does not hold"
    assert judged("all", evidence, of=parts).verdict == "does not hold"


def test_a_decided_verdict_lists_no_remedies() -> None:
    evidence = along("os", {"xp": 100.0, "linux": 106.0}, tuple(5 * one for one in STEADY))
    open_part = {"form": "less", "a": {"os": "xp"}, "b": {"os": "linux"}}
    sure = {"form": "value", "at": {"os": "xp"}, "min": 1.0}
    gone = {"form": "value", "at": {"os": "be"}, "min": 1.0}
    stands = judged("any", evidence, of=[sure, open_part, gone])
    assert {one.truth for one in stands.comparisons} == {"holds", "undecided"}
    assert (stands.verdict, stands.means, stands.reasons, stands.further) == (
        *("holds", None, (), None),
    )
    open_one = judged("all", evidence, of=[sure, open_part])
    assert (open_one.verdict, open_one.means, open_one.reasons) == ("undecided", "holds", ())
    assert open_one.further is not None and open_one.further.trials > 0
    # A part without a number leaves a run untested, and then no trials of the others are named.
    partly = judged("all", evidence, of=[sure, open_part, gone])
    assert (partly.verdict, partly.means, partly.further) == ("not tested", "holds", None)
    assert partly.reasons == ("no goodput_bps at os be",)
    assert partly.is_repeatable
    paper = judged("all", replace(evidence, can_lack=True), of=[sure, open_part, gone])
    assert (paper.verdict, paper.further, paper.is_repeatable) == ("undecided", None, False)
    # Printed numbers that their digits leave open mean nothing yet.
    near = Given([cell(printed(10.0, 0.5), os="xp"), cell(printed(10.2, 0.5), os="linux")])
    told = judged("less", near, a={"os": "xp"}, b={"os": "linux"})
    assert (told.verdict, told.means, told.further) == ("undecided", None, None)
    one_trial = Given([cell(Trials((10.0,)), os="xp")])
    single = judged("value", one_trial, min=1.0)
    assert (single.verdict, single.means) == ("undecided", "holds")


def test_a_value_is_compared_on_its_metric_scale_if_both_bounds_allow() -> None:
    """9, 10 and 11 bit/s: by a factor, and with a bound of 0 by a difference."""
    evidence = Given([cell(Trials((9.0, 10.0, 11.0)), os="xp")])

    def ends(**bounds: float) -> tuple[float, float]:
        [one] = compared("value", evidence, **bounds)
        assert (one.unit, one.measure, one.value) == ("metric", "value", pytest.approx(10.0))
        return one.interval(0.95)

    half = 4.302653 / math.sqrt(3)
    for by_difference in ({"min": 0.0}, {"min": 0.0, "max": 20.0}):
        assert ends(**by_difference) == pytest.approx((10 - half, 10 + half))
    for by_factor in ({"min": 0.5}, {"max": 20.0}, {"min": 1.0, "max": 20.0}):
        low, high = ends(**by_factor)
        assert low * high == pytest.approx(100.0) and low > 10 - half


def test_values_that_may_be_zero_are_compared_without_a_ratio() -> None:
    cells = [
        cell(Trials((10.0, 10.1, 9.9)), os="xp", size=1),
        cell(Trials((0.0, 5.0, 20.0)), os="xp", size=2),
        cell(Trials((2.0, 2.1, 1.9)), os="linux", size=1),
    ]
    sides: dict[str, Any] = {"a": {"os": "xp", "take": "greatest"}, "b": {"os": "linux"}}
    found = judged("ratio", Given(cells), **sides, min=2.0)
    told = "a condition that could be the extreme one has a value that is not above zero"
    assert (found.verdict, found.reasons) == ("not tested", (f"{told}; name the levels",))
    paper = judged("ratio", Given(cells, can_lack=True), **sides, min=2.0)
    assert (paper.verdict, paper.reasons) == ("undecided", found.reasons)
    # Named, it is a ratio; of zero itself it is a weighted difference.
    named = {**sides, "a": {"os": "xp", "size": 1}}
    assert compared("ratio", Given(cells), **named, min=2.0)[0].measure == "ratio"
    zero = {**sides, "a": {"os": "xp", "size": 2}}
    assert compared("ratio", Given(cells), **zero, min=2.0)[0].measure == "difference"
