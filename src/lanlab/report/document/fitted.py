"""Tables fitted to the width of a terminal without breaking words or numbers. If not all columns
fit, the least important are omitted and named. If even the rest does not fit, each cell gets its
own line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lanlab.report.document.table import Column, Table
from lanlab.units import lines_of, words_of

_GAP = "  "
_WANTED = 24
#: Long texts of tables wider than the first are wrapped to the second, even if there is room.
_WIDEST, _READABLE = 250, 160
_LONG = 34
#: Width of output that is not a terminal: no column is omitted.
_ENDLESS = 2**31


def fitted(table: Table, width: int | None) -> Iterator[tuple[str, bool]]:
    """
    Each line of a table, and whether it is a title or heading.

    Args:
        table: Columns with a short name are shown if at least one cell has content, or if there are
            no rows.
        width: At most, if possible.
    """
    width = width or _ENDLESS
    columns = [
        _Measured(column, [row[place].text for row in table.rows])
        for place, column in enumerate(table.columns)
        if column.short and (not table.rows or any(row[place].text for row in table.rows))
    ]
    if table.title:
        yield from ((line, True) for line in lines_of(table.title, width, _GAP))
    shown, left_out = fit(columns, width)
    has_rows = _total([one.least for one in shown]) <= width
    rows = laid_out(shown) if has_rows else stacked(columns, width)
    # Columns without headings have an empty first line.
    yield from ((line, has_rows and not place) for place, line in enumerate(rows) if line or place)
    if left_out and has_rows:
        names = ", ".join(" ".join(one.heading.split()) for one in left_out)
        said = lines_of(f"not shown for want of width: {names}", width, _GAP)
        yield from ((line, False) for line in said)


class _Measured:
    def __init__(self, column: Column, cells: Sequence[str]) -> None:
        self.heading = column.short
        self.is_number = column.is_number
        self.rank = column.rank
        self.cells = cells
        self.natural = max(map(_cells, _lines([self.heading, *cells])))
        whole = _lines(cells) if column.is_number else _words(cells)
        self.least = max(map(_cells, (*whole, *_words([self.heading]), "")))
        #: Other columns are omitted until this one has this width; longer text is wrapped.
        self.wanted = max(self.least, min(self.natural, _WANTED))
        self.width = self.natural


def fit(columns: Sequence[_Measured], width: int) -> tuple[list[_Measured], list[_Measured]]:
    """Choose the columns to show, and set their widths."""
    if columns:
        # The first column identifies a row, so it is never wrapped.
        columns[0].least = columns[0].wanted
    shown = list(columns)
    while _total([one.wanted for one in shown]) > width:
        rank = max(one.rank for one in shown)
        if rank == 0:
            break
        # Columns of the same rank are only useful together.
        shown = [one for one in shown if one.rank < rank]
    for one in shown:
        one.width = one.natural
    is_long = _total([one.width for one in shown]) > _WIDEST
    for most, least in ((_READABLE if is_long else width, _LONG), (width, 0)):
        while _total([one.width for one in shown]) > most:
            wide = [one for one in shown if one.width > max(one.least, least)]
            if not wide:
                break
            max(wide, key=lambda one: one.width).width -= 1
    return shown, [one for one in columns if one not in shown]


def laid_out(columns: Sequence[_Measured]) -> Iterator[str]:
    rows = [[one.heading for one in columns], *zip(*(one.cells for one in columns), strict=True)]
    for row in rows:
        wrapped = [_wrapped(cell, one.width) for cell, one in zip(row, columns, strict=True)]
        for place in range(max(map(len, wrapped))):
            cells = [
                _padded(lines[place] if place < len(lines) else "", one)
                for lines, one in zip(wrapped, columns, strict=True)
            ]
            yield _GAP.join(cells).rstrip()


def stacked(columns: Sequence[_Measured], width: int) -> Iterator[str]:
    """Each row as its first cell, and for each other cell a line with heading and value."""
    first, *others = columns
    headings = [" ".join(one.heading.split()) for one in others]
    label = min(max(map(_cells, headings), default=0), width // 2)
    for place, name in enumerate(first.cells):
        yield from _wrapped(name, width)
        for heading, one in zip(headings, others, strict=True):
            cell = one.cells[place]
            begin = f"{_GAP}{heading.ljust(label)}{_GAP}"
            if cell:
                indent = " " * (label + 2 * len(_GAP))
                yield from lines_of(" ".join(cell.split()), width, indent, begin)


def _lines(texts: Sequence[str]) -> list[str]:
    return [line for text in texts for line in text.split("\n")]


def _words(texts: Sequence[str]) -> list[str]:
    return [word for text in texts for word in words_of(text)]


def _wrapped(text: str, width: int) -> list[str]:
    return [
        part
        for line in text.split("\n")
        for part in (lines_of(line, width) if _cells(line) > width else [line])
    ]


def _padded(text: str, column: _Measured) -> str:
    blanks = " " * (column.width - _cells(text))
    return f"{blanks}{text}" if column.is_number else f"{text}{blanks}"


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * max(0, len(widths) - 1)


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
