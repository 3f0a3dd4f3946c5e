"""The sides of a comparison: single conditions, or the minimum or maximum of several."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence

from lanlab.analysis.findings.claim import Gap
from lanlab.analysis.findings.contrast import contrasts, scale_for
from lanlab.analysis.findings.evidence import Cell, named_words, words
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.findings.scope import Scope
from lanlab.analysis.statistics.samples import scale_of
from lanlab.frozen import dataclass
from lanlab.studies.base import Level
from lanlab.studies.selection import Selection

#: One-sided p below which a condition is taken to differ from the extreme one. Conditions that do
#: not differ may be the extreme themselves, so the statement must hold for them, too.
APART = 0.001
_NOTHING = Selection()


@dataclass(frozen=True)
class Side:
    """One condition. For an extreme: also the conditions that do not differ from it."""

    cell: Cell
    tied: tuple[Cell, ...] = ()
    #: `least` or `greatest`, for the extreme of several conditions.
    taken: str = ""

    @property
    def all(self) -> tuple[Cell, ...]:
        return self.cell, *self.tied

    @property
    def lost_trials(self) -> int:
        return len(self.cell.sample.missing) if isinstance(self.cell.sample, Trials) else 0


@dataclass(frozen=True)
class Place:
    scope: Scope
    found: Side | Gap

    @property
    def factors(self) -> Mapping[str, Level]:
        named = {
            f: level
            for f, level in self.scope.single().items()
            if f not in self.scope.evidence.assumed
        }
        if isinstance(self.found, Gap):
            return named
        cell = self.found.cell
        named = {f: level for f, level in named.items() if f in cell.levels}
        if self.found.taken:
            # The data determines which of the conditions is the extreme.
            return named
        return {key: cell.levels[key] for key in dict.fromkeys((*cell.varied, *named))}

    @property
    def taken(self) -> str:
        """`the least` or `the greatest`, with its condition."""
        if isinstance(self.found, Gap) or not self.found.taken:
            return ""
        cell = self.found.cell
        if cell.stands != "each":
            return f"the {self.found.taken}"
        own = [f for f in cell.varied if f not in self.factors]
        at = words(cell.levels, own)
        return f"the {self.found.taken}" + (f", at {at}" if at else "")


def places(scope: Scope, as_share: bool = False) -> list[Place]:
    """The conditions of a scope, one by one, or the extreme of several."""
    found = []
    for one in scope.each():
        cells = one.cells(as_share)
        if not cells:
            found.append(Place(one, gap(one, as_share)))
        elif one.take:
            found.append(Place(one, taken(one, cells)))
        else:
            found += [Place(one, Side(cell)) for cell in cells]
    return found


def gap(scope: Scope, as_share: bool = False) -> Gap:
    what = "share of the link" if as_share else scope.metric
    reason = scope.evidence.why_not(scope.metric, scope.named)
    return Gap(reason or f"no {what} at {named_words(scope.named)}")


def taken(scope: Scope, cells: Sequence[Cell]) -> Side | Gap:
    """The condition with the minimum or maximum mean, and others that may be the extreme."""
    assert scope.take is not None
    ends = [cell for cell in cells if cell.stands == scope.take]
    if ends:
        # A published end of a range is the extreme over the levels that it does not name.
        others = [c for c in cells if c.stands == "each" and not any(_covers(e, c) for e in ends)]
        cells = [*ends, *others]
    lacking = _uncovered(scope, cells)
    if lacking is not None:
        levels = words(lacking, list(lacking))
        return Gap(f"no {scope.metric} at {levels}, which could be the {scope.take}", True)
    if scope.evidence.is_model and not ends:
        left_open = {name for cell in cells for name in cell.thinned} - scope.single().keys()
        if left_open:
            factor = min(left_open)
            return Gap(f"the {scope.take} may be at a value of {factor} that this scale omits")
    sign = 1 if scope.take == "greatest" else -1
    first = max(cells, key=lambda cell: sign * cell.sample.mean)
    others = [] if scope.evidence.is_model else [cell for cell in cells if cell is not first]
    tied = [cell for cell in others if not _is_apart(scope.metric, first, cell, sign)]
    is_choice = len(cells) > 1 or first.stands != "each"
    return Side(first, tuple(tied), scope.take if is_choice else "")


def _covers(end: Cell, cell: Cell) -> bool:
    return all(cell.levels.get(factor) == level for factor, level in end.levels.items())


def _uncovered(scope: Scope, cells: Sequence[Cell]) -> Mapping[str, Level] | None:
    if not scope.evidence.can_lack:
        return None
    named = scope.single()
    factors = {f for cell in cells for f in cell.levels if f not in named}
    levels = {f: scope.named.get(f) or scope.evidence.levels(f) for f in sorted(factors)}
    for combination in itertools.product(*(known for known in levels.values() if known)):
        names = (name for name, known in levels.items() if known)
        wanted = dict(zip(names, combination, strict=True))
        if not any(
            all(cell.levels.get(f, level) == level for f, level in wanted.items()) for cell in cells
        ):
            return wanted
    return None


def _is_apart(metric: str, first: Cell, other: Cell, sign: int) -> bool:
    terms = [(float(sign), first.sample), (float(-sign), other.sample)]
    for one in contrasts(terms, scale_for(terms, scale_of(metric))):
        if one.basis == "tested":
            if one.p_above(0.0) > APART:
                return False
        elif one.basis == "too few" or one.value - one.below <= 0:
            return False
    return True


def pairs(scope: Scope, a: Selection | None, b: Selection | None) -> Iterator[tuple[Place, Place]]:
    """Both sides of a comparison, for each combination of levels in the loop."""
    a, b = a or _NOTHING, b or _NOTHING
    for side_a, side_b in expanded(scope, a, b):
        for levels in alike((side_a, side_b)):
            sides = [places(side.fixed(levels)) for side in (side_a, side_b)]
            yield from itertools.product(*sides)


def expanded(scope: Scope, a: Selection, b: Selection) -> Iterator[tuple[Scope, Scope]]:
    """The scopes of both sides with all lists expanded: lists of both sides level by level, lists
    of one side separately.
    """
    scope_a, scope_b = scope.within(a), scope.within(b)
    own = a.levels.keys() | b.levels.keys()
    other = scope_b.lists()
    common = {f: levels for f, levels in scope_a.lists().items() if f in other and f not in own}
    for levels in itertools.product(*common.values()):
        fixed = dict(zip(common, levels, strict=True))
        for one_a in scope_a.fixed(fixed).each():
            for one_b in scope_b.fixed(fixed).each():
                yield one_a, one_b


def alike(
    scopes: Sequence[Scope], given: frozenset[str] = frozenset()
) -> Iterator[dict[str, Level]]:
    """
    Levels of the factors that the scopes leave open, so that equal conditions are compared.

    Args:
        scopes: Scopes of all sides of a comparison.
        given: More factors, over whose levels the caller loops.

    Returns:
        One mapping for each existing combination. A single empty mapping if no factor is open, a
        side has no number, or a side is the extreme of several conditions.
    """
    cells = [scope.cells() for scope in scopes]
    named = {factor for scope in scopes for factor in scope.named} | given
    is_taken = any(scope.take for scope in scopes)
    everything = [cell for own in cells for cell in own]
    free = [] if is_taken or not all(cells) else open_factors(cells, named)
    free = [factor for factor in free if not _follows(factor, given, everything)]
    if not free:
        yield {}
        return
    for levels in projections(everything, free):
        fixed = [scope.fixed(levels) for scope in scopes]
        # Without the conditions of one experiment, the rest may have more factors in common.
        for more in alike(fixed, given):
            yield {**levels, **more}


def open_factors(sides: Sequence[Sequence[Cell]], named: Collection[str]) -> list[str]:
    """Factors that no side names and that all conditions have, in the order of the conditions."""
    own = [[cell for cell in cells if cell.stands == "each"] for cells in sides]
    everything = [cell for cells in own for cell in cells]
    varied = {factor for cell in everything for factor in cell.varied}
    found = []
    for factor in dict.fromkeys(f for cell in everything for f in (*cell.varied, *cell.levels)):
        if factor in named or not all(factor in cell.levels for cell in everything):
            continue
        levels = [{cell.levels[factor] for cell in cells} for cells in own]
        # A parameter that no experiment varies distinguishes two experiments if both sides have
        # conditions in both; otherwise it merely differs between the sides.
        if len(set.union(*levels)) > 1 and (factor in varied or set.intersection(*levels)):
            found.append(factor)
    return found


def _follows(factor: str, given: frozenset[str], cells: Sequence[Cell]) -> bool:
    """Whether the caller's loop determines a parameter that no experiment varies, as a system
    determines its service, so that no condition can share it.
    """
    if not given or any(factor in cell.varied for cell in cells):
        return False
    seen: dict[tuple[Level | None, ...], Level] = {}
    for cell in cells:
        at = tuple(cell.levels.get(name) for name in sorted(given))
        if seen.setdefault(at, cell.levels[factor]) != cell.levels[factor]:
            return False
    return True


def projections(cells: Sequence[Cell], factors: Sequence[str]) -> list[dict[str, Level]]:
    """The existing combinations of these factors' levels, in the order of the conditions."""
    seen: dict[str, dict[str, Level]] = {}
    for cell in cells:
        levels = {f: cell.levels[f] for f in factors if f in cell.levels}
        seen.setdefault(repr(levels), levels)
    return list(seen.values())


