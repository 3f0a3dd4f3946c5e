"""The tables of docs/counterparts.md, each between two marks: scripts replace what is between."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "counterparts.md"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def write_table(name: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Replace the table between `<!-- NAME -->` and `<!-- end of NAME -->`."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    lines = [heads, ["---"] * len(heads), *([_escaped(cell) for cell in row] for row in rows)]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    before, rest = PAGE.read_text().split(begin)
    _, after = rest.split(end)
    PAGE.write_text(f"{before}{begin}{table}{end}{after}")
