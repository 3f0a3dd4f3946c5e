"""
Published statements that are not numbers of one condition, with the equivalent results of a run.
"""

from __future__ import annotations

from lanlab.analysis.published_statements import Statement, statements
from lanlab.analysis.run_data import RunData
from lanlab.figures.number_text import number, percent, plain
from lanlab.figures.wording import BOUNDS, level_text, obtained, quantity
from lanlab.report.document.table import Cell, Column, Table, words
from lanlab.studies import PublishedValue, Study

#: Factors in the conditions of published numbers. Other keys describe properties that a run cannot
#: vary.
_PARAMETERS = frozenset({"transport", "ip_version", "message_size_bytes"})


def statement_table(data: RunData) -> Table:
    """Published statements other than absolute numbers at a single condition."""
    by = obtained(data.study).word
    columns = (
        Column("id"),
        Column("published", "the study printed", is_number=False),
        Column("about", "about", is_number=False),
        Column("where", "where", is_number=False),
        Column("value"),
        Column("bound", is_number=False),
        Column("unit", is_number=False),
        Column("", "read as"),
        Column(by),
        Column("", f"{by} here"),
        Column("how", "how, or why not", is_number=False),
    )
    rows = [
        _row(statement, data.study)
        for statement in statements(data.run, data.trials, data.published)
    ]
    return Table("published-statements", "Other published statements", columns, tuple(rows))


def _row(statement: Statement, study: Study) -> tuple[Cell, ...]:
    value = statement.value
    condition = dict(value.condition)
    pair = [condition.pop(key, None) for key in ("numerator", "denominator")]
    about = [" to ".join(map(str, pair))] if all(pair) else []
    about += [
        level_text(study, key, level) if key in _PARAMETERS else str(level)
        for key, level in condition.items()
    ]
    ours = statement.ours
    return (
        Cell(value.id, ""),
        Cell(
            value.published,
            f"\N{LEFT DOUBLE QUOTATION MARK}{value.published}\N{RIGHT DOUBLE QUOTATION MARK}",
        ),
        words(", ".join(about)),
        words(value.where),
        Cell(value.si, ""),
        Cell(BOUNDS[value.bound] if value.bound else None, ""),
        words(value.si_unit),
        Cell(None, _as_read(value, study)),
        Cell(ours, ""),
        Cell(None, "" if ours is None else _in_units(value, ours, study)),
        words(statement.how),
    )


def _as_read(value: PublishedValue, study: Study) -> str:
    bound = f"{BOUNDS[value.bound]} " if value.bound else ""
    texts = {
        "share_of_link": f"{plain(100 * value.si)} % of the link",
        "ratio": f"{plain(value.si)} times",
        "gain": f"{plain(100 * value.si)} % more",
        "deficit": f"{plain(100 * value.si)} % less",
    }
    text = texts.get(value.statistic)
    if text is None:
        text = f"{value.statistic} {_in_units(value, value.si, study)}"
    return bound + text


def _in_units(value: PublishedValue, si: float, study: Study) -> str:
    if value.si_unit == "ratio":
        return percent(si) if value.statistic == "share_of_link" else number(si, 3)
    return quantity(study, value.metric).text(si)
