"""Statements that compare two sides, or one side with bounds."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.findings.claim import Gap, Node, all_of
from lanlab.analysis.findings.compare import below, difference, ratio, value
from lanlab.analysis.findings.scope import Scope
from lanlab.analysis.findings.sides import Place, Side, gap, pairs, places
from lanlab.studies import findings as forms


def less(statement: forms.Less, scope: Scope) -> Node:
    """Claim: each `a` is below each `b`."""
    found = [below(a, b, statement.by_ratio) for a, b in pairs(scope, statement.a, statement.b)]
    return all_or_gap(found, scope)


def ratios(statement: forms.Ratio, scope: Scope) -> Node:
    """Claim: each `a / b` lies within bounds."""
    both = pairs(scope, statement.a, statement.b)
    return all_or_gap([ratio(a, b, statement.min, statement.max) for a, b in both], scope)


def differences(statement: forms.Difference, scope: Scope) -> Node:
    """Claim: each `a - b` lies within bounds."""
    both = pairs(scope, statement.a, statement.b)
    return all_or_gap([difference(a, b, statement.min, statement.max) for a, b in both], scope)


def equivalent(statement: forms.Equivalent, scope: Scope) -> Node:
    """Each `a` and `b` are shown to be equal within the margin."""
    both = list(pairs(scope, statement.a, statement.b))
    if statement.margin is not None:
        margin = statement.margin
        return all_or_gap([difference(a, b, -margin, margin) for a, b in both], scope)
    share = statement.margin_ratio or 0.0
    return all_or_gap([ratio(a, b, 1 - share, 1 + share) for a, b in both], scope)


def values(statement: forms.Value, scope: Scope) -> Node:
    found = [value(place, statement.min, statement.max) for place in places(scope)]
    return all_or_gap(found, scope)


def by_range_ends(statement: forms.Value, scope: Scope) -> Node | None:
    """
    The statement, judged from published ends of ranges, which apply to all levels that they do not
    name.

    Returns:
        `None` if a needed end is not published.
    """
    if scope.take or not scope.evidence.can_lack:
        return None
    parts: list[Node] = []
    for take, least, most in (("least", statement.min, None), ("greatest", None, statement.max)):
        if (least, most) == (None, None):
            continue
        ends = [
            cell
            for cell in scope.evidence.cells(scope.metric)
            if cell.stands == take
            and cell.levels.items() >= scope.single().items()
            # A cell without a level of the looped factor represents all its levels.
            and not cell.levels.keys() & set(statement.for_each)
        ]
        if not ends:
            return None
        parts += [value(Place(scope, Side(cell, (), take)), least, most) for cell in ends]
    return all_of(parts)


def shares(statement: forms.Share, scope: Scope) -> Node:
    found = places(scope, as_share=True)
    return all_or_gap([value(p, statement.min, statement.max, "share") for p in found], scope)


def all_or_gap(parts: Sequence[Node], scope: Scope) -> Node:
    return all_of(parts) if parts else gap(scope)


def untestable(statement: forms.Untestable, scope: Scope) -> Node:
    return Gap(statement.why)


def former(statement: forms.Former, scope: Scope) -> Node:
    return Gap(f"this version does not judge the form `{statement.form}`")
