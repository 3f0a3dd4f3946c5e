"""Every form, on numbers for which it holds, does not, is undecided and is not tested."""

from typing import Any

import pytest
from bodies_of_evidence import NOISY, Numbers, along, cell, trials, verdict

from lanlab.analysis.findings.sample import Trials
from lanlab.studies.findings import FORMS

FASTER = along("os", {"xp": 100.0, "linux": 200.0})
NEARLY = along("os", {"xp": 100.0, "linux": 102.0}, NOISY)
ALIKE = along("os", {"xp": 100.0, "linux": 100.5})
RISING = along("size", {1: 10.0, 2: 20.0, 3: 30.0, 4: 40.0, 5: 50.0})
NOISY_RISE = along("size", {1: 100.0, 2: 101.0, 3: 102.0}, NOISY)
PEAK = along("size", {1: 10.0, 2: 30.0, 3: 20.0})
FLAT = along("size", {1: 100.0, 2: 101.0, 3: 100.0})


def grid(means: dict[tuple[str, int], float], scatter: tuple[float, ...] | None = None) -> Numbers:
    own = {} if scatter is None else {"scatter": scatter}
    return Numbers([cell(trials(m, **own), os=os, size=size) for (os, size), m in means.items()])


CROSSING = grid({("xp", 1): 100.0, ("xp", 2): 200.0, ("linux", 1): 150.0, ("linux", 2): 150.0})
PARTING = grid({("xp", 1): 100.0, ("xp", 2): 200.0, ("linux", 1): 90.0, ("linux", 2): 100.0})
NOISY_GRID = grid(
    {("xp", 1): 100.0, ("xp", 2): 101.0, ("linux", 1): 100.0, ("linux", 2): 102.0}, NOISY
)
A_B = {"a": {"os": "xp"}, "b": {"os": "linux"}}
B_A = {"a": {"os": "linux"}, "b": {"os": "xp"}}
NOBODY = {"a": {"os": "beos"}, "b": {"os": "xp"}}


def drifting(*shares: float) -> Numbers:
    """One condition whose trials go from one to the next by these shares, with 0.2 % about it."""
    values = tuple(
        100 * (1 + share) * (1 + 0.002 * (-1) ** place) for place, share in enumerate(shares)
    )
    return Numbers([cell(Trials(values, (), tuple(range(1, len(values) + 1))), os="xp")])


VALUE_AT_LEAST_90 = {"form": "value", "min": 90.0}


def case(
    form: str,
    holds: tuple[Numbers, dict[str, Any]],
    fails: tuple[Numbers, dict[str, Any]],
    open_: tuple[Numbers, dict[str, Any]] | None,
    untested: tuple[Numbers, dict[str, Any]],
) -> list[Any]:
    expected = {
        "holds": holds,
        "does not hold": fails,
        "undecided": open_,
        "not tested": untested,
    }
    return [
        pytest.param(form, *found, name, id=f"{form} {name}")
        for name, found in expected.items()
        if found is not None
    ]


