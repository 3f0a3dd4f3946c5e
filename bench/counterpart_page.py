"""The tables of bench/results/counterparts.md; scripts replace what is between two marks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).parent.parent / "bench" / "results" / "counterparts.md"
#: Longest text of a cell: an error's first words.
_LONGEST = 200


def _escaped(text: str) -> str:
    text = text.replace("|", "\\|").replace("\n", " ")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def write_table(name: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """
    Put rows into the table between `<!-- NAME -->` and `<!-- end of NAME -->`.

    A row replaces the one with the same first and third cell; the others stay.
    """
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = PAGE.read_text().split(begin)
    between, after = rest.split(end)
    old = [line.strip("| \n").split(" | ") for line in between.splitlines()[2:]]
    merged = {(cells[0], cells[2]): [*cells, ""][: len(heads)] for cells in old}
    merged |= {(row[0], row[2]): [_escaped(cell) for cell in row] for row in rows}
    lines = [list(heads), ["---"] * len(heads), *merged.values()]
    table = "".join(f"| {' | '.join(line).strip()} |\n" for line in lines)
    PAGE.write_text(f"{before}{begin}{table}{end}{after}")
