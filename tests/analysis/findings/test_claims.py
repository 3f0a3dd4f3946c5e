"""What a claim comes to: chances on both sides of its bounds, and statements of several parts."""

import itertools
import math
from dataclasses import replace
from typing import Any

import pytest
from scipy import stats

from lanlab.analysis.findings.as_data import comparison_as_data
from lanlab.analysis.findings.claim import (
    Comparison,
    Gap,
    Joined,
    Tally,
    all_of,
    compared,
    comparisons,
    gaps,
    known_part,
    tallies,
    truth_of,
    without_repeats,
)
from lanlab.analysis.findings.contrast import Estimate
from lanlab.analysis.findings.verdicts import Judged

HOLDS, NOT, OPEN, UNTESTED = "holds", "does not hold", "undecided", "not tested"


def estimate(value: float, error: float = 1.0, df: float = 4.0, **more: Any) -> Estimate:
    return Estimate(value, more.pop("basis", "tested"), more.pop("test", "t"), error, df, **more)


def claim(*estimates: Estimate, **more: Any) -> Comparison:
    told = {"what": "a", "metric": "m", "measure": "difference", "scale": "linear"}
    return compared(**{**told, "estimates": estimates, **more})  # type: ignore[arg-type]


def t_above(distance: float) -> float:
    return float(stats.t.sf(distance, 4))


def test_a_lower_bound_is_tested_from_above_and_an_upper_one_from_below() -> None:
    above = claim(estimate(3.0), least=1.0)
    assert (above.p_for, above.p_against) == pytest.approx((t_above(2), 1 - t_above(2)))
    assert above.p == pytest.approx(2 * t_above(2))
    below = claim(estimate(3.0), most=1.0)
    assert (below.p_for, below.p_against) == pytest.approx((1 - t_above(2), t_above(2)))
    assert (above.point, below.point) == (HOLDS, NOT)


def test_within_two_bounds_the_weaker_side_counts_and_beyond_them_the_stronger() -> None:
    within = claim(estimate(3.0), least=1.0, most=6.0)
    assert within.p_for == pytest.approx(t_above(2))
    assert within.p_against == pytest.approx(1 - t_above(2))
    beyond = claim(estimate(8.0), least=1.0, most=6.0)
    assert beyond.p_for == pytest.approx(1 - t_above(2))
    assert beyond.p_against == pytest.approx(t_above(2))
    assert (within.point, beyond.point) == (HOLDS, NOT)


def test_the_least_certain_value_of_lost_trials_counts() -> None:
    seen = claim(estimate(3.0), estimate(2.0), estimate(4.0), least=1.0, lost_trials=2)
    assert (seen.value, seen.lost_trials) == (3.0, 2)
    assert seen.p_for == pytest.approx(t_above(1))
    assert seen.p_against == pytest.approx(1 - t_above(3))
    half = float(stats.t.ppf(0.975, 4))
    assert seen.interval(0.95) == pytest.approx((2 - half, 4 + half))
    upper = claim(estimate(3.0), estimate(2.0), estimate(4.0), most=6.0)
    assert upper.p_for == pytest.approx(t_above(2))
    mixed = claim(estimate(3.0), estimate(2.0, basis="all equal", test="none"), least=1.0)
    assert (mixed.basis, mixed.test, mixed.is_tested) == ("all equal", "none", False)
    assert (mixed.p_for, mixed.p_against, mixed.p, mixed.point) == (1, 1, 1, HOLDS)
    torn = claim(estimate(3.0), estimate(0.5, basis="all equal", test="none"), least=1.0)
    assert torn.point == OPEN


def test_on_the_log_scale_bounds_and_values_are_ratios() -> None:
    seen = claim(estimate(math.log(3), 0.5), least=2.0, most=4.0, measure="ratio", scale="log")
    assert seen.value == pytest.approx(3)
    assert (seen.least, seen.most, seen.unit) == (2.0, 4.0, "ratio")
    assert seen.p_for == pytest.approx(
        max(t_above(math.log(1.5) / 0.5), t_above(math.log(4 / 3) / 0.5))
    )
    half = float(stats.t.ppf(0.95, 4)) * 0.5
    assert seen.interval(0.9) == pytest.approx((3 * math.exp(-half), 3 * math.exp(half)))
    assert claim(estimate(800.0), measure="ratio", scale="log").value == math.inf
    assert claim(estimate(-3.0), least=0.0, measure="ratio", scale="log").point == HOLDS


@pytest.mark.parametrize(
    ("measure", "scale", "unit"),
    [
        ("share", "linear", "share"),
        ("share", "log", "share"),
        ("ratio", "log", "ratio"),
        ("difference", "linear", "metric"),
        ("value", "log", "metric"),
        ("value", "linear", "metric"),
    ],
)
def test_a_difference_has_the_metric_unit_and_a_ratio_has_none(
    measure: str, scale: str, unit: str
) -> None:
    assert claim(estimate(0.0), measure=measure, scale=scale).unit == unit


