"""
The conditions that a part of a statement refers to.

The rules are in `docs/studies.md`: an inner table overrides the outer ones. A list means "each of
them" unless a `take` of the same table reduces it. If neither side names a factor, both sides are
compared at each of its levels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Literal

from lanlab.analysis.findings.evidence import Cell, Evidence, matches
from lanlab.frozen import dataclass
from lanlab.studies.base import Level
from lanlab.studies.findings import Statement
from lanlab.studies.selection import Selection

Take = Literal["least", "greatest"]


@dataclass(frozen=True)
class Scope:
    evidence: Evidence
    metric: str = ""
    named: Mapping[str, tuple[Level, ...]] = field(default_factory=dict)
    take: Take | None = None
    #: Named factors whose lists are reduced by the `take` of the same table.
    taken_lists: frozenset[str] = frozenset()

    def within(self, selection: Selection | None, metric: str | None = None) -> Scope:
        if selection is None:
            return replace(self, metric=metric or self.metric)
        own: dict[str, tuple[Level, ...]] = {}
        for factor, found in selection.levels.items():
            listed = found if isinstance(found, tuple) else (found,)
            own[factor] = tuple(self.evidence.plain(factor, level) for level in listed)
        take, taken_lists = self.take, self.taken_lists - own.keys()
        if selection.take is not None:
            take = None if selection.take == "each" else selection.take
            taken_lists = frozenset(f for f, found in own.items() if len(found) > 1)
        return Scope(
            self.evidence,
            selection.metric or metric or self.metric,
            {**self.named, **own},
            take,
            taken_lists,
        )

    def of(self, statement: Statement) -> Scope:
        return self.within(statement.at, statement.metric)

    def fixed(self, levels: Mapping[str, Level]) -> Scope:
        named = {**self.named, **{factor: (level,) for factor, level in levels.items()}}
        return replace(self, named=named, taken_lists=self.taken_lists - levels.keys())

    def without(self, factor: str) -> Scope:
        named = {name: levels for name, levels in self.named.items() if name != factor}
        return replace(self, named=named, taken_lists=self.taken_lists - {factor})

    def cells(self, as_share: bool = False) -> list[Cell]:
        """The named conditions. Ends of ranges are included only if an extreme is taken."""
        found = self.evidence.shares(self.metric) if as_share else self.evidence.cells(self.metric)
        wanted = ("each", self.take) if self.take else ("each",)
        return [cell for cell in found if cell.stands in wanted and self._is_named(cell)]

    def _is_named(self, cell: Cell) -> bool:
        if cell.stands == "each":
            return matches(cell.levels, self.named)
        # An end of a range refers to all levels that it does not name.
        open_lists = self.taken_lists - cell.levels.keys()
        return matches(cell.levels, {f: n for f, n in self.named.items() if f not in open_lists})

    def single(self) -> dict[str, Level]:
        return {name: levels[0] for name, levels in self.named.items() if len(levels) == 1}

    def lists(self) -> dict[str, tuple[Level, ...]]:
        return {
            name: levels
            for name, levels in self.named.items()
            if len(levels) > 1 and not (self.take and name in self.taken_lists)
        }

    def each(self) -> Iterator[Scope]:
        """A scope for each combination of the listed levels, one level per factor."""
        lists = self.lists()
        for levels in itertools.product(*lists.values()):
            yield self.fixed(dict(zip(lists, levels, strict=True)))

    def levels_along(self, factor: str, as_share: bool = False) -> tuple[Level, ...]:
        """The levels of a factor to loop over: the listed ones, else all, in order."""
        named = self.named.get(factor)
        known = named or self.evidence.levels(factor)
        if not known:
            cells = self.without(factor).cells(as_share)
            known = tuple(dict.fromkeys(c.levels[factor] for c in cells if factor in c.levels))
        numbers = [one for one in known if isinstance(one, int | float)]
        return tuple(sorted(numbers)) if len(numbers) == len(known) else known

    def levels_present(self, factor: str, cells: Iterable[Cell]) -> tuple[Level, ...]:
        """Those of `levels_along` that these conditions have, or that the scope names. Published
        values may lack any.
        """
        known = self.levels_along(factor)
        if self.evidence.can_lack or factor in self.named:
            return known
        there = {cell.levels[factor] for cell in cells if factor in cell.levels}
        return tuple(level for level in known if level in there)
