"""Lays out published tables: a cell is the number that matches its row and column."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from lanlab.frozen import dataclass
from lanlab.studies.base import Level
from lanlab.studies.published import (
    MissingValue,
    Published,
    PublishedTable,
    PublishedValue,
    TablePart,
)

Cell = PublishedValue | MissingValue | None


@dataclass(frozen=True)
class LaidOutTable:
    table: PublishedTable
    headings: tuple[str, ...]
    #: For each row, its leading words and its cells; a cell is `None` if the study has no number.
    rows: tuple[tuple[tuple[str, ...], tuple[Cell, ...]], ...]


def laid_out(published: Published, table: PublishedTable) -> LaidOutTable:
    """
    The table with its cells filled.

    A number belongs to a cell if its `where` equals the table's, or begins with it and a comma, and
    if its metric, statistic and whole condition are those of row and column together.

    Raises:
        ValueError: Two numbers belong to one cell, or a row names an unknown factor.
    """
    inside = [
        value
        for value in published.printed
        if value.where == table.where or value.where.startswith(f"{table.where},")
    ]
    columns = tuple(column.title for column in table.columns)
    if table.rows:
        rows = tuple(
            ((row.title,), tuple(_cell(table, inside, row, column) for column in table.columns))
            for row in table.rows
        )
        return LaidOutTable(table, ("", *columns), rows)
    factors = {factor.name: factor for factor in published.factor}
    unknown = [name for name in table.row_factors if name not in factors]
    if unknown:
        raise ValueError(f"table {table.id}: no factor `{unknown[0]}`")
    chosen = [factors[name] for name in table.row_factors]
    found = []
    for levels in itertools.product(*(factor.levels for factor in chosen)):
        names = zip(table.row_factors, levels, strict=True)
        row = TablePart(title="", at={name: one.level for name, one in names})
        cells = tuple(_cell(table, inside, row, column) for column in table.columns)
        # Some combinations of levels have no row.
        if any(cell is not None for cell in cells):
            found.append((tuple(one.title for one in levels), cells))
    headings = tuple(factor.title for factor in chosen)
    return LaidOutTable(table, (*headings, *columns), tuple(found))


def _cell(
    table: PublishedTable,
    inside: Sequence[PublishedValue | MissingValue],
    row: TablePart,
    column: TablePart,
) -> Cell:
    at: Mapping[str, Level] = {**row.at, **column.at}
    metrics, statistic = column.metric or row.metric, column.statistic or row.statistic
    named = (metrics,) if isinstance(metrics, str) else metrics or ()
    found = [
        value
        for value in inside
        if value.metric in named and value.statistic == statistic and value.condition == at
    ]
    if len(found) > 1:
        ids = ", ".join(value.id for value in found)
        raise ValueError(f"table {table.id}: {ids} are for the same cell")
    return found[0] if found else None
