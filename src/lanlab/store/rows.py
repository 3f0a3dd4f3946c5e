"""Converts records to table rows and back, with statements for both kinds of database."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from lanlab.errors import StoreError
from lanlab.store.base import RunHead
from lanlab.store.encoding import Row, from_json, to_json
from lanlab.store.labels import label_from
from lanlab.store.large_runs import Digests, StoredRaw, equal_once, packed
from lanlab.store.records import (
    RUN_STATUSES,
    TRIAL_PURPOSES,
    TRIAL_STATUSES,
    RunRecord,
    TrialHead,
    TrialRecord,
)
from lanlab.store.series import SeriesEntry
from lanlab.store.shape import RUN_ID, run_record, trial_record, trial_records

RUN_COLUMNS = tuple(field.name for field in dataclasses.fields(RunRecord))
TRIAL_COLUMNS = tuple(field.name for field in dataclasses.fields(TrialRecord))
ENTRY_COLUMNS = tuple(field.name for field in dataclasses.fields(SeriesEntry))
_JSON_COLUMNS = frozenset(
    (
        "study",
        "testbed",
        "versions",
        "alternation",
        "label",
        "summary",
        "factors",
        "parameters",
        "metrics",
        "raw",
        "error",
    )
)


class Session(Protocol):
    """Executes a statement with values for its `:names`, and returns the rows."""

    def execute(self, sql: str, **values: object) -> list[Row]: ...


def insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES (:{', :'.join(columns)})"


def select(table: str, columns: Sequence[str]) -> str:
    return f"SELECT {', '.join(columns)} FROM {table}"


def to_row(record: RunRecord | TrialRecord) -> dict[str, object]:
    """
    The values of a record's columns.

    Raises:
        StoreError: A value cannot be stored exactly.
    """
    row: dict[str, object] = {}
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        text = to_json(value, field.name)
        if field.name in _JSON_COLUMNS:
            row[field.name] = None if value is None else text
        else:
            _check_plain(field.name, value)
            row[field.name] = value
    return row


def _check_plain(name: str, value: object) -> None:
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise StoreError(f"`{name}` is {value}, which needs more than 64 bits")
    if isinstance(value, str):
        # JSON can contain such characters, but a database's text cannot.
        try:
            value.encode()
        except UnicodeEncodeError:
            raise StoreError(f"`{name}` is {value!r}, which is not text") from None
        if "\0" in value:
            raise StoreError(f"`{name}` is {value!r}, which has a NUL in it")


def to_run(row: Row) -> RunRecord:
    """The run in a row of `RUN_COLUMNS`; raises `StoreError` for an invalid row."""
    return run_record(_fields(row, RUN_COLUMNS))


def to_head(run_id: object, status: object, label: object, last: object) -> RunHead:
    """The head of a run's row, without checks: reading the run reports any errors."""
    try:
        data = None if label is None else from_json(label)
    except StoreError:
        data = None
    number = last + 1 if isinstance(last, int) else 0
    return RunHead(str(run_id), str(status), number, label_from(data))


def to_trial(row: Row) -> TrialRecord:
    """The trial in a row of `TRIAL_COLUMNS`; raises `StoreError` for an invalid row."""
    return trial_record(_fields(row, TRIAL_COLUMNS))


_WITH_DIGEST = (
    "trial LEFT JOIN digest ON digest.run_id = trial.run_id AND digest.number = trial.number"
)
#: Rows for `to_outlines`.
OUTLINES = (
    select(
        _WITH_DIGEST, ["is_disturbed" if one == "raw" else f"trial.{one}" for one in TRIAL_COLUMNS]
    )
    + " WHERE trial.run_id = :run_id AND trial.number >= :first ORDER BY trial.number LIMIT :most"
)
_HEAD_COLUMNS = ["number", "experiment", "purpose", "factors", "block", "status"]


