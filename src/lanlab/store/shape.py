"""
Checks a store before it is used, because a store file may come from any source: its tables must be
those of the schema, and its records must have the right types.
"""

from __future__ import annotations

import functools
import itertools
import re
import sqlite3
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, get_args, get_origin, get_type_hints

from lanlab.errors import LabError, StoreError, UnknownName
from lanlab.store.records import (
    RUN_STATUSES,
    TRIAL_PURPOSES,
    TRIAL_STATUSES,
    RunRecord,
    TrialRecord,
)
from lanlab.store.schema import TABLES

RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
#: Longest value in a row, bytes. A trial with a thousand flows needs two megabytes.
MOST_VALUE_BYTES = 64 << 20

_Record = TypeVar("_Record", RunRecord, TrialRecord)
_Object = tuple[str, str, str | None]


def refuse_other_objects(connection: sqlite3.Connection, path: Path) -> None:
    """
    Refuse a file with a table, view, trigger or index that is not in its schema, because it could
    run foreign code when the file is read or written.

    Raises:
        StoreError: An object was added, is missing or differs.
        sqlite3.Error: The file cannot be read.
    """
    found = _objects(connection)
    expected = _expected()
    if found == expected:
        return
    names = sorted({name[:40] for _, name, _ in found ^ expected})
    raise StoreError(
        f"{path}: not a lanlab store: `{'`, `'.join(names[:3])}` differ",
        hint="name another file with --store; this one was not touched",
    )


def _objects(connection: sqlite3.Connection) -> frozenset[_Object]:
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master")
    # The names of SQLite's own tables are reserved.
    return frozenset(
        (kind, str(name), sql) for kind, name, sql in rows if not str(name).startswith("sqlite_")
    )


@functools.cache
def _expected() -> frozenset[_Object]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(TABLES)
        return _objects(connection)
    finally:
        connection.close()


def run_record(fields: Mapping[str, object]) -> RunRecord:
    """
    A run from the columns of a row.

    Raises:
        StoreError: They are not a valid run.
    """
    run = _record(RunRecord, fields)
    if not RUN_ID.fullmatch(run.id) or run.id == "last":
        raise StoreError("a run has an invalid id")
    if run.status not in RUN_STATUSES:
        raise StoreError(f"run `{run.id}`: unknown status")
    return run


def trial_record(fields: Mapping[str, object]) -> TrialRecord:
    """
    A trial from the columns of a row.

    Raises:
        StoreError: They are not a valid trial.
    """
    trial = _record(TrialRecord, fields)
    if trial.status not in TRIAL_STATUSES or trial.purpose not in TRIAL_PURPOSES:
        raise StoreError(f"trial {trial.number}: unknown status or purpose")
    return trial


def trial_records(columns: Mapping[str, Sequence[object]]) -> list[TrialRecord]:
    """Trials from whole columns of rows; raises `StoreError` as `trial_record`."""
    is_sound = set(columns["status"]) <= {*TRIAL_STATUSES} and set(columns["purpose"]) <= {
        *TRIAL_PURPOSES
    }
    for name, holds in _CHECKS[TrialRecord]:
        column = columns[name]
        # Thousands of rows have equal values, or values of one type.
        different: Iterable[object] = column
        if name in ("factors", "parameters"):
            different = dict(zip(map(id, column), column, strict=True)).values()
        elif dict not in set(map(type, column)):
            different = dict(zip(map(type, column), column, strict=True)).values()
        is_sound = is_sound and all(map(holds, different))
    rows = zip(*(columns[name] for name, _ in _CHECKS[TrialRecord]), strict=True)
    if is_sound:
        return list(itertools.starmap(TrialRecord, rows))
    return [trial_record(dict(zip(columns, row, strict=True))) for row in rows]


def _record(kind: type[_Record], fields: Mapping[str, object]) -> _Record:
    for name, holds in _CHECKS[kind]:
        if not holds(fields[name]):
            word = "run" if kind is RunRecord else "trial"
            raise StoreError(f"a {word} has an invalid value of `{name}`")
    made: Callable[..., _Record] = kind
    return made(**fields)


def _checker(hint: object) -> Callable[[object], bool]:
    """A function that checks a value from SQLite or JSON against a record's type."""
    kind = get_origin(hint)
    if isinstance(kind, type) and issubclass(kind, Mapping):
        # JSON keys are always text.
        inner = get_args(hint)[1]
        if inner is object:
            return lambda value: isinstance(value, Mapping)
        kinds = frozenset(get_args(inner) or (inner,))
        return lambda value: (
            isinstance(value, Mapping) and kinds.issuperset(map(type, value.values()))
        )
    if isinstance(hint, types.UnionType):
        checks = [_checker(one) for one in get_args(hint)]
        return lambda value: any(check(value) for check in checks)
    # A boolean does not count as a number here.
    return lambda value: type(value) is hint


#: Computed once, because thousands of trials are read.
_CHECKS: Mapping[type, Sequence[tuple[str, Callable[[object], bool]]]] = {
    kind: [(name, _checker(hint)) for name, hint in get_type_hints(kind).items()]
    for kind in (RunRecord, TrialRecord)
}


#: Errors of code that reads malformed values.
MISSHAPEN = (AttributeError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError)


@contextmanager
def reading_records(run_id: str) -> Iterator[None]:
    """
    Context for computations on a run's records, whose nested parts (the study, raw results) are not
    checked one by one.

    Raises:
        StoreError: The records are malformed; the cause is kept.
    """
    try:
        yield
    except UnknownName as error:
        # The scale comes from the record, other names from the user.
        if error.kind != "scale":
            raise
        raise _misshapen(run_id, error) from error
    except LabError:
        raise
    except MISSHAPEN as error:
        raise _misshapen(run_id, error) from error


def _misshapen(run_id: str, error: Exception) -> StoreError:
    return StoreError(
        f"the records of run `{run_id}` are malformed: {type(error).__name__} while reading them",
        hint="if lanlab wrote this store, please report this as a bug",
    )
