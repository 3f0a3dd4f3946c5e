"""
The store in one SQLite file.

Write-ahead log with full synchronisation: a trial is on disk when `commit_trial` returns, and
readers (a report, the page) do not wait for a run that is writing.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from lanlab.errors import StoreError, UnknownName, UsageError
from lanlab.store import lease
from lanlab.store.encoding import from_json, to_json, utc_now
from lanlab.store.lease import Lease
from lanlab.store.place import refuse_network_share
from lanlab.store.records import RunRecord, TrialRecord
from lanlab.store.schema import (
    APPLICATION_ID,
    MIGRATIONS,
    SCHEMA_VERSION,
    check_header,
    refuse_newer,
)
from lanlab.store.shape import (
    MOST_VALUE_BYTES,
    RUN_ID,
    refuse_other_objects,
    run_record,
    trial_record,
)

#: How long to wait for another process's transaction, which takes milliseconds.
BUSY_TIMEOUT_S = 10.0

_RUN_COLUMNS = tuple(field.name for field in dataclasses.fields(RunRecord))
_TRIAL_COLUMNS = tuple(field.name for field in dataclasses.fields(TrialRecord))
_JSON_COLUMNS = frozenset(
    ("study", "testbed", "versions", "factors", "parameters", "metrics", "raw", "error")
)


def _insert(table: str, columns: tuple[str, ...]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def _select(table: str, columns: tuple[str, ...]) -> str:
    return f"SELECT {', '.join(columns)} FROM {table}"


def _row(record: RunRecord | TrialRecord, columns: tuple[str, ...]) -> list[Any]:
    row = []
    for column in columns:
        value = getattr(record, column)
        text = to_json(value, column)
        row.append(text if column in _JSON_COLUMNS and value is not None else value)
    return row


def _fields(row: tuple[Any, ...], columns: tuple[str, ...]) -> dict[str, Any]:
    return {
        column: from_json(value) if column in _JSON_COLUMNS and value is not None else value
        for column, value in zip(columns, row, strict=True)
    }


#: Primary result code (https://www.sqlite.org/rescode.html) to what it means and what to do.
_CAUSES: Mapping[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: (
        "the disk is full",
        "make room on it; what was committed before is safe, and the run can be resumed",
    ),
    sqlite3.SQLITE_READONLY: (
        "cannot be written",
        "check the owner and mode of the file and its directory, or name another with --store",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened",
        "check the owner and mode of the file and its directory, or name another with --store",
    ),
    sqlite3.SQLITE_BUSY: (
        f"another process kept it locked for {BUSY_TIMEOUT_S:g} s",
        "end the other process, then resume the run",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk failed, or is full",
        "look at its free space and at the system's log; what was committed before is safe",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "is damaged",
        "put a copy of it in its place, or save what is readable: `sqlite3 FILE .recover`",
    ),
    sqlite3.SQLITE_NOTADB: ("is not an SQLite file", "name another file with --store"),
}


def _explain(error: sqlite3.Error, path: Path) -> StoreError:
    # The low eight bits are the primary code.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    cause, hint = _CAUSES.get(code, (str(error), None))
    return StoreError(f"{path}: {cause}", hint=hint)


class SqliteStore:
    """`lanlab.store.Store` in one SQLite file; nothing is made before the first write."""

    def __init__(self, path: Path) -> None:
        """
        Raises:
            StoreError: The file is no store, or one of a newer version; it is not touched.
        """
        self.path = path
        self._connection: sqlite3.Connection | None = None
        check_header(path)

    # Opening

    def _connect(self, options: str) -> sqlite3.Connection:
        """Connect to the file that is there; raises `sqlite3.Error` if it cannot be used."""
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?{options}",
            uri=True,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
        )
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            refuse_newer(version, self.path)
            # The file may be anybody's: its schema runs nothing, and no cell of it is believed
            # (https://www.sqlite.org/security.html).
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("PRAGMA mmap_size = 0")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE_BYTES)
            refuse_other_objects(connection, version, self.path)
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = FULL")
            # Where a plain fsync leaves data in the disk's cache (macOS); elsewhere no effect.
            connection.execute("PRAGMA fullfsync = ON")
            if version < SCHEMA_VERSION:
                with lease.acquire(self._beside(".lock"), "the store", patience_s=BUSY_TIMEOUT_S):
                    _migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _reading(self) -> sqlite3.Connection:
        if self._connection is None:
            if not check_header(self.path):
                raise StoreError(
                    f"{self.path}: there is no store",
                    hint="make one with `lanlab run STUDY`, or name another with --store",
                )
            try:
                self._connection = self._connect("mode=rw")
            except sqlite3.OperationalError:
                # Reading with a log needs files beside the store. Where they cannot be made, as
                # on a read-only disk, and no log is left, the file alone is the whole store.
                if self._beside("-wal").exists():
                    raise
                self._connection = self._connect("immutable=1")
        return self._connection

    def _writing(self) -> sqlite3.Connection:
        if self._connection is None and not check_header(self.path):
            refuse_network_share(self.path)
            self._create()
        return self._reading()

    def _create(self) -> None:
        """Make the file complete under another name first, so that no half of one is ever seen."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"{self.path.parent}: cannot make the store's directory: {error.strerror}",
                hint="name a file elsewhere with --store or LANLAB_STORE",
            ) from None
        with lease.acquire(self._beside(".lock"), "the store", patience_s=BUSY_TIMEOUT_S):
            if check_header(self.path):
                return
            unfinished = self._beside(".new")
            unfinished.unlink(missing_ok=True)
            connection = sqlite3.connect(unfinished, isolation_level=None)
            try:
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                _migrate(connection)
                (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
                if mode != "wal":
                    raise StoreError(
                        f"{self.path}: SQLite cannot keep a write-ahead log there",
                        hint="name a file on a local disk with --store or LANLAB_STORE",
                    )
                connection.close()
                unfinished.replace(self.path)
                _sync_directory(self.path.parent)
            finally:
                connection.close()
                unfinished.unlink(missing_ok=True)

    def _beside(self, suffix: str) -> Path:
        return self.path.with_name(self.path.name + suffix)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """One durable transaction: all of it is on disk afterwards, or none."""
        with self._errors():
            connection = self._writing()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _explain(error, self.path) from error
        except UnicodeError:
            raise StoreError(f"{self.path}: is damaged: a text is not UTF-8") from None
        except OverflowError:
            raise StoreError(f"{self.path}: a whole number needs more than 64 bits") from None

    # Writing

    def create_run(self, run: RunRecord) -> None:
        """See `Store.create_run`."""
        if not RUN_ID.fullmatch(run.id) or run.id == "last":
            raise StoreError(
                f"a run cannot have the id `{run.id}`; allowed: letters, digits and `._-`, "
                "but not `last`, which means the newest"
            )
        row = _row(run, _RUN_COLUMNS)
        with self._transaction() as connection:
            try:
                connection.execute(_insert("run", _RUN_COLUMNS), row)
            except sqlite3.IntegrityError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_CONSTRAINT_UNIQUE:
                    raise
                raise StoreError(f"run `{run.id}` exists already; nothing is overwritten") from None

    def commit_trial(self, trial: TrialRecord) -> None:
        """See `Store.commit_trial`."""
        row = _row(trial, _TRIAL_COLUMNS)
        with self._transaction() as connection:
            try:
                connection.execute(_insert("trial", _TRIAL_COLUMNS), row)
            except sqlite3.IntegrityError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
                    raise
                raise StoreError(
                    f"run `{trial.run_id}` has a trial {trial.number} already; "
                    "nothing is overwritten"
                ) from None

    def finish_run(self, run_id: str, status: str) -> None:
        """See `Store.finish_run`."""
        self._set_status(run_id, status, utc_now())

    def reopen_run(self, run_id: str) -> RunRecord:
        """See `Store.reopen_run`."""
        run = self.run(run_id)
        self._set_status(run.id, "running", None)
        return dataclasses.replace(run, status="running", ended_at=None)

    def _set_status(self, run_id: str, status: str, ended_at: str | None) -> None:
        run = self.run(run_id)
        with self._transaction() as connection:
            connection.execute(
                "UPDATE run SET status = ?, ended_at = ? WHERE id = ?", (status, ended_at, run.id)
            )

    # Leases

    def _lease_path(self, run_id: str) -> Path:
        return self._beside(f".{self.run(run_id).id}.lock")

    def acquire_run(self, run_id: str) -> Lease:
        """See `Store.acquire_run`."""
        return lease.acquire(self._lease_path(run_id), f"run `{run_id}`")

    def is_executing(self, run_id: str) -> bool:
        """See `Store.is_executing`."""
        return lease.is_held(self._lease_path(run_id))

    # Reading

    def run(self, name: str) -> RunRecord:
        """See `Store.run`."""
        with self._errors():
            rows = self._reading().execute("SELECT id FROM run ORDER BY sequence")
            ids = [str(run_id) for (run_id,) in rows]
        found = ids[-1:] if name == "last" else [run_id for run_id in ids if run_id == name]
        if not found and name:
            found = [run_id for run_id in ids if run_id.startswith(name)]
        if len(found) > 1:
            raise UsageError(
                f"`{name}` begins the ids of {len(found)} runs: {', '.join(found)}",
                hint="write more of the one that you mean",
            )
        if not found:
            # Of hundreds of runs, only the newest are worth listing.
            raise UnknownName(
                "run", name, difflib.get_close_matches(name, ids, n=1, cutoff=0.4) or ids[-5:]
            )
        with self._errors():
            sql = f"{_select('run', _RUN_COLUMNS)} WHERE id = ?"
            row = self._reading().execute(sql, found).fetchone()
        with self._errors():
            return run_record(_fields(row, _RUN_COLUMNS))

    def runs(self) -> list[RunRecord]:
        """See `Store.runs`."""
        with self._errors():
            rows = self._reading().execute(f"{_select('run', _RUN_COLUMNS)} ORDER BY sequence")
            return [run_record(_fields(row, _RUN_COLUMNS)) for row in rows]

    def trials(self, run_id: str) -> list[TrialRecord]:
        """See `Store.trials`."""
        run = self.run(run_id)
        sql = f"{_select('trial', _TRIAL_COLUMNS)} WHERE run_id = ? ORDER BY number"
        with self._errors():
            rows = self._reading().execute(sql, (run.id,))
            return [trial_record(_fields(row, _TRIAL_COLUMNS)) for row in rows]

    def close(self) -> None:
        """See `Store.close`."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables to `SCHEMA_VERSION`, each step in a transaction of its own."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for step in range(version + 1, SCHEMA_VERSION + 1):
        try:
            connection.executescript(
                f"BEGIN IMMEDIATE; {MIGRATIONS[step]} PRAGMA user_version = {step};"
                f"INSERT INTO migration VALUES ({step}, '{utc_now()}'); COMMIT;"
            )
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def _sync_directory(directory: Path) -> None:
    """Put the file's name on disk too; on Windows there is no such call and no need."""
    if os.name != "posix":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