def test_a_bound_is_met_within_a_billionth_of_the_greatest_number() -> None:
    assert claim(estimate(1e6), least=1e6 + 1e-4).point == HOLDS
    assert claim(estimate(1e6), least=1e6 + 1e-2).point == NOT
    assert claim(estimate(1e6), most=1e6 - 1e-4).point == HOLDS
    assert claim(estimate(1e6), most=1e6 - 1e-2).point == NOT
    assert claim(estimate(1e6), least=1e6 - 1e-4, strict=True).point == NOT
    assert claim(estimate(1e6), most=1e6 + 1e-4, strict=True).point == NOT
    for sign in (1, -1):
        small = estimate(sign * 5e-11, 1e-12)
        above, below = ((HOLDS, NOT), (NOT, HOLDS))[sign < 0]
        assert claim(small, least=0.0, strict=True).point == above
        assert claim(small, most=0.0, strict=True).point == below
        assert claim(small, least=0.0, most=None).point == above
        assert claim(small, most=0.0).point == below


def test_a_claim_without_bounds_holds_for_any_number() -> None:
    free = claim(estimate(3.0))
    assert (free.p_for, free.p_against, free.p, free.point) == (0.0, 1.0, 0.0, HOLDS)
    assert (free.least, free.most, free.conditions, free.lost_trials) == (None, None, (), 0)
    assert (free.candidates, free.is_strict) == (1, False)


def test_one_untested_alternative_leaves_a_claim_untested() -> None:
    tested, equal = estimate(3.0), estimate(4.0, basis="all equal", test="none: no trial differed")
    for ways in ((tested, equal), (equal, tested)):
        seen = claim(*ways, least=1.0)
        assert (seen.basis, seen.test) == ("all equal", "none: no trial differed")
        assert (seen.p_for, seen.p_against, seen.point, seen.value) == (
            *(1.0, 1.0, HOLDS, ways[0].value),
        )
        assert claim(*ways, least=3.5).point == OPEN
        assert claim(*ways, least=9.0).point == NOT
    both = claim(tested, estimate(4.0), least=3.5)
    assert (both.basis, both.test, both.point) == ("tested", "t", NOT)


def test_the_interval_covers_every_possible_value_of_lost_trials() -> None:
    ways = [estimate(3.0, 1.0), estimate(5.0, 2.0), estimate(4.0, 0.1)]
    t = float(stats.t.ppf(0.975, 4))
    seen = claim(*ways, least=0.0)
    assert seen.interval(0.95) == pytest.approx((5 - 2 * t, 5 + 2 * t))
    assert seen.value == 3.0
    narrow = claim(estimate(3.0, 0.1), estimate(5.0, 0.2), least=0.0)
    assert narrow.interval(0.95) == pytest.approx((3 - 0.1 * t, 5 + 0.2 * t))
    by_log = claim(*ways, least=1.0, scale="log", measure="ratio")
    low, high = by_log.interval(0.95)
    assert (math.log(low), math.log(high)) == pytest.approx((5 - 2 * t, 5 + 2 * t))


def number(below: float, above: float, is_bound: bool = False) -> Estimate:
    more = {"basis": "as printed", "test": "means only", "error": 0.0}
    return estimate(26.5, below=below, above=above, is_bound=is_bound, **more)


def test_rounding_leaves_a_bound_open_only_if_strict_or_crossed() -> None:
    seen = number(0.05, 0.05)
    assert claim(seen, least=26.5).point == HOLDS
    assert claim(seen, least=26.5, strict=True).point == OPEN
    assert claim(seen, least=26.52).point == OPEN
    assert claim(seen, most=26.48).point == OPEN
    assert claim(seen, least=26.56).point == NOT
    assert claim(seen, most=26.44).point == NOT
    at_least = number(0.0, math.inf, True)
    assert claim(at_least, least=26.0).point == HOLDS
    assert claim(at_least, least=27.0).point == OPEN
    assert claim(at_least, most=26.0).point == NOT
    assert claim(at_least, most=27.0).point == OPEN


def leaf(name: str) -> Comparison:
    return claim(estimate(1.0), least=0.0, what=name)


def outcome(how: str, found: tuple[str, ...], gap: str = OPEN, **bounds: float) -> str:
    parts, truths = [], {}
    for at, truth in enumerate(found):
        part = Gap("unknown") if truth == UNTESTED else leaf(str(at))
        parts.append(part)
        if isinstance(part, Comparison):
            truths[part.key] = truth
    joined = Joined(how, tuple(parts), **bounds)  # type: ignore[arg-type]
    return truth_of(joined, truths, gap)  # type: ignore[arg-type]


@pytest.mark.parametrize("gap", [OPEN, HOLDS])
def test_all_and_any_follow_kleenes_logic(gap: str) -> None:
    order = {NOT: 0, OPEN: 1, HOLDS: 2}
    back = {rank: truth for truth, rank in order.items()}
    for found in itertools.product(order, repeat=3):
        ranks = [order[truth] for truth in found]
        assert outcome("all", found, gap) == back[min(ranks)]
        assert outcome("any", found, gap) == back[max(ranks)]
    assert outcome("all", (HOLDS, UNTESTED), gap) == gap
    assert outcome("all", (NOT, UNTESTED), gap) == NOT
    assert outcome("any", (HOLDS, UNTESTED), gap) == HOLDS
    assert outcome("any", (NOT, UNTESTED), gap) == gap
    for how in ("all", "any", "count"):
        assert outcome(how, (UNTESTED, UNTESTED), gap) == UNTESTED


