"""Tables as wide as a terminal."""

import pytest

from lanlab.report.document.fitted import fitted
from lanlab.report.document.table import Column, table_of_texts

COLUMNS = (
    Column("", short="run", is_number=False),
    Column("", short="mean (Mbit/s)", rank=1),
    Column("", short="ratio, 95 %"),
    Column("", short="p", rank=2),
    Column("", short="verdict", is_number=False),
)
ROWS = [
    ("20261121-080000-stream-4f2a", "9.4 ± 0.2", "1.02 (0.99 … 1.05)", "0.03", "differs, better"),
    ("20261121-090000-stream-0002", "9.1 ± 0.2", "", "", "undecided"),
]


def shown(width: int, title: str = "") -> list[str]:
    return [line for line, _ in fitted(table_of_texts(title, COLUMNS, ROWS), width)]


@pytest.mark.parametrize("width", [30, 45, 60, 72, 80, 120])
def test_no_word_and_no_number_is_broken(width: int) -> None:
    said = "\n".join(shown(width))
    for row in ROWS:
        assert row[0] in said
        assert row[4].split()[0] in said
    assert "1.02 (0.99 … 1.05)" in " ".join(said.split())


def test_the_least_important_columns_are_omitted_and_named() -> None:
    assert "0.03" in "\n".join(shown(120))
    narrow = shown(80)
    assert narrow[-1] == "not shown for want of width: p"
    assert "9.4 ± 0.2" in narrow[1] and "0.03" not in "\n".join(narrow[:-1])
    narrower = shown(74)
    assert narrower[-1] == "not shown for want of width: mean (Mbit/s), p"


def test_a_table_that_never_fits_has_a_line_for_each_cell() -> None:
    assert shown(34)[:7] == [
        "20261121-080000-stream-4f2a",
        "  mean (Mbit/s)  9.4 ± 0.2",
        "  ratio, 95 %    1.02 (0.99 …",
        "                 1.05)",
        "  p              0.03",
        "  verdict        differs, better",
        "20261121-090000-stream-0002",
    ]


def test_a_title_spans_the_whole_width() -> None:
    title = "UDP stream, 1408-byte messages, from here to alice@nas"
    assert shown(80, title)[0].strip() == title


def test_a_pipe_gets_every_column_and_wrapped_texts() -> None:
    claim = "The speeds of the three receivers differ by a larger factor with 2-byte messages. " * 3
    rows = [(f"f{n}", "9.4 ± 0.2", "", "0.03", claim) for n in range(2)]
    lines = [line for line, _ in fitted(table_of_texts("", COLUMNS, rows), None)]
    assert max(map(len, lines)) <= 160
    assert all(text in "\n".join(lines) for text in ("0.03", "9.4 ± 0.2", "f1"))
    assert "not shown" not in "\n".join(lines)
