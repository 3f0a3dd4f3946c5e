"""How often the evaluator is wrong: families of findings on numbers that were drawn."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from bodies_of_evidence import Numbers, cell, finding

from lanlab.analysis.findings import judge
from lanlab.analysis.findings.sample import Trials
from lanlab.studies import Finding

RUNS = 400
SIZES = range(4)


def drawn(
    rng: random.Random, mean: Callable[[int], float], cv: float = 0.05, n: int = 5
) -> Numbers:
    """Five blocks of four conditions, with a drift between blocks that is common to all."""
    cells = []
    drift = [rng.gauss(0, 0.03) for _ in range(n)]
    for size in SIZES:
        values = [mean(size) * math.exp(drift[b] + rng.gauss(0, cv)) for b in range(n)]
        cells.append(
            cell(Trials(tuple(values), tuple(range(n)), tuple(range(1, n + 1))), size=size)
        )
    return Numbers(cells)


def wrong(truths: dict[str, bool], findings: list[Finding], numbers: Numbers) -> bool:
    """Whether any finding is judged what it is not."""
    return any(
        (one.verdict == "holds" and not truths[one.finding.claim])
        or (one.verdict == "does not hold" and truths[one.finding.claim])
        for one in judge(findings, numbers).judgements
    )


def named(claim: str, form: str, **statement: object) -> Finding:
    own = finding(form, **statement)
    return own.model_copy(update={"claim": claim, "id": claim})


def at_most(wrongs: int, chance: float) -> bool:
    """Within what chance makes of so many runs, three standard deviations up."""
    return wrongs <= RUNS * chance + 3 * math.sqrt(RUNS * chance * (1 - chance))


def test_of_conditions_that_do_not_differ_nothing_is_claimed() -> None:
    """Six findings over four equal conditions: any of them "holds" in at most 5 of 100 runs."""
    rng = random.Random(11)
    pair = {"a": {"size": 0}, "b": {"size": 1}}
    findings = [
        named("less", "less", **pair),
        named("order", "order", along="size", levels=[0, 1, 2, 3]),
        named("rising", "trend", along="size", direction="rising"),
        named("greatest", "extreme", along="size", at_level=2, kind="greatest", only=True),
        named("ratio", "ratio", **pair, min=1.02),
        named("sign", "sign", a={"size": 0}, b={"size": 1}, along="os", positive=["here"]),
    ]
    claims = dict.fromkeys([one.claim for one in findings], False)
    held = 0
    for _ in range(RUNS):
        found = judge(findings, drawn(rng, lambda size: 100.0))
        held += any(one.verdict == "holds" for one in found.judgements)

    assert len(claims) == 6
    assert at_most(held, 0.05)


@pytest.mark.parametrize("margin", [0.05, 0.1])
def test_what_differs_by_the_margin_is_not_called_alike(margin: float) -> None:
    rng = random.Random(12)
    findings = [
        named(f"alike {b}", "equivalent", a={"size": 0}, b={"size": b}, margin_ratio=margin)
        for b in (1, 2, 3)
    ]
    truths = {one.claim: False for one in findings}
    wrongs = sum(
        wrong(
            truths, findings, drawn(rng, lambda size: 100.0 if size else 100 * (1 - margin), 0.02)
        )
        for _ in range(RUNS)
    )

    assert at_most(wrongs, 0.05)


def test_neither_verdict_is_given_wrongly_where_some_claims_are_so() -> None:
    """Two conditions that differ and two that do not; findings of all sorts, true and false."""
    rng = random.Random(13)
    findings = [
        named("so: 0 below 2", "less", a={"size": 0}, b={"size": 2}),
        named("0 below 1", "less", a={"size": 0}, b={"size": 1}),
        named("2 below 3 by nothing", "order", along="size", levels=[2, 3]),
        named("so: three of four above 95", "count", of={"form": "value", "min": 80.0},
              over=["size"], min=3),
        named("the greatest is beyond 140", "value", at={"take": "greatest"}, min=140.0),
        named("so: the greatest is beyond 100", "value", at={"take": "greatest"}, min=100.0),
        named("it falls", "trend", along="size", direction="falling"),
    ]  # fmt: skip
    truths = {one.claim: one.claim.startswith("so") for one in findings}
    wrongs = decided = 0
    for _ in range(RUNS):
        numbers = drawn(rng, lambda size: 100.0 if size < 2 else 125.0)
        wrongs += wrong(truths, findings, numbers)
        decided += sum(one.verdict == "holds" for one in judge(findings, numbers).judgements)

    assert at_most(wrongs, 0.05)
    # It is no virtue of silence: most of what is so is shown.
    assert decided > 2 * RUNS


def test_choosing_the_greatest_of_many_does_not_make_it_greater() -> None:
    """Twenty equal conditions: the luckiest is not shown to be beyond what all are."""
    rng = random.Random(14)
    beyond = named("beyond", "value", at={"take": "greatest"}, min=100.0)
    held = 0
    for _ in range(RUNS):
        cells = [
            cell(Trials(tuple(100 * math.exp(rng.gauss(0, 0.05)) for _ in range(5))), size=size)
            for size in range(20)
        ]
        held += judge([beyond], Numbers(cells)).judgements[0].verdict == "holds"

    assert at_most(held, 0.05)
