"""
The store in one SQLite file.

It uses a write-ahead log with full synchronisation: a trial is on disk when `commit_trial` returns,
and readers (a report, the page) do not wait for a run that is writing.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

from lanlab.disk import entry, make_folders, sync_directory
from lanlab.errors import StoreError
from lanlab.frozen import dataclass
from lanlab.store import lease
from lanlab.store.base import Lease
from lanlab.store.database import (
    DuplicateRow,
    MissingRow,
    Placed,
    Store,
    already_there,
    no_store,
)
from lanlab.store.encoding import Row
from lanlab.store.place import refuse_network_share
from lanlab.store.rows import Session
from lanlab.store.schema import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    TABLES,
    check_header,
    refuse_foreign_logs,
    refuse_other_version,
)
from lanlab.store.series import Series, SeriesEntry
from lanlab.store.series_files import SeriesFiles
from lanlab.store.shape import MOST_VALUE_BYTES, refuse_other_objects
from lanlab.store.sqlite_errors import BUSY_TIMEOUT_S, CAUSES, explained


@dataclass(frozen=True)
class _Session:
    connection: sqlite3.Connection

    def execute(self, sql: str, **values: object) -> list[Row]:
        try:
            return self.connection.execute(sql, values).fetchall()
        except sqlite3.IntegrityError as error:
            code = error.sqlite_errorcode
            if code in (sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY):
                raise DuplicateRow from error
            if code == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
                raise MissingRow from error
            raise


@dataclass(frozen=True)
class _PlacedFiles:
    entries: Sequence[SeriesEntry]

    def add_to(self, session: Session) -> None:
        """Do nothing: the files are already on disk."""


class SqliteStore(Store):
    """A store in one SQLite file. Nothing is created before the first write."""

    check_references_last = "PRAGMA defer_foreign_keys = ON"

    def __init__(self, path: Path) -> None:
        """
        Raises:
            StoreError: The file is not a store, or has another version; it is not changed.
        """
        # SQLite follows links, so its companion files are next to the target. (For a name that is
        # too long, this is false, and pathlib raises the OSError.)
        if os.path.islink(path):  # noqa: PTH114
            path = Path(os.path.realpath(path))
        self.path = path
        check_header(path)
        self._files = SeriesFiles(path)
        self._connection: sqlite3.Connection | None = None
        self._opened: os.stat_result | None = None

    # Opening

    def _connect(self, options: str) -> sqlite3.Connection:
        """Connect to the existing file; raises `sqlite3.Error` if it is unusable."""
        refuse_foreign_logs(self.path)
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?{options}",
            uri=True,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
        )
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            refuse_other_version(version, self.path)
            # The file may come from any source: run nothing in its schema, and check every cell
            # (https://www.sqlite.org/security.html).
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("PRAGMA mmap_size = 0")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE_BYTES)
            refuse_other_objects(connection, self.path)
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = FULL")
            # Needed on macOS, where a plain fsync leaves data in the disk's cache; no effect
            # elsewhere.
            connection.execute("PRAGMA fullfsync = ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            if not check_header(self.path):
                raise no_store(self.path)
            try:
                self._connection = self._connect("mode=rw")
            except sqlite3.OperationalError:
                # Reading with a log needs files next to the store. If they cannot be created (as
                # on a read-only disk) and there is no log, the store file alone is complete.
                if self._beside("-wal").exists():
                    raise
                self._connection = self._connect(_UNCHANGING)
            self._opened = self.path.stat()
        return self._connection

    def _open_to_write(self) -> sqlite3.Connection:
        if self._connection is None and not check_header(self.path):
            refuse_network_share(self.path)
            self._create()
        return self._open()

    def _create(self) -> None:
        """Write the complete file under another name first, so that readers never see a part."""
        try:
            make_folders(self.path.parent)
        except OSError as error:
            raise StoreError(
                f"{self.path.parent}: cannot create the store's directory: {error.strerror}",
                hint="name a file elsewhere with --store or LANLAB_STORE",
            ) from None
        with lease.acquire(self._beside(".lock"), "the store", patience_s=BUSY_TIMEOUT_S):
            if check_header(self.path):
                return
            unfinished = self._beside(".new")
            for path in (self.path, unfinished):
                refuse_foreign_logs(path)
            with entry(self.path.parent, unfinished.name) as place:
                # A killed process left the existing file, or it is refused.
                if place.facts() is not None:
                    if unfinished.is_symlink() or (check_header(unfinished) and _runs(unfinished)):
                        raise _in_the_way_of_a_store(unfinished)
                    place.remove()
                place.create().close()
                try:
                    self._fill(unfinished)
                    self._name(unfinished)
                    sync_directory(self.path.parent)
                finally:
                    with contextlib.suppress(OSError):
                        place.remove()

    def _fill(self, unfinished: Path) -> None:
        with contextlib.closing(sqlite3.connect(unfinished, isolation_level=None)) as made:
            # Nothing reads the store under this name, and an unfinished file is removed.
            made.execute("PRAGMA synchronous = OFF")
            made.executescript(
                f"BEGIN; {TABLES} PRAGMA application_id = {APPLICATION_ID};"
                f"PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )
            # The last change also writes all earlier ones to disk.
            made.execute("PRAGMA synchronous = FULL")
            made.execute("PRAGMA fullfsync = ON")
            (mode,) = made.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise StoreError(
                f"{self.path}: SQLite cannot keep a write-ahead log there",
                hint="name a file on a local disk with --store or LANLAB_STORE",
            )

    def _name(self, unfinished: Path) -> None:
        """Give the new file its final name. The name is free, or belongs to an empty file, whose
        mode is kept.
        """
        with entry(self.path.parent, self.path.name) as place:
            try:
                # Atomic, and never replaces a file that has appeared meanwhile.
                place.link(unfinished)
            except FileExistsError:
                if check_header(self.path):
                    # A store has appeared meanwhile.
                    return
                unfinished.chmod(stat.S_IMODE(self.path.stat().st_mode))
                place.take(unfinished)
            except OSError:
                # The file system has no hard links.
                place.create().close()
                place.take(unfinished)

    def _beside(self, suffix: str) -> Path:
        return self.path.with_name(self.path.name + suffix)

    # Reading and writing

    @contextmanager
    def reading(self) -> Iterator[Session]:
        with self._errors():
            yield _Session(self._open())

    @contextmanager
    def transaction(self, run_id: str) -> Iterator[Session]:
        with self._errors():
            connection = self._open_to_write()
            self.check_still_there()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield _Session(connection)
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            # SQLite would continue to write to a file that was removed or renamed.
            self.check_still_there()

    def check_still_there(self) -> None:
        try:
            is_same = self._opened is None or os.path.samestat(self._opened, self.path.stat())
        except OSError:
            is_same = False
        if not is_same:
            raise StoreError(
                f"{self.path} was removed or replaced while it was in use",
                hint="put it back with its `-wal` file, if you moved it, and resume the run; "
                "the trial in flight is not kept",
            )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if "decode to UTF-8" in str(error):
                raise self._no_text() from None
            raise explained(error, self.path) from error
        except UnicodeError:
            raise self._no_text() from None

    def _no_text(self) -> StoreError:
        _, hint = CAUSES[sqlite3.SQLITE_CORRUPT]
        return StoreError(f"{self.path} is damaged: a text is not UTF-8", hint=hint)

    @property
    def place(self) -> str:
        return str(self.path)

    def close(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.close()

    # Leases

    def _lease_path(self, run_id: str) -> Path:
        return self._beside(f".{run_id}.lock")

    def acquire(self, run_id: str) -> Lease:
        return lease.acquire(self._lease_path(run_id), f"run `{run_id}`")

    def is_held(self, run_id: str) -> bool:
        return lease.is_held(self._lease_path(run_id))

    # Series

    def tidy(self, run_id: str) -> None:
        # On a case-insensitive file system, ids that differ only in case share a directory.
        sql = "SELECT number, name FROM series WHERE lower(run_id) = lower(:run_id)"
        with self.reading() as session:
            referred = {(number, name) for number, name in session.execute(sql, run_id=run_id)}
        self._files.tidy(run_id, referred)

    def remove_series(self, run_id: str) -> None:
        try:
            self.tidy(run_id)
        except StoreError as error:
            raise StoreError(
                f"run `{run_id}` is deleted, but not its series: {error.message}",
                hint=f"files that lanlab wrote to {self._files.directory / run_id} are no longer "
                "needed",
            ) from error
        self._files.remove_empty_folders(run_id)

    @contextmanager
    def placed(self, run_id: str, number: int, series: Sequence[Series]) -> Iterator[Placed]:
        if series:
            # Create the store before its first file, so that files never exist without a store.
            with self._errors():
                self._open_to_write()
                self.check_still_there()
        entries: list[SeriesEntry] = []
        try:
            for each in series:
                try:
                    entries.append(self._files.write(run_id, number, each))
                except FileExistsError:
                    raise self._in_the_way(run_id, number, each.name) from None
            yield _PlacedFiles(entries)
        except BaseException as error:
            if not _may_be_committed(error):
                with contextlib.suppress(StoreError):
                    kept = self._names(run_id, number)
                    names = [entry.name for entry in entries if entry.name not in kept]
                    self._files.remove(run_id, number, names)
            raise

    def _in_the_way(self, run_id: str, number: int, name: str) -> StoreError:
        if name in self._names(run_id, number):
            return already_there(run_id, number)
        return StoreError(
            f"{self._files.path(run_id, number, name)} was left by an interrupted commit",
            hint=f"it is removed by `lanlab run --resume {run_id}`",
        )

    def _names(self, run_id: str, number: int) -> set[str]:
        sql = "SELECT name FROM series WHERE run_id = :run_id AND number = :number"
        with self.reading() as session:
            return {name for (name,) in session.execute(sql, run_id=run_id, number=number)}

    def octets(
        self, run_id: str, number: int, entry: SeriesEntry
    ) -> AbstractContextManager[IO[bytes]]:
        return self._files.open(run_id, number, entry.name)

    def series_place(self, run_id: str, number: int, name: str) -> str:
        return str(self._files.path(run_id, number, name))


def _runs(unfinished: Path) -> bool:
    """Whether a file contains runs: then it is a user's copy of a store, not an unfinished one."""
    try:
        address = f"{unfinished.absolute().as_uri()}?{_UNCHANGING}"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            return connection.execute("SELECT 1 FROM run").fetchone() is not None
    except sqlite3.Error:
        return False


def _in_the_way_of_a_store(path: Path) -> StoreError:
    return StoreError(
        f"a new store needs the name {path}, which is taken",
        hint="move it away, or name another file with --store",
    )


def _may_be_committed(error: BaseException) -> bool:
    """Whether a transaction that ended with this error may reappear when the log is read again."""
    code = getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF
    return code == sqlite3.SQLITE_IOERR


#: In this mode no process may write to the open file. Whether one did can only be checked
#: afterwards.
_UNCHANGING = "immutable=1"
