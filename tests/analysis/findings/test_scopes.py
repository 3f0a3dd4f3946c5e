"""What a part of a statement speaks of: scopes, and the conditions that are found in them."""

from dataclasses import replace
from typing import Any

import pytest
from bodies_of_evidence import along, cell, printed, trials, verdicts
from given_numbers import Given

from lanlab.analysis.findings.claim import Gap
from lanlab.analysis.findings.evidence import Cell, matches, named_words, words
from lanlab.analysis.findings.scope import Scope
from lanlab.analysis.findings.sides import (
    Place,
    Side,
    alike,
    expanded,
    gap,
    only,
    open_factors,
    pairs,
    places,
    projections,
    series,
    taken,
)
from lanlab.studies.base import Level
from lanlab.studies.selection import Selection

MEANS = {("xp", 1): 10.0, ("xp", 2): 20.0, ("linux", 1): 30.0, ("linux", 2): 40.0}
GRID = Given([cell(trials(mean), os=os, size=size) for (os, size), mean in MEANS.items()])


def selection(**said: Any) -> Selection:
    return Selection.model_validate(said)


def scope(evidence: Given = GRID, **said: Any) -> Scope:
    return Scope(evidence, "goodput_bps").within(selection(**said))


def levels(cells: list[Cell]) -> list[tuple[Level, ...]]:
    return [tuple(one.levels.values()) for one in cells]


def test_an_inner_table_overrides_the_outer_one() -> None:
    outer = scope(os=["xp", "linux"], size=1, take="greatest")
    assert outer.named == {"os": ("xp", "linux"), "size": (1,)}
    # Only of its own table, and only where there is a list to take from.
    assert (outer.take, outer.taken_lists) == ("greatest", frozenset({"os"}))
    assert outer.within(None) == outer
    more = outer.within(selection(size=[1, 2]))
    assert more.named == {"os": ("xp", "linux"), "size": (1, 2)}
    assert (more.take, more.taken_lists) == ("greatest", frozenset({"os"}))
    again = outer.within(selection(os=["linux", "xp"]))
    assert (again.named["os"], again.taken_lists) == (("linux", "xp"), frozenset())
    least = outer.within(selection(size=[1, 2], take="least"))
    assert (least.take, least.taken_lists) == ("least", frozenset({"size"}))
    each = outer.within(selection(take="each"))
    assert (each.take, each.taken_lists) == (None, frozenset())


def test_the_nearest_named_metric_applies() -> None:
    outer = Scope(GRID, "outer")
    assert outer.within(None).metric == outer.within(selection(os="xp")).metric == "outer"
    assert outer.within(None, "argument").metric == "argument"
    assert outer.within(selection(os="xp"), "argument").metric == "argument"
    assert outer.within(selection(metric="own"), "argument").metric == "own"


def test_fixing_or_freeing_a_factor_leaves_the_others_unchanged() -> None:
    whole = scope(os=["xp", "linux"], size=[1, 2], take="least")
    assert whole.taken_lists == {"os", "size"}
    fixed = whole.fixed({"size": 2, "host": "a"})
    assert fixed.named == {"os": ("xp", "linux"), "size": (2,), "host": ("a",)}
    assert (fixed.taken_lists, fixed.take, fixed.metric) == (
        frozenset({"os"}),
        "least",
        "goodput_bps",
    )
    left = whole.without("size")
    assert left.named == {"os": ("xp", "linux")}
    assert (left.taken_lists, left.take, left.metric) == (frozenset({"os"}), "least", "goodput_bps")


def test_lists_of_alternatives_are_not_iterated() -> None:
    lists = scope(os=["xp", "linux"], size=[1, 2], host="a")
    assert lists.single() == {"host": "a"}
    assert lists.lists() == {"os": ("xp", "linux"), "size": (1, 2)}
    assert [one.single() for one in lists.each()] == [
        {"os": os, "size": size, "host": "a"} for os in ("xp", "linux") for size in (1, 2)
    ]
    reduced = scope(os=["xp", "linux"], take="least").within(selection(size=[1, 2]))
    assert reduced.lists() == {"size": (1, 2)}


def test_named_levels_precede_known_levels_and_known_precede_measured() -> None:
    assert scope(size=[2, 1]).levels_along("size") == (1, 2)
    assert scope(os=["xp", "linux"]).levels_along("os") == ("xp", "linux")
    assert scope(size=[2, "all", 1]).levels_along("size") == (2, "all", 1)
    known = replace(GRID, known={"size": (4, 3)})
    assert scope(known).levels_along("size") == (3, 4)
    # Of the conditions that the rest of the scope names.
    uneven = Given([*GRID.found, cell(trials(50.0), os="linux", size=3)])
    assert scope(uneven, os="linux").levels_along("size") == (1, 2, 3)
    assert scope(uneven, os="xp").levels_along("size") == (1, 2)
    assert scope(uneven).levels_along("host") == ()