ALL_CASES = [
    *case("less", (FASTER, A_B), (FASTER, B_A), (NEARLY, A_B), (FASTER, NOBODY)),
    *case(
        "order",
        (FASTER, {"along": "os", "levels": ["xp", "linux"]}),
        (FASTER, {"along": "os", "levels": ["linux", "xp"]}),
        (NEARLY, {"along": "os", "levels": ["xp", "linux"]}),
        (FASTER, {"along": "os", "levels": ["xp", "linux", "beos"]}),
    ),
    *case(
        "ratio",
        (FASTER, {**B_A, "min": 1.9, "max": 2.1}),
        (FASTER, {**B_A, "min": 2.2}),
        (NEARLY, {**B_A, "min": 1.01}),
        (FASTER, {**NOBODY, "min": 1.0}),
    ),
    *case(
        "difference",
        (FASTER, {**B_A, "min": 90.0, "max": 110.0}),
        (FASTER, {**B_A, "max": 90.0}),
        (NEARLY, {**B_A, "min": 1.0}),
        (FASTER, {**NOBODY, "min": 1.0}),
    ),
    *case(
        "equivalent",
        (ALIKE, {**A_B, "margin_ratio": 0.05}),
        (FASTER, {**A_B, "margin_ratio": 0.05}),
        (NEARLY, {**A_B, "margin_ratio": 0.05}),
        (FASTER, {**NOBODY, "margin_ratio": 0.05}),
    ),
    *case(
        "value",
        (FASTER, {"at": {"os": "xp"}, "min": 95.0, "max": 105.0}),
        (FASTER, {"at": {"os": "xp"}, "min": 105.0}),
        (NEARLY, {"at": {"os": "xp"}, "min": 99.0}),
        (FASTER, {"at": {"os": "beos"}, "min": 1.0}),
    ),
    *case(
        "share",
        (along("os", {"xp": 0.97}), {"min": 0.95}),
        (along("os", {"xp": 0.9}), {"min": 0.95}),
        (along("os", {"xp": 0.95}, NOISY), {"min": 0.94}),
        (FASTER, {"at": {"os": "beos"}, "min": 0.95}),
    ),
    *case(
        "monotone",
        (RISING, {"along": "size", "direction": "rising"}),
        (PEAK, {"along": "size", "direction": "rising"}),
        (NOISY_RISE, {"along": "size", "direction": "rising"}),
        (RISING, {"at": {"os": "xp"}, "along": "size", "direction": "rising"}),
    ),
    *case(
        "trend",
        (RISING, {"along": "size", "direction": "rising"}),
        (RISING, {"along": "size", "direction": "falling"}),
        (NOISY_RISE, {"along": "size", "direction": "rising"}),
        (RISING, {"at": {"os": "xp"}, "along": "size", "direction": "rising"}),
    ),
    *case(
        "no_trend",
        (FLAT, {"along": "size", "margin_ratio": 0.05}),
        (RISING, {"along": "size", "margin_ratio": 0.05}),
        (NOISY_RISE, {"along": "size", "margin_ratio": 0.05}),
        (RISING, {"at": {"os": "xp"}, "along": "size", "margin_ratio": 0.05}),
    ),
    *case(
        "no_trend",
        (drifting(0, 0.001, 0, 0.001, 0, 0.001, 0, 0), {"along": "trial", "margin_ratio": 0.05}),
        (drifting(0, 0.05, 0.1, 0.15, 0.2, 0.25), {"along": "trial", "margin_ratio": 0.05}),
        (drifting(0, 0.05, -0.04, 0.06, 0), {"along": "trial", "margin_ratio": 0.05}),
        (drifting(0, 0), {"along": "trial", "margin_ratio": 0.05}),
    ),
    *case(
        "peak_then_decline",
        (PEAK, {"along": "size", "peak_at_most": 2, "decline_ratio": 0.2}),
        (RISING, {"along": "size", "decline_ratio": 0.2}),
        (NOISY_RISE, {"along": "size"}),
        (PEAK, {"at": {"os": "xp"}, "along": "size"}),
    ),
    *case(
        "extreme",
        (PEAK, {"along": "size", "at_level": 2, "kind": "greatest", "only": True}),
        (PEAK, {"along": "size", "at_level": 1, "kind": "greatest"}),
        (NOISY_RISE, {"along": "size", "at_level": 1, "kind": "least"}),
        (PEAK, {"along": "size", "at_level": 7, "kind": "greatest"}),
    ),
    *case(
        "extreme",
        (PARTING, {**A_B, "along": "size", "at_level": 2, "kind": "greatest"}),
        (PARTING, {**A_B, "along": "size", "at_level": 1, "kind": "greatest"}),
        (NOISY_GRID, {**A_B, "along": "size", "at_level": 1, "kind": "least"}),
        (PARTING, {**NOBODY, "along": "size", "at_level": 1, "kind": "greatest"}),
    ),
    *case(
        "sign",
        (CROSSING, {**A_B, "along": "size", "positive": [2], "negative": [1]}),
        (CROSSING, {**A_B, "along": "size", "positive": [1]}),
        (NOISY_GRID, {**A_B, "along": "size", "positive": [1]}),
        (CROSSING, {**A_B, "along": "size", "positive": [3]}),
    ),
    *case(
        "same_order",
        (PARTING, {"along": "os", "across": "size"}),
        (CROSSING, {"along": "os", "across": "size"}),
        (NOISY_GRID, {"along": "os", "across": "size"}),
        (PARTING, {"at": {"host": "a"}, "along": "os", "across": "size"}),
    ),
    *case(
        "clusters",
        (RISING, {"along": "size", "groups": [[1, 2], [4, 5]], "by_ratio": 1.5}),
        (RISING, {"along": "size", "groups": [[4], [1, 2]]}),
        (NOISY_RISE, {"along": "size", "groups": [[1], [2, 3]]}),
        (RISING, {"along": "size", "groups": [[1], [9]]}),
    ),
    *case(
        "widens",
        (PARTING, {**A_B, "along": "size", "direction": "rising"}),
        (PARTING, {**A_B, "along": "size", "direction": "falling", "by": "ratio"}),
        (NOISY_GRID, {**A_B, "along": "size", "direction": "rising", "by": "ratio"}),
        (PARTING, {**NOBODY, "along": "size", "direction": "rising"}),
    ),
    *case(
        "count",
        (RISING, {"of": {"form": "value", "min": 25.0}, "over": ["size"], "min": 3, "max": 3}),
        (RISING, {"of": {"form": "value", "min": 25.0}, "over": ["size"], "min": 4}),
        (NOISY_RISE, {"of": {"form": "value", "min": 100.0}, "over": ["size"], "min": 3}),
        (RISING, {"of": {"form": "value", "min": 25.0}, "over": ["size"], "min": 6}),
    ),
    *case(
        "all",
        (FASTER, {"of": [{"form": "less", **A_B}, VALUE_AT_LEAST_90]}),
        (FASTER, {"of": [{"form": "less", **B_A}, VALUE_AT_LEAST_90]}),
        (NEARLY, {"of": [{"form": "less", **A_B}, {"form": "value", "min": 50.0}]}),
        (FASTER, {"of": [{"form": "less", **NOBODY}, VALUE_AT_LEAST_90]}),
    ),
    *case(
        "any",
        (FASTER, {"of": [{"form": "less", **B_A}, VALUE_AT_LEAST_90]}),
        (FASTER, {"of": [{"form": "less", **B_A}, {"form": "value", "max": 90.0}]}),
        (NEARLY, {"of": [{"form": "less", **A_B}, {"form": "value", "max": 50.0}]}),
        (FASTER, {"of": [{"form": "less", **NOBODY}, {"form": "value", "max": 90.0}]}),
    ),
    *case(
        "untestable",
        (FASTER, {"why": "nobody did it"}),
        (FASTER, {"why": "nobody did it"}),
        None,
        (FASTER, {"why": "nobody did it"}),
    )[2:],
]


@pytest.mark.parametrize(("form", "evidence", "statement", "expected"), ALL_CASES)
def test_a_form_is_judged(
    form: str, evidence: Numbers, statement: dict[str, Any], expected: str
) -> None:
    assert verdict(form, evidence, **statement) == expected


def test_every_form_and_verdict_has_a_case() -> None:
    there = {(param.values[0], param.values[3]) for param in ALL_CASES}
    every = {"holds", "does not hold", "undecided", "not tested"}

    assert {form for form, _ in there} == set(FORMS)
    assert all(
        {v for f, v in there if f == form} == every for form in FORMS if form != "untestable"
    )
