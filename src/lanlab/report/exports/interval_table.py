"""The stored intervals of every trial, as an export."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lanlab.report.document.table import Cell, Column, Table, words
from lanlab.store import Series, Store, TrialRecord

_SUFFIX = "-intervals"
_COLUMNS = ("start_ns", "width_ns", "bytes", "messages", "lost_messages")


def interval_table(trials: Sequence[TrialRecord], records: Store) -> Table:
    """
    A row for each interval that a receiver counted. Times start with the trial, and so include the
    warm-up.

    Raises:
        StoreError: A series is missing or damaged.
    """
    columns = (
        Column("trial"),
        Column("end", is_number=False),
        *(Column(name) for name in (*_COLUMNS, "rate (bit/s)")),
    )
    rows = tuple(row for trial in trials for row in _rows(trial, records))
    return Table("intervals", "intervals", columns, rows)


def _rows(trial: TrialRecord, records: Store) -> Iterator[tuple[Cell, ...]]:
    for name in records.series_names(trial.run_id, trial.number):
        if not name.endswith(_SUFFIX):
            continue
        series = records.series(trial.run_id, trial.number, [name])[name]
        end = name.removesuffix(_SUFFIX).replace("-", "_")
        found = [_numbers(series, column) for column in _COLUMNS]
        for start_ns, width_ns, octets, *counts in zip(*found, strict=True):
            numbers = (start_ns, width_ns, octets, *counts, 8e9 * octets / width_ns)
            yield (Cell(trial.number, ""), words(end), *(Cell(number, "") for number in numbers))


def _numbers(series: Series, column: str) -> list[Any]:
    if column not in series.columns:
        return [None] * series.rows
    return list(series.columns[column].tolist())