def test_a_range_end_exists_only_if_its_scope_takes_it() -> None:
    end = replace(cell(printed(90.0), os="xp"), stands="greatest")
    evidence = Given([*GRID.found, end])
    assert len(scope(evidence).cells()) == 4
    assert len(scope(evidence, take="least").cells()) == 4
    assert levels(scope(evidence, take="greatest").cells())[-1] == ("xp",)
    # It speaks of all sizes that are taken from, and not of one that is named.
    assert levels(scope(evidence, size=[1, 2], take="greatest").cells())[-1] == ("xp",)
    assert len(scope(evidence, size=1, take="greatest").cells()) == 2
    assert levels(scope(evidence, os=["linux", "xp"], take="greatest").cells())[-1] == ("xp",)
    assert len(scope(evidence, os=["linux", "be"], take="greatest").cells()) == 2
    assert scope(evidence).cells() and not scope(evidence, os="be").cells()


def test_a_condition_matches_if_all_named_factors_have_named_levels() -> None:
    known: dict[str, Level] = {"os": "xp", "size": 2}
    assert matches(known, {})
    assert matches(known, {"os": ("xp",), "size": (1, 2)})
    assert not matches(known, {"os": ("xp",), "size": (1, 3)})
    assert not matches(known, {"os": ("xp",), "host": ("a",)})
    assert words(known, ["size", "host", "os"]) == "size 2, os xp"
    assert named_words({"os": ("xp",), "size": (1, 2), "host": ()}) == "os xp, size 1 | 2, host"


def test_there_is_a_series_for_each_open_combination() -> None:
    uneven = Given([one for one in GRID.found if one.levels != {"os": "linux", "size": 1}])
    found = series(scope(uneven, size=[1, 2]), "size")
    assert [one.levels for one in found] == [[1, 2], [1, 2]]
    seen = [[isinstance(place.found, Side) for place in one.places.values()] for one in found]
    assert seen == [[True, True], [False, True]]
    gap = found[1].places[1].found
    assert gap == Gap("no goodput_bps at os linux, size 1")


def test_a_series_of_a_run_has_only_measured_levels() -> None:
    uneven = Given([*GRID.found, cell(trials(50.0), os="linux", size=3)], known={"size": (1, 2, 3)})
    assert [one.levels for one in series(scope(uneven), "size")] == [[1, 2], [1, 2, 3]]
    named = series(scope(uneven, size=[1, 2, 3]), "size")
    assert [one.levels for one in named] == [[1, 2, 3], [1, 2, 3]]
    paper = replace(uneven, can_lack=True)
    assert [one.levels for one in series(scope(paper), "size")] == [[1, 2, 3], [1, 2, 3]]
    assert [one.levels for one in series(scope(uneven), "size", (2, 1))] == [[2, 1], [2, 1]]


def test_a_peak_is_worded_without_its_starting_level() -> None:
    falling = along("size", {1: 10.0, 2: 30.0, 3: 20.0})
    [found] = verdicts("peak_then_decline", falling, along="size").judgements
    assert [one.comparison.what for one in found.comparisons] == [
        "(the greatest (at size 2 among those tried)) / (size 3)"
    ]


def test_a_missing_condition_has_a_reason() -> None:
    one = only(scope(os="xp", size=2))
    assert isinstance(one.found, Side) and one.found.cell is GRID.found[1]
    none = only(scope(os="be", size=2)).found
    assert none == Gap("no goodput_bps at os be, size 2", False)
    several = only(scope(os="xp")).found
    assert isinstance(several, Gap) and several.is_partial
    assert several.reason == (
        "2 conditions at os xp, which differ in size: name one of its levels, or `take` one of them"
    )
    # Two experiments that measured the same condition differ in nothing that can be named.
    twice = Given([replace(GRID.found[0], group="a"), replace(GRID.found[0], group="b")])
    alike_ones = only(scope(twice, os="xp")).found
    assert isinstance(alike_ones, Gap) and "differ in the experiment" in alike_ones.reason


def test_places_are_conditions_or_one_for_each_list_entry() -> None:
    every = places(scope(os=["linux", "xp"]))
    assert [place.factors for place in every] == [
        {"os": os, "size": size} for os in ("linux", "xp") for size in (1, 2)
    ]
    best = places(scope(size=[1, 2]).within(selection(os=["xp", "linux"], take="greatest")))
    assert [place.factors for place in best] == [{"size": 1}, {"size": 2}]
    assert [place.taken for place in best] == ["the greatest, at os linux"] * 2
    missing = places(scope(os=["be", "xp"], size=1))
    assert [isinstance(place.found, Side) for place in missing] == [False, True]
    assert missing[0].factors == {"os": "be", "size": 1} and missing[0].taken == ""


def test_a_single_condition_is_its_own_extreme() -> None:
    one = scope(os="xp", size=1, take="least")
    assert taken(one, GRID.found[:1]) == Side(GRID.found[0], (), "")
    end = replace(cell(printed(5.0), os="xp"), stands="least")
    assert taken(one, [end]) == Side(end, (), "least")
    assert Place(one, Side(end, (), "least")).taken == "the least"


