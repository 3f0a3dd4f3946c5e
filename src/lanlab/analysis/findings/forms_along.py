"""Forms of statements along the levels of a factor."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from lanlab.analysis.findings.claim import Gap, Joined, Node, all_of
from lanlab.analysis.findings.compare import at_common, below, of_ratios, scale_at, weighted
from lanlab.analysis.findings.forms_simple import all_or_gap
from lanlab.analysis.findings.sample import PrintedNumber, as_number, divided
from lanlab.analysis.findings.scope import Scope
from lanlab.analysis.findings.sides import (
    Place,
    Series,
    Side,
    alike,
    expanded,
    gap,
    only,
    pairs,
    series,
    taken,
)
from lanlab.analysis.statistics.samples import Scale
from lanlab.studies import findings as forms
from lanlab.studies.base import Level
from lanlab.studies.selection import Selection


def plain(scope: Scope, along: str, levels: Sequence[Level]) -> tuple[Level, ...]:
    return tuple(scope.evidence.plain(along, level) for level in levels)


def order(statement: forms.Order, scope: Scope) -> Node:
    levels = plain(scope, statement.along, statement.levels)
    parts = [
        below(one.places[former], one.places[later])
        for one in series(scope, statement.along, levels)
        for former, later in itertools.pairwise(levels)
    ]
    return all_or_gap(parts, scope)


def monotone(statement: forms.Monotone, scope: Scope) -> Node:
    parts: list[Node] = []
    for one in series(scope, statement.along):
        steps = list(itertools.pairwise(one.places.values()))
        if statement.direction == "falling":
            steps = [(later, former) for former, later in steps]
        parts += [below(low, high) for low, high in steps] or [_one_level(one, scope)]
    return all_or_gap(parts, scope)


def trend(statement: forms.Trend, scope: Scope) -> Node:
    """A slope over the positions of the levels, with the weights of a straight line."""
    parts: list[Node] = []
    rising = statement.direction == "rising"
    for one in series(scope, statement.along):
        known = [place for place in one.places.values() if isinstance(place.found, Side)]
        parts += one.gaps
        if len(known) < 2:
            parts += [] if one.gaps else [_one_level(one, scope)]
            continue
        scale = scale_at(known, scope.metric)
        bound = 1.0 if scale == "log" else 0.0
        least, most = (bound, None) if rising else (None, bound)
        what = _along_words(one, "change")
        parts.append(
            weighted(
                known, _slope(len(known)), scale, "change", least, most, strict=True, what=what
            )
        )
    return all_or_gap(parts, scope)


def no_trend(statement: forms.NoTrend, scope: Scope) -> Node:
    """The change from the first level to the last is at most a share. Along trials, each condition
    is tested.
    """
    if statement.along == "trial":
        from lanlab.analysis.findings.drift_within import drift_within

        return drift_within(statement, scope)
    share = statement.margin_ratio
    parts: list[Node] = []
    for one in series(scope, statement.along):
        found = list(one.places.values())
        if one.gaps or len(found) < 2:
            parts += one.gaps or [_one_level(one, scope)]
            continue
        weights, what = _slope(len(found)), _along_words(one, "change")
        if scale_at(found, scope.metric) == "log":
            parts.append(weighted(found, weights, "log", "change", 1 - share, 1 + share, what=what))
            continue
        # The change must be below a share of the mean, and above minus that share.
        for sign, least, most in ((-1, None, 0.0), (1, 0.0, None)):
            own = [weight + sign * share / len(found) for weight in weights]
            said = f"{what} {'less' if sign < 0 else 'and'} {100 * share:g} % of the mean"
            parts.append(weighted(found, own, "linear", "difference", least, most, what=said))
    return all_or_gap(parts, scope)


def extreme(statement: forms.Extreme, scope: Scope) -> Node:
    """No other level exceeds the named one; with `only`, none equals it."""
    level = scope.evidence.plain(statement.along, statement.at_level)
    greatest, strict = statement.kind == "greatest", statement.only
    parts: list[Node] = []
    if statement.a is not None:
        for a, b in paired_series(scope, statement.a, statement.b, statement.along, level):
            others = [other for other in a.levels if other != level]
            parts += [] if others else _nothing_beside(a, b, level)
            parts += _omitted(scope, a, statement.kind)
            for other in others:
                four = [a.places[level], b.places[level], a.places[other], b.places[other]]
                least, most = (0.0, None) if greatest else (None, 0.0)
                parts.append(
                    weighted(four, [1, -1, -1, 1], "linear", "widening", least, most, strict=strict)
                )
        return all_or_gap(parts, scope)
    known = scope.levels_present(statement.along, scope.without(statement.along).cells())
    known = known if level in known else (*known, level)
    for one in series(scope, statement.along, known):
        others = [other for other in one.levels if other != level]
        parts += [] if others else _nothing_beside(one, one, level)
        parts += _omitted(scope, one, statement.kind)
        for other in others:
            low, high = one.places[other], one.places[level]
            pair = (low, high) if greatest else (high, low)
            parts.append(below(*pair, strict=strict))
    return all_or_gap(parts, scope)


def sign(statement: forms.Sign, scope: Scope) -> Node:
    """`a - b` is positive at some levels and negative at others."""
    parts = []
    for levels, is_above in ((statement.positive, True), (statement.negative, False)):
        for level in plain(scope, statement.along, levels):
            at = scope.fixed({statement.along: level})
            for a, b in pairs(at, statement.a, statement.b):
                parts.append(below(b, a) if is_above else below(a, b))
    return all_or_gap(parts, scope)


def same_order(statement: forms.SameOrder, scope: Scope) -> Node:
    """Any two levels of `along` have the same order at each level of `across`."""
    parts: list[Node] = []
    both = frozenset({statement.along, statement.across})
    for one in scope.without(statement.along).without(statement.across).each():
        for fixed in alike((one,), given=both):
            here = one.fixed(fixed)
            at = [here.fixed({statement.across: x}) for x in scope.levels_along(statement.across)]
            levels = scope.levels_present(statement.along, here.cells())
            parts += _same_way(levels, statement.along, at)
    return all_or_gap(parts, scope)


def _same_way(levels: Sequence[Level], along: str, across: Sequence[Scope]) -> Iterator[Node]:
    for one, other in itertools.combinations(levels, 2):
        pairs_of = [tuple(only(at.fixed({along: x})) for x in (one, other)) for at in across]
        yield Joined(
            "any",
            (
                all_of([below(a, b) for a, b in pairs_of]),
                all_of([below(b, a) for a, b in pairs_of]),
            ),
        )


def clusters(statement: forms.Clusters, scope: Scope) -> Node:
    groups = [plain(scope, statement.along, group) for group in statement.groups]
    everything = [level for group in groups for level in group]
    parts = [
        below(one.places[low], one.places[high], statement.by_ratio)
        for one in series(scope, statement.along, everything)
        for lower, upper in itertools.pairwise(groups)
        for low, high in itertools.product(lower, upper)
    ]
    return all_or_gap(parts, scope)


def peak_then_decline(statement: forms.PeakThenDecline, scope: Scope) -> Node:
    """
    The last level is below the maximum before it, and no level after `peak_at_most` exceeds that
    maximum.
    """
    parts: list[Node] = []
    for one in series(scope, statement.along):
        if one.gaps or len(one.levels) < 2:
            parts += one.gaps or [_one_level(one, scope)]
            continue
        *before, last = one.levels
        if statement.peak_at_most is not None:
            end = scope.evidence.plain(statement.along, statement.peak_at_most)
            before = [level for level in before if _is_until(level, end, one.levels)]
        if not before:
            parts.append(Gap(f"{statement.along} has no level until {statement.peak_at_most}"))
            continue
        first = one.places[before[0]].scope
        whole = first.without(statement.along)
        found = [one.places[level].found for level in before]
        cells = [side.cell for side in found if isinstance(side, Side)]
        greatest = whole.within(Selection(take="greatest"))
        peak = Place(greatest, taken(greatest, cells))
        kept = 1 - statement.decline_ratio
        parts.append(below(one.places[last], peak, 1 / kept))
        for level in one.levels[:-1]:
            if level not in before:
                parts.append(below(one.places[level], peak, strict=False))
    return all_or_gap(parts, scope)


def widens(statement: forms.Widens, scope: Scope) -> Node:
    """The differences, or ratios, between successive levels grow (or shrink)."""
    parts: list[Node] = []
    by_ratio, rising = statement.by == "ratio", statement.direction == "rising"
    for a, b in paired_series(scope, statement.a, statement.b, statement.along):
        steps = list(itertools.pairwise(a.levels))
        if not steps:
            parts.append(_one_level(a, scope))
        for former, later in steps:
            four = [a.places[later], b.places[later], a.places[former], b.places[former]]
            none = 1.0 if by_ratio else 0.0
            least, most = (none, None) if rising else (None, none)
            scale: Scale = "log" if by_ratio else "linear"
            found = weighted(four, [1, -1, -1, 1], scale, "widening", least, most, strict=True)
            if isinstance(found, Gap) and by_ratio and scope.evidence.can_lack:
                ratios = [_ratio_of(four[0], four[1]), _ratio_of(four[2], four[3])]
                if ratios[0] is not None and ratios[1] is not None:
                    terms = [(1.0, ratios[0]), (-1.0, ratios[1])]
                    weights = [1, -1, -1, 1]
                    found = of_ratios(four, weights, terms, "widening", least, most, strict=True)
            parts.append(found)
    return all_or_gap(parts, scope)


def paired_series(
    scope: Scope, a: Selection | None, b: Selection | None, along: str, level: Level | None = None
) -> Iterator[tuple[Series, Series]]:
    """Both sides along a factor, for each combination of the remaining factors."""
    base = scope.without(along)
    for side_a, side_b in expanded(base, a or Selection(), b or Selection()):
        levels = scope.levels_present(along, [*side_a.cells(), *side_b.cells()])
        if level is not None and level not in levels:
            levels = (*levels, level)
        for fixed in alike((side_a, side_b), given=frozenset({along})):
            found = [
                Series(along, {x: only(s.fixed({**fixed, along: x})) for x in levels})
                for s in (side_a, side_b)
            ]
            yield found[0], found[1]


def _ratio_of(a: Place, b: Place) -> PrintedNumber | None:
    if isinstance(a.found, Side) and isinstance(b.found, Side):
        over, under = as_number(a.found.cell.sample), as_number(b.found.cell.sample)
        return divided(over, under) if over.mean > 0 and under.mean > 0 else None
    return a.scope.evidence.ratio(a.scope.metric, a.scope.single(), b.scope.single())


def _slope(count: int) -> list[float]:
    centred = [place - (count - 1) / 2 for place in range(count)]
    squares = math.fsum(one**2 for one in centred)
    return [(count - 1) * one / squares for one in centred]


def _is_until(level: Level, end: Level, levels: Sequence[Level]) -> bool:
    if isinstance(end, int | float) and isinstance(level, int | float):
        return level <= end
    return end in levels and levels.index(level) <= levels.index(end)


def _one_level(one: Series, scope: Scope) -> Gap:
    if not one.levels:
        return gap(scope)
    return Gap(f"only {one.along} {one.levels[0]} has values; the claim needs two levels", True)


def _nothing_beside(a: Series, b: Series, level: Level) -> list[Node]:
    found = [one.places[level].found for one in (a, b)]
    gaps: list[Node] = [one for one in found if isinstance(one, Gap)]
    return gaps or [Gap(f"only {a.along} {level} has values; the claim needs two levels", True)]


def _omitted(scope: Scope, one: Series, kind: str) -> list[Node]:
    """A gap if the run's scale omits levels that a statement about all of them needs."""
    cells = [place.found.cell for place in one.places.values() if isinstance(place.found, Side)]
    if one.along in scope.named or not any(one.along in cell.thinned for cell in cells):
        return []
    return [Gap(f"the {kind} may be at a value of {one.along} that this scale omits", True)]


def _along_words(one: Series, what: str) -> str:
    known = [level for level, place in one.places.items() if isinstance(place.found, Side)]
    levels = known if len(known) > 1 else one.levels
    # A line through some of the levels says nothing about those beyond its ends.
    ends = f"{levels[0]} to {levels[-1]}"
    return f"{what} from {one.along} {ends}{at_common(list(one.places.values()))}"
