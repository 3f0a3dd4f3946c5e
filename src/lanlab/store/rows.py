"""Converts records to table rows and back, with statements for both kinds of database."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Protocol

from lanlab.errors import StoreError
from lanlab.store.base import RunHead
from lanlab.store.encoding import from_json, to_json
from lanlab.store.labels import label_from
from lanlab.store.large_runs import Digests, StoredRaw, equal_once, packed
from lanlab.store.records import (
    RUN_STATUSES,
    TRIAL_PURPOSES,
    TRIAL_STATUSES,
    RunRecord,
    TrialRecord,
)
from lanlab.store.series import SeriesEntry
from lanlab.store.shape import RUN_ID, run_record, trial_record

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

    def execute(self, sql: str, **values: Any) -> list[Sequence[Any]]: ...


def insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES (:{', :'.join(columns)})"


def select(table: str, columns: Sequence[str]) -> str:
    return f"SELECT {', '.join(columns)} FROM {table}"


def to_row(record: RunRecord | TrialRecord) -> dict[str, Any]:
    """
    The values of a record's columns.

    Raises:
        StoreError: A value cannot be stored exactly.
    """
    row = {}
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        text = to_json(value, field.name)
        if field.name in _JSON_COLUMNS:
            row[field.name] = None if value is None else text
        else:
            _check_plain(field.name, value)
            row[field.name] = value
    return row


def _check_plain(name: str, value: Any) -> None:
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


def to_run(row: Sequence[Any]) -> RunRecord:
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


def to_trial(row: Sequence[Any]) -> TrialRecord:
    """The trial in a row of `TRIAL_COLUMNS`; raises `StoreError` for an invalid row."""
    return trial_record(_fields(row, TRIAL_COLUMNS))


#: Rows for `to_outlines`.
OUTLINES = (
    select(
        "trial LEFT JOIN digest ON digest.run_id = trial.run_id AND digest.number = trial.number",
        ["is_disturbed" if one == "raw" else f"trial.{one}" for one in TRIAL_COLUMNS],
    )
    + " WHERE trial.run_id = :run_id AND trial.number >= :first ORDER BY trial.number LIMIT :most"
)
DIGESTS = (
    "SELECT number, parts FROM digest WHERE run_id = :run_id AND number >= :first AND number < :end"
)


def to_outlines(found: Sequence[Sequence[Any]], digests: Digests) -> list[TrialRecord]:
    """
    Trials from rows of `TRIAL_COLUMNS` that have `is_disturbed` in place of `raw`. Without a
    digest, it is unknown whether a trial was disturbed.

    Raises:
        StoreError: A row is not a valid trial, or a trial is repeated.
    """
    trials: list[TrialRecord] = []
    for row in found:
        fields = dict(zip(TRIAL_COLUMNS, row, strict=True))
        for name in ("factors", "parameters"):
            fields[name] = equal_once(fields[name])
        fields["metrics"] = packed(fields["metrics"])
        if fields["error"] is not None:
            fields["error"] = from_json(fields["error"])
        disturbed = fields["raw"]
        fields["raw"] = StoredRaw(
            digests, fields["number"], None if disturbed is None else bool(disturbed)
        )
        trial = trial_record(fields)
        if trials and trial.number <= trials[-1].number:
            raise StoreError(f"trial {trial.number} is stored twice")
        trials.append(trial)
    return trials


def _fields(row: Sequence[Any], columns: tuple[str, ...]) -> dict[str, Any]:
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