def test_a_published_extreme_covers_all_its_conditions() -> None:
    end = replace(cell(printed(25.0), os="xp"), stands="greatest")
    both = scope(Given([*GRID.found, end]), take="greatest")
    side = taken(both, both.cells())
    assert isinstance(side, Side) and side.cell is GRID.found[3] and side.tied == ()
    high = replace(end, sample=printed(95.0))
    other = scope(Given([*GRID.found, high]), take="greatest")
    side = taken(other, other.cells())
    assert isinstance(side, Side) and side.cell is high


def test_conditions_covered_by_a_published_extreme_are_not_candidates() -> None:
    """The greatest of xp is printed as 20.2, of linux as 40.1: their own sizes are among these."""
    ends = [
        replace(cell(printed(mean, 0.5), os=os), stands="greatest")
        for os, mean in (("xp", 20.2), ("linux", 40.1))
    ]
    for os, end in (("xp", ends[0]), ("linux", ends[1])):
        one = scope(Given([*GRID.found, *ends]), os=os, take="greatest")
        side = taken(one, one.cells())
        assert side == Side(end, (), "greatest")
    # Of both together the one of linux; the other is told apart.
    both = scope(Given([*GRID.found, *ends]), take="greatest")
    assert taken(both, both.cells()) == Side(ends[1], (), "greatest")


def test_missing_evidence_is_named_by_metric_or_share() -> None:
    class Silent(Given):
        def why_not(self, *_: object) -> str:
            return ""

    nowhere = scope(Silent([]), os="xp")
    assert gap(nowhere) == Gap("no goodput_bps at os xp", False)
    assert gap(nowhere, True) == Gap("no share of the link at os xp", False)
    assert places(nowhere)[0].found == Gap("no goodput_bps at os xp")
    assert places(nowhere, True)[0].found == Gap("no share of the link at os xp")


def test_the_minimum_is_the_lowest_value() -> None:
    side = taken(scope(take="least"), GRID.found)
    assert isinstance(side, Side)
    assert (side.cell, side.tied, side.taken) == (GRID.found[0], (), "least")


def test_common_lists_vary_together_and_others_separately() -> None:
    common = scope(size=[1, 2])
    both = list(expanded(common, selection(os="xp"), selection(os="linux")))
    assert [(a.single()["size"], b.single()["size"]) for a, b in both] == [(1, 1), (2, 2)]
    own = list(expanded(common, selection(os="xp", size=[1, 2]), selection(os="linux")))
    assert [(a.single()["size"], b.single()["size"]) for a, b in own] == [
        *((1, 1), (1, 2), (2, 1), (2, 2))
    ]


def test_factors_named_on_neither_side_vary_together() -> None:
    found = list(pairs(scope(), selection(os="xp"), selection(os="linux")))
    assert [(a.factors["size"], b.factors["size"]) for a, b in found] == [(1, 1), (2, 2)]
    # Where one side takes one of several, that is what it leaves open.
    best = list(pairs(scope(), selection(os="xp"), selection(os="linux", take="greatest")))
    assert [(a.factors.get("size"), b.taken) for a, b in best] == [
        (1, "the greatest, at size 2"),
        (2, "the greatest, at size 2"),
    ]
    assert list(alike([scope(os="xp"), scope(os="be")])) == [{}]
    assert list(alike([scope(os="xp")], given=frozenset({"size"}))) == [{}]


def test_unnamed_factors_of_all_conditions_are_open() -> None:
    a = [Cell({"os": "xp", "size": 1, "mtu": 1500}, ("os", "size"), trials(1.0))]
    b = [Cell({"os": "be", "size": 2, "mtu": 9000}, ("os", "size"), trials(1.0))]
    assert open_factors([a, b], {"os"}) == ["size"]
    assert open_factors([a, b], set()) == ["os", "size"]
    # A parameter that no experiment varies tells two experiments apart where both sides have both.
    both = [*a, *b]
    assert open_factors([a, a], set()) == []
    assert open_factors([both, both], {"os", "size"}) == ["mtu"]
    assert open_factors([both, b], {"os", "size"}) == ["mtu"]
    assert open_factors([[*a, Cell({"os": "xp"}, ("os",), trials(1.0))], b], {"os"}) == []
    end = replace(a[0], levels={"os": "xp"}, stands="least")
    assert open_factors([[*a, end], b], {"os"}) == ["size"]


def test_only_existing_combinations_are_listed_once_and_in_order() -> None:
    assert projections(GRID.found, ["size"]) == [{"size": 1}, {"size": 2}]
    turned = list(reversed(GRID.found))
    assert projections(turned, ["os", "host"]) == [{"os": "linux"}, {"os": "xp"}]


@pytest.mark.parametrize("assumed", [{}, {"os": "xp"}])
def test_an_assumed_level_is_not_mentioned(assumed: dict[str, Level]) -> None:
    evidence = replace(GRID, assumed=assumed)
    gap = Place(scope(evidence, os="xp", size=3), Gap("none"))
    assert gap.factors == {"size": 3} | ({} if assumed else {"os": "xp"})
