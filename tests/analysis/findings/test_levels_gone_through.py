"""Statements that go along the levels of a factor: at their limits, and where a number lacks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from bodies_of_evidence import along, cell, compared, judged, printed, trials
from given_numbers import Given

from lanlab.analysis.findings.claim import Comparison
from lanlab.analysis.findings.sample import PrintedNumber, Trials
from lanlab.studies.base import Level


def test_a_sole_extreme_is_exceeded_and_equalled_by_no_other_level() -> None:
    cells = [cell(Trials((mean,) * 3), size=n) for n, mean in ((1, 10.0), (2, 20.0), (3, 20.0))]
    evidence = Given(cells)
    asked: dict[str, Any] = {"along": "size", "at_level": 2, "kind": "greatest"}
    assert judged("extreme", evidence, **asked).verdict == "holds"
    assert judged("extreme", evidence, **asked, only=True).verdict == "does not hold"
    assert judged("extreme", evidence, along="size", at_level=1, kind="least").verdict == "holds"
    alone = {"along": "size", "at_level": 1, "kind": "least", "only": True}
    assert judged("extreme", evidence, **alone).verdict == "holds"
    # A level that was not measured is missing, and so is a second one where there is one alone.
    gone = judged("extreme", evidence, along="size", at_level=9, kind="least")
    assert (gone.verdict, gone.reasons) == ("not tested", ("no goodput_bps at size 9",))
    single = judged("extreme", Given(cells[:1]), along="size", at_level=1, kind="least")
    assert single.reasons == ("only size 1 has values; the claim needs two levels",)


def test_the_greatest_difference_exceeds_that_at_every_other_level() -> None:
    means = {("xp", 1): 20.0, ("xp", 2): 60.0, ("xp", 3): 60.0}
    means |= {("linux", 1): 10.0, ("linux", 2): 20.0, ("linux", 3): 30.0}
    cells = [cell(Trials((mean,) * 3), os=os, size=n) for (os, n), mean in means.items()]
    asked: dict[str, Any] = {"a": {"os": "xp"}, "b": {"os": "linux"}, "along": "size"}
    found = compared("extreme", Given(cells), **asked, at_level=2, kind="greatest")
    assert [(one.value, one.least, one.most) for one in found] == [
        (30.0, 0.0, None),
        (10.0, 0.0, None),
    ]
    assert {(one.measure, one.is_strict) for one in found} == {("widening", False)}
    least = compared("extreme", Given(cells), **asked, at_level=1, kind="least", only=True)
    assert [(one.value, one.least, one.most) for one in least] == [
        (-30.0, None, 0.0),
        (-20.0, None, 0.0),
    ]
    assert all(one.is_strict and one.point == "holds" for one in least)
    # From one level to the next it grows by 30 and shrinks by 10; as a ratio from 2 to 3, to 2.
    wider = compared("widens", Given(cells), **asked, direction="rising", by="difference")
    assert [(one.value, one.point) for one in wider] == [(30.0, "holds"), (-10.0, "does not hold")]
    assert {(one.least, one.most, one.is_strict) for one in wider} == {(0.0, None, True)}
    ratio = compared("widens", Given(cells), **asked, direction="falling", by="ratio")
    assert [one.value for one in ratio] == pytest.approx([1.5, 2 / 3])
    assert [(one.least, one.most, one.is_strict) for one in ratio] == [(None, 1.0, True)] * 2


def test_every_pair_of_neighbouring_groups_differs_by_the_factor() -> None:
    evidence = along("os", {"a": 10.0, "b": 11.0, "c": 25.0, "d": 26.0, "e": 60.0})
    asked: dict[str, Any] = {"along": "os", "groups": [["a", "b"], ["c", "d"], ["e"]]}
    found = compared("clusters", evidence, **asked, by_ratio=2.0)
    assert [one.what for one in found] == [
        *("(os a) / (os c)", "(os a) / (os d)", "(os b) / (os c)", "(os b) / (os d)"),
        *("(os c) / (os e)", "(os d) / (os e)"),
    ]
    assert {(one.least, one.most, one.is_strict) for one in found} == {(None, 0.5, True)}
    assert judged("clusters", evidence, **asked, by_ratio=2.0).verdict == "holds"
    assert judged("clusters", evidence, **asked, by_ratio=2.4).verdict != "holds"


def test_a_crossing_has_both_signs_among_its_levels() -> None:
    means = {("xp", 1): 20.0, ("linux", 1): 10.0, ("xp", 2): 20.0, ("linux", 2): 40.0}
    evidence = Given([cell(trials(m), os=os, size=n) for (os, n), m in means.items()])
    asked: dict[str, Any] = {"a": {"os": "xp"}, "b": {"os": "linux"}, "along": "size"}
    assert judged("sign", evidence, **asked, positive=[1], negative=[2]).verdict == "holds"
    assert judged("sign", evidence, **asked, positive=[2], negative=[1]).verdict == "does not hold"
    found = compared("sign", evidence, **asked, positive=[1], negative=[2])
    assert [one.value for one in found] == pytest.approx([0.5, 2.0], rel=0.01)


def test_a_trend_names_the_levels_without_numbers() -> None:
    """1, 2 and 4 of sizes 1, 2 and 3, all printed: twofold a level, fourfold over two."""
    cells = [cell(printed(mean), size=n) for n, mean in ((1, 1.0), (2, 2.0), (3, 4.0))]
    paper = Given(cells, can_lack=True, known={"size": (1, 2, 3)})
    asked: dict[str, Any] = {"along": "size", "direction": "rising"}
    [whole] = compared("trend", paper, **asked)
    assert (whole.value, whole.what) == (pytest.approx(4.0), "change from size 1 to 3")
    lacking = judged("trend", replace(paper, found=cells[:2]), **asked)
    [part] = lacking.comparisons
    assert (part.comparison.value, part.comparison.what) == (
        pytest.approx(2.0),
        "change from size 1 to 2",
    )
    assert (lacking.verdict, lacking.means) == ("undecided", "holds")
    assert lacking.reasons == ("no goodput_bps at size 3",)
    alone = judged("trend", replace(paper, found=cells[:1]), **asked)
    assert alone.comparisons == ()
    assert alone.reasons == ("no goodput_bps at size 2", "no goodput_bps at size 3")
    single = judged("trend", Given(cells[:1]), **asked)
    assert (single.verdict, single.reasons) == (
        *("not tested", ("only size 1 has values; the claim needs two levels",)),
    )
    nothing = judged("trend", Given([]), **asked)
    assert nothing.reasons == ("no goodput_bps at ",)


@pytest.mark.parametrize(
    ("form", "more"),
    [
        ("monotone", {"direction": "rising"}),
        ("no_trend", {"margin_ratio": 0.5}),
        ("peak_then_decline", {}),
    ],
)
def test_a_trend_needs_two_levels_with_numbers(form: str, more: dict[str, Any]) -> None:
    cells = [cell(printed(mean), size=n) for n, mean in ((1, 10.0), (2, 10.0))]
    one = judged(form, Given(cells[:1]), along="size", **more)
    assert one.reasons == ("only size 1 has values; the claim needs two levels",)
    paper = Given(cells[:1], can_lack=True, known={"size": (1, 2)})
    lacking = judged(form, paper, along="size", **more)
    assert lacking.reasons == ("no goodput_bps at size 2",)
    single = replace(paper, known={"size": (1,)})
    assert judged(form, single, along="size", **more).verdict == "undecided"


def test_a_widening_divides_the_later_published_ratio_by_the_earlier() -> None:
    """Where a side has no number of its own: 4 at size 1, 6 at size 2."""

    @dataclass
    class Ratios(Given):
        def ratio(
            self, metric: str, a: Mapping[str, Level], b: Mapping[str, Level]
        ) -> PrintedNumber | None:
            assert (metric, a["os"], b["os"]) == ("goodput_bps", "xp", "linux")
            value = {1: 4.0, 2: 6.0, 3: None}[int(a["size"])]
            return None if value is None else PrintedNumber(value, value, value)

    evidence = Ratios([], can_lack=True, known={"size": (1, 2)})
    asked: dict[str, Any] = {"a": {"os": "xp"}, "b": {"os": "linux"}, "along": "size"}
    [found] = compared("widens", evidence, **asked, by="ratio", direction="rising")
    assert (found.value, found.least, found.most) == (pytest.approx(1.5), 1.0, None)
    assert (found.measure, found.is_strict, found.point) == ("widening", True, "holds")
    assert found.what.endswith(" / (os xp, size 1) x (os linux, size 1)")
    [turned] = compared("widens", evidence, **asked, by="ratio", direction="falling")
    assert (turned.least, turned.most, turned.point) == (None, 1.0, "does not hold")
    # A ratio of two numbers that are printed stands beside one that is printed itself.
    sides = [cell(printed(mean), os=os, size=1) for os, mean in (("xp", 0.5), ("linux", 0.25))]
    [beside] = compared("widens", replace(evidence, found=sides), **asked, by="ratio",
                        direction="rising")  # fmt: skip
    assert beside.value == pytest.approx(3.0)
    # Not of a difference, of a run, or where one of both is not printed.
    for by, other in (
        ("difference", evidence),
        ("ratio", replace(evidence, can_lack=False)),
        ("ratio", replace(evidence, known={"size": (1, 3)})),
    ):
        unknown = judged("widens", other, **asked, by=by, direction="rising")
        assert (unknown.verdict, unknown.comparisons) == ("not tested", ())


@pytest.mark.parametrize("nothing", [("xp", 1), ("linux", 1), ("xp", 2), ("linux", 2)])
def test_a_widening_from_a_published_zero_is_undecided(
    nothing: tuple[str, int],
) -> None:
    cells = [
        cell(printed(0.0 if (os, size) == nothing else 10.0), os=os, size=size)
        for os in ("xp", "linux")
        for size in (1, 2)
    ]
    paper = Given(cells, can_lack=True)
    asked: dict[str, Any] = {"a": {"os": "xp"}, "b": {"os": "linux"}, "along": "size"}
    found = judged("widens", paper, **asked, by="ratio", direction="rising")
    assert (found.verdict, found.comparisons) == ("undecided", ())
    assert found.reasons == ("a value is not above zero, so there is no ratio",)


@pytest.mark.parametrize(
    ("form", "more", "what"),
    [
        ("trend", {"direction": "rising"}, ["change from size 1 to 3 at os linux"]),
        ("no_trend", {"margin_ratio": 0.5}, ["change from size 1 to 3 at os linux"]),
        (
            "peak_then_decline",
            {"peak_at_most": 2},
            ["(the greatest (at size 2 among those tried)) / (size 3) at os linux"],
        ),
        (
            "monotone",
            {"direction": "rising"},
            ["(size 1) / (size 2) at os linux", "(size 2) / (size 3) at os linux"],
        ),
    ],
)
def test_a_series_without_numbers_does_not_hide_the_next(
    form: str, more: dict[str, Any], what: list[str]
) -> None:
    means = {("xp", 7): 5.0, ("vista", 3): 5.0, ("vista", 4): 4.0}
    means |= {("linux", 1): 10.0, ("linux", 2): 30.0, ("linux", 3): 20.0}
    cells = [cell(trials(mean), os=os, size=n) for (os, n), mean in means.items()]
    found = judged(form, Given(cells), along="size", **more)
    told = [one.comparison.what for one in found.comparisons if "linux" in one.comparison.what]
    assert told == what


def test_a_drift_is_a_factor_if_every_trial_is_positive() -> None:
    places = (0, 1, 2)

    def seen(*values: float) -> Comparison:
        evidence = Given([cell(Trials(values, (), places), os="xp")])
        [found] = compared("no_trend", evidence, along="trial", margin_ratio=0.5)
        return found

    small = seen(0.1, 0.2, 0.41)
    assert (small.value, small.unit) == (pytest.approx(4.1), "ratio")
    # One in which nothing arrived: a rise of 2 about a mean of 1.
    zero = seen(0.0, 0.9, 2.1)
    assert (zero.value, zero.unit, zero.least, zero.most) == (
        *(pytest.approx(2.1), "metric", -0.5, 0.5),
    )
    gone = judged("no_trend", Given([]), at={"os": "be"}, along="trial", margin_ratio=0.5)
    assert (gone.verdict, gone.reasons) == ("not tested", ("no goodput_bps at os be",))


@pytest.mark.parametrize(
    ("form", "more"),
    [
        ("widens", {"by": "ratio", "direction": "rising"}),
        ("extreme", {"at_level": 2, "kind": "greatest"}),
    ],
)
def test_a_run_is_compared_at_its_own_levels_by_default(form: str, more: dict[str, Any]) -> None:
    means = {("xp", 1): 10.0, ("xp", 2): 40.0, ("linux", 1): 10.0, ("linux", 2): 20.0}
    cells = [cell(trials(mean), os=os, size=n) for (os, n), mean in means.items()]
    cells.append(cell(trials(10.0), os="be", size=3))
    run = Given(cells, known={"size": (1, 2, 3)})
    asked: dict[str, Any] = {"a": {"os": "xp"}, "b": {"os": "linux"}, "along": "size", **more}
    whole = judged(form, run, **asked)
    assert (whole.verdict, len(whole.comparisons), whole.reasons) == ("holds", 1, ())
    named = judged(form, run, **asked, at={"size": [1, 2, 3]})
    assert (named.verdict, len(named.comparisons)) == ("not tested", 1)
    assert all("size 3" in reason for reason in named.reasons) and named.reasons
    # What was published may have been measured there, too.
    paper = judged(form, replace(run, can_lack=True), **asked)
    assert (len(paper.comparisons), paper.reasons) == (1, named.reasons)


def test_an_extreme_is_among_the_levels_of_the_run_by_default() -> None:
    evidence = replace(along("size", {1: 10.0, 2: 40.0}), known={"size": (1, 2, 3)})
    asked: dict[str, Any] = {"along": "size", "at_level": 2, "kind": "greatest"}
    whole = judged("extreme", evidence, **asked)
    assert (whole.verdict, len(whole.comparisons), whole.reasons) == ("holds", 1, ())
    for more in (
        judged("extreme", evidence, **asked, at={"size": [1, 2, 3]}),
        judged("extreme", replace(evidence, can_lack=True), **asked),
    ):
        assert (len(more.comparisons), more.reasons) == (1, ("no goodput_bps at size 3",))
    # The level that is named is gone through once, whether it is known of or not.
    alone = replace(evidence, known={})
    assert len(judged("extreme", alone, **asked).comparisons) == 1
    beyond = judged("extreme", evidence, along="size", at_level=9, kind="greatest")
    assert beyond.comparisons == () and beyond.reasons == ("no goodput_bps at size 9",)
