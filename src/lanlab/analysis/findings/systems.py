"""
Judges statements about other systems on a run, by dropping the levels that the run cannot have.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from lanlab.studies.base import Level
from lanlab.studies.findings import Statement
from lanlab.studies.selection import Selection

#: Names the only system of a run where a statement loops over several.
THIS_SYSTEM = "this system"
_SEVERAL = ("along", "across", "factor", "over")


def assumed_levels(
    statement: Statement, known: Collection[str], told_apart: Collection[str] = ()
) -> dict[str, Level] | None:
    """
    Levels that a run lacks. If they are assumed for its system, a statement applies to it.

    Args:
        statement: Statement of a finding.
        known: The factors and parameters of the run's conditions.
        told_apart: Factors whose levels have different counterparts in the run, so that a statement
            may count over them.

    Returns:
        `None` if no factor is unknown, or if the statement compares levels of an unknown factor,
        which one system cannot show.
    """
    named: dict[str, set[Level]] = {}
    for factor, levels in _named(statement):
        if factor not in known:
            named.setdefault(factor, set()).update(levels)
    over = statement.over if statement.form == "count" else ()
    counted = {factor for factor in over if factor in told_apart} - set(known)
    for factor in counted:
        named.setdefault(factor, set())
    if not named or any(len(levels) > 1 for levels in named.values()):
        return None
    compared = {factor for factor in _compared(statement) if factor not in known} - counted
    if compared:
        return None
    return {factor: next(iter(levels), THIS_SYSTEM) for factor, levels in named.items()}


def _named(statement: Statement) -> Iterator[tuple[str, tuple[Level, ...]]]:
    for key in ("at", "a", "b"):
        selection = getattr(statement, key, None)
        if isinstance(selection, Selection):
            for factor, levels in selection.levels.items():
                yield factor, levels if isinstance(levels, tuple) else (levels,)
    for factor in statement.for_each:
        yield factor, ()
    for one in _inner(statement):
        yield from _named(one)


def _compared(statement: Statement) -> Iterator[str]:
    for key in _SEVERAL:
        found = getattr(statement, key, None) or ()
        yield from (found,) if isinstance(found, str) else found
    for one in _inner(statement):
        yield from _compared(one)


def _inner(statement: Statement) -> tuple[Statement, ...]:
    of = getattr(statement, "of", ())
    if isinstance(of, str):  # the `of` of `share` is a name
        return ()
    return of if isinstance(of, tuple) else (of,)
