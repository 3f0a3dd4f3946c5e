"""The logical form of a statement: comparisons combined by "all", "any" or a count."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import Literal

from lanlab.analysis.findings.contrast import Basis, Estimate, on_scale
from lanlab.analysis.findings.planning import trials_needed
from lanlab.analysis.statistics.samples import Scale, unscaled
from lanlab.frozen import dataclass

Truth = Literal["holds", "does not hold", "undecided", "not tested"]
Measure = Literal["difference", "ratio", "value", "share", "change", "widening"]
#: The unit of the number: the metric's SI unit, none (a ratio), a share of 1.
Unit = Literal["metric", "ratio", "share"]
REPEATS = "the published numbers only repeat the claim"


@dataclass(frozen=True)
class Comparison:
    #: The compared quantities, in words. Comparisons with the same words and bounds are equal.
    what: str
    metric: str
    measure: Measure
    value: float
    #: The claimed range; `None`: no bound at that end.
    least: float | None
    most: float | None
    basis: Basis
    test: str
    point: Truth
    unit: Unit = "metric"
    is_strict: bool = False
    #: One-sided p of the claim's negation and of the claim: a small value supports or contradicts
    #: the claim. 1 if nothing is tested.
    p_for: float = 1.0
    p_against: float = 1.0
    hedges_g: float | None = None
    #: Trials per condition.
    n: tuple[int, ...] = ()
    #: Lost trials, for which every possible value was tried.
    lost_trials: int = 0
    #: For a statement about the minimum or maximum: number of conditions that could be it.
    candidates: int = 1
    #: Interval of `value` at a confidence level.
    interval: Callable[[float], tuple[float, float]] = field(
        default=lambda confidence: (-math.inf, math.inf), compare=False, repr=False
    )
    #: Trials per condition that are needed at a two-sided level; `None`: out of reach.
    trials_needed: Callable[[float], int | None] = field(
        default=lambda level: None, compare=False, repr=False
    )
    conditions: tuple[str, ...] = ()
    #: For a sentence: what sets each side apart, and what all have in common; else empty.
    sides: tuple[str, ...] = field(default=(), compare=False)
    common: str = field(default="", compare=False)
    #: Ids of the published values it is computed from; empty for measured ones.
    sources: frozenset[str] = field(default=frozenset(), compare=False)
    #: If `value` is a weighted sum, or on the log scale a product: weight, mean and metric of each
    #: condition.
    parts: tuple[tuple[float, float, str], ...] = field(default=(), compare=False, repr=False)
    #: The greatest possible value; `None` if unknown.
    greatest: float | None = field(default=None, compare=False)
    #: For a simulation: the factor within which the value is right, infinite if unknown.
    model_factor: float = 1.0

    @property
    def is_tested(self) -> bool:
        """Whether it is a statistical test, and so part of the family."""
        return self.basis == "tested"

    @property
    def p(self) -> float:
        return min(1.0, 2 * min(self.p_for, self.p_against))

    @property
    def key(self) -> Hashable:
        return self.question, self.least, self.most, self.point, self.is_strict

    @property
    def question(self) -> Hashable:
        """Equal for a claim and its negation, so that a family tests them once."""
        bounds = sorted(end for end in (self.least, self.most) if end is not None)
        return self.what, self.metric, self.measure, tuple(bounds), self.conditions


@dataclass(frozen=True)
class Gap:
    reason: str
    is_partial: bool = False


@dataclass(frozen=True)
class Joined:
    """Parts of a statement; all, any, or a given number of them must hold."""

    how: Literal["all", "any", "count"]
    parts: tuple[Node, ...]
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Tally:
    """Verdicts on the parts of a statement that requires a given number of them to hold."""

    parts: int
    shown: int
    refuted: int
    least: float | None
    most: float | None


Node = Comparison | Gap | Joined


def all_of(parts: Sequence[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Joined("all", tuple(parts))


def comparisons(node: Node) -> Iterator[Comparison]:
    return (leaf for leaf in _leaves(node) if isinstance(leaf, Comparison))


def gaps(node: Node) -> Iterator[Gap]:
    return (leaf for leaf in _leaves(node) if isinstance(leaf, Gap))


def _leaves(node: Node) -> Iterator[Comparison | Gap]:
    if isinstance(node, Joined):
        for part in node.parts:
            yield from _leaves(part)
    else:
        yield node


def truth_of(node: Node, truths: Mapping[Hashable, Truth], gap: Truth) -> Truth:
    """
    The verdict on a statement, by Kleene's three-valued logic with a fourth value for missing
    numbers.

    If every comparison is decided correctly, so is the statement.

    Args:
        truths: Truth of each comparison, by its key.
        gap: The value if some parts hold and others have no numbers.
    """
    if isinstance(node, Comparison):
        return truths[node.key]
    if isinstance(node, Gap):
        return "undecided" if node.is_partial and gap == "undecided" else "not tested"
    found = [truth_of(part, truths, gap) for part in node.parts]
    untested = found.count("not tested")
    if untested == len(found):
        return "not tested"
    open_truth: Truth = gap if untested else "undecided"
    if node.how == "all":
        if "does not hold" in found:
            return "does not hold"
        return "holds" if found.count("holds") == len(found) else open_truth
    if node.how == "any":
        if "holds" in found:
            return "holds"
        return "does not hold" if found.count("does not hold") == len(found) else open_truth
    least = found.count("holds")
    most = len(found) - found.count("does not hold")
    floor = -math.inf if node.least is None else node.least
    ceiling = math.inf if node.most is None else node.most
    if floor <= least and most <= ceiling:
        return "holds"
    return "does not hold" if most < floor or least > ceiling else open_truth


def without_repeats(node: Node, stated_by: frozenset[str]) -> Node:
    """
    The statement without comparisons that rest only on the numbers that state the claim: comparing
    a number with itself decides nothing.
    """
    if isinstance(node, Joined):
        return replace(node, parts=tuple(without_repeats(one, stated_by) for one in node.parts))
    if isinstance(node, Comparison) and node.sources and node.sources <= stated_by:
        return Gap(REPEATS)
    return node


def tallies(node: Node, truths: Mapping[Hashable, Truth], gap: Truth) -> Iterator[Tally]:
    if not isinstance(node, Joined):
        return
    if node.how == "count":
        found = [truth_of(part, truths, gap) for part in node.parts]
        yield Tally(
            len(found), found.count("holds"), found.count("does not hold"), node.least, node.most
        )
    for part in node.parts:
        yield from tallies(part, truths, gap)


def known_part(node: Node) -> Node | None:
    """
    The statement without parts that have no numbers, or that a published bound leaves undecided.
    """
    if isinstance(node, Gap):
        return None
    if isinstance(node, Comparison):
        return None if node.point == "undecided" else node
    parts = [kept for part in node.parts if (kept := known_part(part)) is not None]
    if not parts:
        return None
    return Joined(node.how, tuple(parts), node.least, node.most)


def compared(
    *,
    what: str,
    metric: str,
    measure: Measure,
    scale: Scale,
    estimates: Sequence[Estimate],
    least: float | None = None,
    most: float | None = None,
    strict: bool = False,
    conditions: tuple[str, ...] = (),
    lost_trials: int = 0,
    candidates: int = 1,
    digits: Mapping[float, float] = MappingProxyType({}),
    sides: Sequence[str] = (),
    parts: Sequence[tuple[float, float, str]] = (),
) -> Comparison:
    """
    Compare an estimate with bounds.

    Args:
        scale: Scale of the estimates; bounds are in the unit of `measure`.
        estimates: One for each possible value of lost trials. The first is reported; all must
            agree on a verdict.
        strict: Whether the bound itself is excluded ("below", not "at most").
        digits: As in `Evidence.digits`.
        sides: The words of each side, then those in common.
        parts: As in `Comparison.parts`.
    """
    inner_least = least if least is None or strict else least - _half_digit(least, digits)
    inner_most = most if most is None or strict else most + _half_digit(most, digits)
    low, high = (None if end is None else on_scale(end, scale) for end in (inner_least, inner_most))
    first = estimates[0]
    tested = all(one.basis == "tested" for one in estimates)
    basis: Basis = first.basis
    if not tested and basis == "tested":
        basis = next(one.basis for one in estimates if one.basis != "tested")
    p_for, p_against = (1.0, 1.0)
    if tested:
        p_for, p_against = _chances(estimates, low, high)
    points = {_point(one, low, high, strict) for one in estimates}
    by_value = _point(first, low, high, strict)
    return Comparison(
        what=what,
        metric=metric,
        measure=measure,
        value=unscaled(first.value, scale),
        least=least,
        most=most,
        basis=basis,
        test=first.test if tested else next(e.test for e in estimates if e.basis == basis),
        point=by_value if tested or len(points) == 1 else "undecided",
        unit=_unit(measure, scale),
        is_strict=strict,
        p_for=p_for,
        p_against=p_against,
        hedges_g=first.hedges_g,
        n=first.n,
        lost_trials=lost_trials,
        candidates=candidates,
        interval=lambda confidence: _widest(estimates, confidence, scale),
        trials_needed=lambda level: trials_needed(estimates[0], low, high, level),
        conditions=conditions,
        sides=tuple(sides[:-1]),
        common="".join(sides[-1:]),
        sources=frozenset().union(*(one.sources for one in estimates)),
        parts=tuple(parts),
    )


def _half_digit(bound: float, digits: Mapping[float, float]) -> float:
    alike = (half for number, half in digits.items() if math.isclose(number, bound, rel_tol=1e-9))
    return next(alike, 0.0)


def _unit(measure: Measure, scale: Scale) -> Unit:
    if measure == "share":
        return "share"
    return "ratio" if scale == "log" and measure != "value" else "metric"


def _chances(
    estimates: Sequence[Estimate], low: float | None, high: float | None
) -> tuple[float, float]:
    above_low = below_high = 0.0
    below_low = above_high = 1.0
    if low is not None:
        above_low = max(one.p_above(low) for one in estimates)
        below_low = max(one.p_below(low) for one in estimates)
    if high is not None:
        below_high = max(one.p_below(high) for one in estimates)
        above_high = max(one.p_above(high) for one in estimates)
    return max(above_low, below_high), min(below_low, above_high)


def _point(one: Estimate, low: float | None, high: float | None, strict: bool) -> Truth:
    ends = (one.value, one.value) if one.basis == "tested" else one.interval(0.5)
    # Sums of decimal fractions have rounding errors.
    bits = 1e-12 + 1e-9 * max(abs(one.value), abs(low or 0.0), abs(high or 0.0))
    # A published 26.5 satisfies "at least 26.5", though the exact value may be 26.46.
    inner = ends if strict or one.is_bound else (one.value, one.value)
    edge = bits if strict else -bits
    within = (low is None or inner[0] > low + edge) and (high is None or inner[1] < high - edge)
    beyond = (low is not None and ends[1] < low + edge) or (
        high is not None and ends[0] > high - edge
    )
    return "holds" if within else "does not hold" if beyond else "undecided"


def _widest(estimates: Sequence[Estimate], confidence: float, scale: Scale) -> tuple[float, float]:
    ends = [one.interval(confidence) for one in estimates]
    return (
        unscaled(min(low for low, _ in ends), scale),
        unscaled(max(high for _, high in ends), scale),
    )