@pytest.mark.parametrize(
    ("found", "bounds", "truth"),
    [
        ((HOLDS, HOLDS, NOT), {"least": 2}, HOLDS),
        ((HOLDS, HOLDS, NOT), {"least": 3}, NOT),
        ((HOLDS, OPEN, NOT), {"least": 2}, OPEN),
        ((HOLDS, OPEN, NOT), {"least": 1}, HOLDS),
        ((HOLDS, OPEN, NOT), {"most": 1}, OPEN),
        ((HOLDS, OPEN, NOT), {"most": 2}, HOLDS),
        ((HOLDS, HOLDS, OPEN), {"most": 1}, NOT),
        ((HOLDS, HOLDS, NOT), {"least": 2, "most": 2}, HOLDS),
        ((HOLDS, HOLDS, NOT), {}, HOLDS),
    ],
)
def test_a_count_is_decided_once_open_parts_cannot_change_it(
    found: tuple[str, ...], bounds: dict[str, float], truth: str
) -> None:
    assert outcome("count", found, **bounds) == truth


def test_only_a_partial_gap_leaves_a_claim_open() -> None:
    for is_partial, gap, truth in (
        (True, OPEN, OPEN),
        (True, HOLDS, UNTESTED),
        (False, OPEN, UNTESTED),
    ):
        assert truth_of(Gap("why", is_partial), {}, gap) == truth  # type: ignore[arg-type]


def test_evidence_from_the_claims_own_numbers_is_removed() -> None:
    own, mixed, free = (
        claim(estimate(1.0, sources=frozenset(sources))) for sources in ("a", "ab", "")
    )
    node = Joined("any", (own, Joined("all", (mixed, free)), Gap("g")))
    found = without_repeats(node, frozenset("a"))
    assert isinstance(found, Joined) and found.how == "any"
    assert [gap.reason for gap in gaps(found)] == [
        "the published numbers only repeat the claim",
        "g",
    ]
    assert list(comparisons(found)) == [mixed, free]
    assert list(comparisons(without_repeats(node, frozenset("ab")))) == [free]
    assert all_of([own]) is own
    assert all_of([own, free]) == Joined("all", (own, free))


def test_a_tally_lists_the_parts_of_each_count() -> None:
    a, b, c = map(leaf, "abc")
    inner = Joined("count", (b, c), least=1)
    node = Joined("count", (a, inner), 1, 2)
    truths = {a.key: HOLDS, b.key: NOT, c.key: NOT}
    assert list(tallies(node, truths, OPEN)) == [Tally(2, 1, 1, 1, 2), Tally(2, 0, 2, 1, None)]  # type: ignore[arg-type]
    assert list(tallies(Joined("all", (a, inner)), truths, OPEN)) == [Tally(2, 0, 2, 1, None)]  # type: ignore[arg-type]
    assert list(tallies(a, truths, OPEN)) == []  # type: ignore[arg-type]


def test_the_known_part_omits_open_and_unmeasured_parts() -> None:
    a, b = leaf("a"), replace(leaf("b"), point="undecided")
    assert known_part(Joined("count", (a, b, Gap("g")), 1, 2)) == Joined("count", (a,), 1, 2)
    assert known_part(Joined("all", (b, Gap("g")))) is None
    assert (known_part(a), known_part(b), known_part(Gap("g"))) == (a, None, None)


def test_a_claim_and_its_contrary_are_one_question_with_two_keys() -> None:
    at_least, at_most = claim(estimate(1.0), least=2.0), claim(estimate(1.0), most=2.0)
    assert at_least.question == at_most.question
    assert at_least.key != at_most.key
    assert claim(estimate(1.0), least=2.0, strict=True).key != at_least.key
    assert claim(estimate(1.0), least=2.0, conditions=("x",)).question != at_least.question


def test_json_has_a_p_only_for_tested_claims() -> None:
    seen = claim(estimate(3.0, n=(5, 6), hedges_g=0.7), least=1.0, lost_trials=2, candidates=3)
    judged = Judged(seen, HOLDS, 0.04, 7, 0.99, 2.0, math.inf, 12)  # type: ignore[arg-type]
    assert comparison_as_data(judged) == {
        "what": "a",
        "metric": "m",
        "measure": "difference",
        "verdict": HOLDS,
        "value": 3.0,
        "low": 2.0,
        "high": None,
        "confidence": 0.99,
        "claimed_least": 1.0,
        "claimed_most": None,
        "test": "t",
        "p": pytest.approx(2 * t_above(2)),
        "p_holm": 0.04,
        "hedges_g": 0.7,
        "trials": [5, 6],
        "lost_trials": 2,
        "candidates": 3,
        "trials_needed": 12,
        "model_error_factor": None,
    }
    untested = claim(number(0.05, 0.05), least=1.0)
    assert comparison_as_data(replace(judged, comparison=untested))["p"] is None
