"""A table as data: every cell has its value, for CSV, and its text, for people."""

from __future__ import annotations

import csv
import io

from lanlab.frozen import dataclass

Value = bool | int | float | str | None


@dataclass(frozen=True)
class Cell:
    value: Value
    text: str


EMPTY = Cell(None, "")


def words(text: str) -> Cell:
    return Cell(text, text)


@dataclass(frozen=True)
class Column:
    """A column; where a name or heading is empty, that face leaves it out."""

    #: Unique in its table, with the unit, for CSV.
    name: str
    heading: str = ""
    short: str = ""
    is_number: bool = True
    #: What a narrow terminal leaves out first: the highest; 0 stays.
    rank: int = 0


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    #: Whether it only says why it has no numbers; a terminal leaves it out.
    has_only_notes: bool = False

    def to_csv(self) -> str:
        """At full precision, as RFC 4180 has it; what was not measured is empty."""
        kept = [place for place, column in enumerate(self.columns) if column.name]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        # A name may have a study's own unit in it.
        writer.writerow([_csv_text(self.columns[place].name) for place in kept])
        for row in self.rows:
            writer.writerow([_csv_text(row[place].value) for place in kept])
        return out.getvalue()

    def to_json(self) -> list[dict[str, Value]]:
        kept = [(place, column.name) for place, column in enumerate(self.columns) if column.name]
        return [{name: row[place].value for place, name in kept} for row in self.rows]

    def shown(self) -> list[tuple[Column, list[Cell]]]:
        found = []
        for place, column in enumerate(self.columns):
            cells = [row[place] for row in self.rows]
            if column.heading and any(cell.text for cell in cells):
                found.append((column, cells))
        return found


NO_TABLE = Table("", "", (), ())


def _csv_text(value: Value) -> str:
    if value is None:
        return ""
    text = repr(value) if isinstance(value, float) else str(value)
    # A spreadsheet takes such a text for a formula, behind spaces and line ends too.
    begins = text.lstrip()[:1] in ("=", "+", "@", "-") or text[:1] in ("\t", "\r", "\n")
    return f"'{text}" if isinstance(value, str) and begins else text