@dataclass(frozen=True)
class Series:
    along: str
    places: Mapping[Level, Place]

    @property
    def levels(self) -> list[Level]:
        return list(self.places)

    @property
    def gaps(self) -> list[Gap]:
        return [place.found for place in self.places.values() if isinstance(place.found, Gap)]


def series(scope: Scope, along: str, levels: Sequence[Level] = ()) -> list[Series]:
    """
    One series for each combination of the factors that the scope leaves open.

    Args:
        levels: The levels to loop over; by default those of the scope, else all.
    """
    found = []
    for one in scope.without(along).each():
        for fixed in alike((one,), frozenset({along})):
            here = one.fixed(fixed)
            # Series of a run may differ in their levels.
            chosen = tuple(levels) or scope.levels_present(along, here.cells())
            at = {level: only(here.fixed({along: level})) for level in chosen}
            found.append(Series(along, at))
    return found


def only(scope: Scope) -> Place:
    """The only condition of a scope; a gap if it has none or several."""
    found = places(scope)
    if len(found) == 1:
        return found[0]
    cells = [place.found.cell for place in found if isinstance(place.found, Side)]
    several = open_factors([cells], set(scope.named)) or ["the experiment"]
    reason = f"{len(found)} conditions at {named_words(scope.named)}, which differ in {several[0]}"
    return Place(scope, Gap(f"{reason}: name one of its levels, or `take` one of them", True))
