"""
How often verdicts on findings are wrong: families of findings on numbers that were drawn.
`findings.py` prints it, `tests/bench/test_error_rates.py` holds it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from case import Case, Random

from lanlab.analysis.findings.evidence import Cell
from lanlab.analysis.findings.judge import judge
from lanlab.analysis.findings.sample import Trials
from lanlab.studies.findings import Finding

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests/support"))

from given_numbers import Given

Mean = Callable[[int], float]


def finding(name: str, form: str, **statement: Any) -> Finding:
    """A finding about `goodput_bps`."""
    whole = {"form": form, "metric": "goodput_bps", **statement}
    return Finding.model_validate({"id": name, "claim": name, "statement": whole})


def drawn(random: Random, mean: Mean, sizes: int, cv: float, blocks: bool = True) -> Given:
    """Conditions of five trials each; in blocks with a drift between these that all share."""
    drift = random.normal(0, 0.03, 5) if blocks else [0.0] * 5
    numbers = tuple(range(5))
    cells = []
    for size in range(sizes):
        values = tuple(mean(size) * math.exp(d + random.normal(0, cv)) for d in drift)
        sample = Trials(values, numbers if blocks else (), numbers)
        cells.append(Cell({"size": size}, ("size",), sample))
    return Given(cells)


def _wrong(findings: Sequence[Finding], so: Sequence[str], numbers: Given) -> bool:
    """Whether any finding is judged what it is not."""
    return any(
        one.verdict == ("does not hold" if one.finding.id in so else "holds")
        for one in judge(findings, numbers).judgements
    )


_PAIR: dict[str, Any] = {"a": {"size": 0}, "b": {"size": 1}}
_NONE_SO = (
    finding("less", "less", **_PAIR),
    finding("order", "order", along="size", levels=[0, 1, 2, 3]),
    finding("rising", "trend", along="size", direction="rising"),
    finding("extreme", "extreme", along="size", at_level=2, kind="greatest", only=True),
    finding("ratio", "ratio", **_PAIR, min=1.02),
    finding("clusters", "clusters", along="size", groups=[[0, 1], [2, 3]]),
)
_ALIKE = tuple(
    finding(f"alike-{b}", "equivalent", a={"size": 0}, b={"size": b}, margin_ratio=0.05)
    for b in (1, 2, 3)
)
_SOME_SO = (
    finding("0-below-2", "less", a={"size": 0}, b={"size": 2}),
    finding("0-below-1", "less", **_PAIR),
    finding("2-below-3", "order", along="size", levels=[2, 3]),
    finding("three", "count", of={"form": "value", "min": 80.0}, over=["size"], min=3),
    finding("beyond-140", "value", at={"take": "greatest"}, min=140.0),
    finding("beyond-100", "value", at={"take": "greatest"}, min=100.0),
    finding("falls", "trend", along="size", direction="falling"),
)
_SO = ("0-below-2", "three", "beyond-100")
_GREATEST = (finding("beyond", "value", at={"take": "greatest"}, min=100.0),)
_BOTH_ENDS = (finding("ratio", "ratio", a={"take": "greatest"}, b={"take": "least"}, min=1.0001),)


def _two_levels(size: int) -> float:
    return 100.0 if size < 2 else 125.0


def _none_differs(random: Random) -> bool:
    return _wrong(_NONE_SO, (), drawn(random, lambda size: 100.0, 4, 0.05))


def _at_the_margin(random: Random) -> bool:
    return _wrong(_ALIKE, (), drawn(random, lambda size: 100.0 if size else 95.0, 4, 0.02))


def _some_differ(random: Random) -> bool:
    return _wrong(_SOME_SO, _SO, drawn(random, _two_levels, 4, 0.05))


def _greatest_of_twenty(random: Random) -> bool:
    return _wrong(_GREATEST, (), drawn(random, lambda size: 100.0, 20, 0.05, blocks=False))


def _greatest_against_least(random: Random) -> bool:
    return _wrong(_BOTH_ENDS, (), drawn(random, lambda size: 100.0, 6, 0.05, blocks=False))


def _what_is_so_is_shown(random: Random) -> bool:
    found = judge(_SOME_SO, drawn(random, _two_levels, 4, 0.02)).judgements
    return all(one.verdict == "holds" for one in found if one.finding.id in _SO)


FINDING_CASES = (
    Case(
        "false verdict", "6 findings, 4 equal conditions", _none_differs, 0.0, 0.05, 1_000, few=100
    ),
    Case(
        "false verdict", "3 times alike, at the margin", _at_the_margin, 0.0, 0.05, 1_000, few=100
    ),
    Case("false verdict", "7 findings, 3 of them so", _some_differ, 0.0, 0.05, 600, few=100),
    Case("false verdict", "the greatest of 20 equal", _greatest_of_twenty, 0.0, 0.05, 400, few=100),
    Case(
        "false verdict",
        "greatest over least of 6 equal",
        _greatest_against_least,
        0.0,
        0.05,
        400,
        few=100,
    ),
    Case(
        "right verdict", "all 3 that are so, cv 2 %", _what_is_so_is_shown, 0.75, 1.0, 600, few=100
    ),
)
