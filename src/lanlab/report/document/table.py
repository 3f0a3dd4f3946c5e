"""A table as data: every cell has a value for CSV and a text for people."""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeVar

from lanlab.frozen import dataclass

Value = bool | int | float | str | None
_V = TypeVar("_V", bool, int, float, str, None)


@dataclass(frozen=True)
class Cell:
    value: Value
    text: str


class LazyCell(Cell):
    """A cell whose text is made when it is shown: a page shows few of a long table's rows."""

    def __init__(self, value: _V, write: Callable[[_V], str]) -> None:
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "write", write)

    @property
    def text(self) -> str:
        text: str = self.__dict__["write"](self.value)
        return text


EMPTY = Cell(None, "")


def cell(value: Value, write: Callable[..., str] = str) -> Cell:
    """A value with its text; empty for `None`."""
    return EMPTY if value is None else Cell(value, write(value))


@functools.lru_cache(maxsize=4096)
def words(text: str) -> Cell:
    return Cell(text, text)


@dataclass(frozen=True)
class Column:
    """A column. Without a name it is not in CSV, without a heading not in text."""

    #: CSV name with the unit, unique in its table.
    name: str
    heading: str = ""
    short: str = ""
    is_number: bool = True
    #: Order in which a narrow terminal drops columns, highest first; 0 is never dropped.
    rank: int = 0


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    #: Whether only a page shows the table, as a further metric or why there are no numbers.
    is_for_page: bool = False

    def to_csv(self) -> str:
        """As CSV at full precision, by RFC 4180; missing values are empty."""
        kept = [place for place, column in enumerate(self.columns) if column.name]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        # Names contain units, which a user's study may define, so escape them as well.
        writer.writerow([_csv_text(self.columns[place].name) for place in kept])
        for row in self.rows:
            # The writer keeps the full precision of numbers.
            values = [row[place].value for place in kept]
            writer.writerow([_csv_text(one) if type(one) is str else one for one in values])
        return out.getvalue()

    def to_json(self) -> list[dict[str, Value]]:
        kept = [(place, column.name) for place, column in enumerate(self.columns) if column.name]
        return [{name: row[place].value for place, name in kept} for row in self.rows]

    def to_markdown(self) -> str:
        """A Markdown table with the columns of the terminal, without the title."""
        shown = self.shown("short")
        heads = [escaped(column.short) for column, _ in shown]
        sides = "|".join("---:" if column.is_number else ":---" for column, _ in shown)
        rows = zip(*([escaped(cell.text) for cell in cells] for _, cells in shown), strict=True)
        head, *rest = (f"| {' | '.join(row)} |" for row in (heads, *rows))
        return "\n".join((head, f"|{sides}|", *rest))

    def shown(self, by: Literal["heading", "short"] = "heading") -> list[tuple[Column, list[Cell]]]:
        found = []
        for place, column in enumerate(self.columns):
            cells = [row[place] for row in self.rows]
            if getattr(column, by) and any(cell.text for cell in cells):
                found.append((column, cells))
        return found


NO_TABLE = Table("", "", (), ())


def escaped(text: str) -> str:
    """Text without a meaning in Markdown, on one line."""
    for character in "\\`*_|<>[]&~$":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def table_of_records(name: str, title: str, records: Sequence[Mapping[str, Value]]) -> Table:
    """A table for CSV alone, with a row for each record; all have the keys of the first."""
    rows = tuple(tuple(Cell(value, "") for value in one.values()) for one in records)
    return Table(name, title, tuple(map(Column, records[0] if records else ())), rows)


def table_of_texts(title: str, columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> Table:
    return Table("", title, tuple(columns), tuple(tuple(map(words, row)) for row in rows))


@functools.lru_cache(maxsize=4096)
def _csv_text(text: str) -> str:
    # Spreadsheets would interpret this text as a formula, even after spaces and line ends.
    begins = text.lstrip()[:1] in ("=", "+", "@", "-") or text[:1] in ("\t", "\r", "\n")
    return f"'{text}" if begins else text