def head_query(metrics: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The statement for rows of `to_trial_heads`, and its values; `metrics` by experiment."""
    cases: list[str] = []
    values: dict[str, str] = {}
    for place, (experiment, metric) in enumerate(metrics.items()):
        cases.append(f"WHEN :experiment{place} THEN CAST(:metric{place} AS TEXT)")
        values |= {f"experiment{place}": experiment, f"metric{place}": metric}
    metric = f"trial.metrics -> CASE experiment {' '.join(cases)} END" if cases else "NULL"
    columns = [*(f"trial.{one}" for one in _HEAD_COLUMNS), "is_disturbed", metric]
    return f"{select(_WITH_DIGEST, columns)} WHERE trial.run_id = :run_id ORDER BY 1", values


def to_trial_heads(found: Sequence[Row], metrics: Mapping[str, str]) -> list[TrialHead]:
    """
    Raises:
        StoreError: A value is not as written, or it is unknown whether a trial was disturbed.
    """
    heads = []
    for number, experiment, purpose, factors, block, status, disturbed, value in found:
        own: Mapping[str, float] = {}
        try:
            # PostgreSQL returns the value, SQLite its JSON text.
            if value is not None:
                own = {metrics[experiment]: float(value)}
        except ValueError:
            raise StoreError(f"trial {number}: a metric is not a number") from None
        if disturbed is None or not math.isfinite(sum(own.values())):
            raise StoreError(f"trial {number} cannot be summarised")
        levels = equal_once(factors)
        heads.append(
            TrialHead(number, experiment, purpose, levels, block, status, bool(disturbed), own)
        )
    return heads


DIGESTS = (
    "SELECT number, parts FROM digest WHERE run_id = :run_id AND number >= :first AND number < :end"
)


def to_outlines(found: Sequence[Row], digests: Digests) -> list[TrialRecord]:
    """
    Trials from rows of `TRIAL_COLUMNS` that have `is_disturbed` in place of `raw`. Without a
    digest, it is unknown whether a trial was disturbed.

    Raises:
        StoreError: A row is not a valid trial, or a trial is repeated.
    """
    columns = dict(zip(TRIAL_COLUMNS, map(list, zip(*found, strict=True)), strict=True))
    numbers = columns["number"]
    for name in ("factors", "parameters"):
        columns[name] = list(map(equal_once, columns[name]))
    columns["metrics"] = list(map(packed, columns["metrics"]))
    columns["error"] = [None if one is None else from_json(one) for one in columns["error"]]
    columns["raw"] = [
        StoredRaw(digests, number, None if disturbed is None else bool(disturbed))
        for number, disturbed in zip(numbers, columns["raw"], strict=True)
    ]
    trials = trial_records(columns)
    for before, number in itertools.pairwise(numbers):
        if number <= before:
            raise StoreError(f"trial {number} is stored twice")
    return trials


def _fields(row: Row, columns: tuple[str, ...]) -> dict[str, object]:
    return {
        column: from_json(value) if column in _JSON_COLUMNS and value is not None else value
        for column, value in zip(columns, row, strict=True)
    }


def check_run(run: RunRecord) -> None:
    if not RUN_ID.fullmatch(run.id) or run.id == "last":
        raise StoreError(
            f"a run cannot have the id `{run.id}`; allowed: letters, digits and `._-`, "
            "but not `last`, which means the newest"
        )
    check_one_of("a run's status", run.status, RUN_STATUSES)


def check_trial(trial: TrialRecord) -> None:
    check_one_of("a trial's status", trial.status, TRIAL_STATUSES)
    check_one_of("a trial's purpose", trial.purpose, TRIAL_PURPOSES)
    for name, value in (("number", trial.number), ("block", trial.block)):
        if value < 0:
            raise StoreError(f"a trial's {name} is {value}; allowed: 0 and above")


def check_one_of(what: str, found: str, allowed: Sequence[str]) -> None:
    if found not in allowed:
        raise StoreError(f"{what} is `{found}`; allowed: {', '.join(allowed)}")
