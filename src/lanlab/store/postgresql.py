"""
The store in a PostgreSQL database, for several users who share their results.

All tables are in one schema, `lanlab` or the URL's `?schema=`; nothing else in the database is
changed. A trial with its series is one transaction, which the server acknowledges when it is on
disk. A lease is an advisory lock of its own session; the server releases the lock at the end of
that session. A transaction of a leased run first checks that the server still holds the lease.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import field
from typing import IO

from lanlab.errors import StoreError, system_hint
from lanlab.frozen import dataclass
from lanlab.store import parquet
from lanlab.store.base import Lease, is_executed
from lanlab.store.database import Placed, Store, no_store
from lanlab.store.encoding import Row
from lanlab.store.postgresql_session import PostgresqlSession, check_driver
from lanlab.store.postgresql_url import Target
from lanlab.store.rows import Session
from lanlab.store.schema import APPLICATION_ID, SCHEMA_VERSION, refuse_other_version, sql, tables
from lanlab.store.series import Series, SeriesEntry

_LEASE_PATIENCE_S = 1.0
#: Interval between attempts to get a lease: short compared with the patience, and long enough not
#: to load the server.
_LEASE_RETRY_S = 0.05
#: Smaller series are not written to a temporary file.
_IN_MEMORY_BYTES = 8 * parquet.CHUNK_BYTES

#: All in one schema: the tables of store files of this version (`schema.py`), and two more. JSON
#: columns have the type `json`, not `jsonb`, because it keeps the text as written, including
#: numbers. Queries still work (`metrics ->> 'goodput_bps'`).
TABLES = (
    tables(
        sequence="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        json="JSON",
        whole="BIGINT",
        real="DOUBLE PRECISION",
    )
    + sql("postgresql")
    + "".join(
        f"""CREATE TRIGGER {table}_is_never_changed BEFORE UPDATE ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a {what} is never changed');
CREATE TRIGGER {table}_is_never_emptied BEFORE TRUNCATE ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a {what} is never emptied');
CREATE TRIGGER {table}_is_never_removed BEFORE DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION refuse_removal('a {what} is never removed');
"""
        for table, what in (
            ("trial", "trial"),
            ("series", "series"),
            ("series_part", "series"),
            ("digest", "digest"),
        )
    )
)

_HELD = """
SELECT count(*) FROM pg_catalog.pg_locks
WHERE locktype = 'advisory' AND granted AND objsubid = 1
AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
AND (classid::bigint << 32) | objid::bigint = :key
"""


class PostgresqlLease(Lease):
    def __init__(self, session: PostgresqlSession, process_id: int) -> None:
        self._session = session
        self.process_id = process_id
        self.is_released = False

    def release(self) -> None:
        self.is_released = True
        # Release the lock explicitly, because the server notices the end of a session only later.
        # If the server is gone, so is the lock.
        with suppress(StoreError):
            self._session.execute("SELECT pg_catalog.pg_advisory_unlock_all()")
        self._session.close()


@dataclass(frozen=True)
class ServerFacts:
    version: str
    is_encrypted: bool
    keeps_what_it_acknowledges: bool
    has_tables: bool


@dataclasses.dataclass
class _PlacedParts:
    run_id: str
    number: int
    entries: list[SeriesEntry] = field(default_factory=list)
    files: list[IO[bytes]] = field(default_factory=list)

    def add_to(self, session: Session) -> None:
        for entry, file in zip(self.entries, self.files, strict=True):
            file.seek(0)
            chunks = iter(functools.partial(file.read, parquet.CHUNK_BYTES), b"")
            for part, octets in enumerate(chunks):
                session.execute(
                    "INSERT INTO series_part (run_id, number, name, part, octets) "
                    "VALUES (:run_id, :number, :name, :part, :octets)",
                    run_id=self.run_id,
                    number=self.number,
                    name=entry.name,
                    part=part,
                    octets=octets,
                )


class PostgresqlStore(Store):
    """A store in PostgreSQL. Nothing is created before the first write."""

    check_references_last = "SET CONSTRAINTS ALL DEFERRED"
    tables_of_runs = ("series_part", "series", "digest", "trial")

    def __init__(self, target: Target) -> None:
        """
        Raises:
            UnmetNeed: The driver is not installed.
        """
        check_driver()
        self.target = target
        self._session: PostgresqlSession | None = None
        self._leases: dict[str, PostgresqlLease] = {}

    @property
    def place(self) -> str:
        return str(self.target)

    # Opening

    def _open(self) -> PostgresqlSession:
        if self._session is None or self._session.is_lost:
            session = PostgresqlSession(self.target)
            try:
                if not self._has_tables(session):
                    raise no_store(self.target)
            except BaseException:
                session.close()
                raise
            self._session = session
        return self._session

    def _open_to_write(self) -> PostgresqlSession:
        if self._session is None or self._session.is_lost:
            with closing(PostgresqlSession(self.target)) as session:
                if not self._has_tables(session):
                    self._create(session)
        return self._open()

    def _has_tables(self, session: PostgresqlSession) -> bool:
        """
        Raises:
            StoreError: The schema is not lanlab's, or has another version.
        """
        tables = {
            name
            for (name,) in session.execute(
                "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n "
                "ON n.oid = c.relnamespace WHERE n.nspname = :schema",
                schema=self.target.schema,
            )
        }
        if not tables:
            return False
        columns = {
            (table, column)
            for table, column in session.execute(
                "SELECT c.relname, a.attname FROM pg_catalog.pg_attribute a "
                "JOIN pg_catalog.pg_class c ON c.oid = a.attrelid "
                "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
                "WHERE n.nspname = :schema",
                schema=self.target.schema,
            )
        }
        found: list[Row] = []
        if {("store", "application_id"), ("store", "schema_version")} <= columns:
            found = session.execute("SELECT * FROM store")
        if len(found) != 1 or found[0][0] != APPLICATION_ID:
            raise StoreError(
                f"{self.target}: the schema `{self.target.schema}` of this database is of "
                "another program",
                hint="name another schema with `?schema=` in the URL; this one was not touched",
            )
        refuse_other_version(found[0][1], self.target)
        return True

    def _create(self, session: PostgresqlSession) -> None:
        key = _key(f"{self.target.schema}\0tables")
        try:
            session.script("BEGIN")
            session.execute("SELECT pg_catalog.pg_advisory_xact_lock(:key)", key=key)
            # Another process may have created the tables first.
            if not self._has_tables(session):
                known = session.execute(
                    "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = :schema",
                    schema=self.target.schema,
                )
                if not known:
                    session.script(f'CREATE SCHEMA "{self.target.schema}"')
                session.script(TABLES)
                session.execute(
                    "INSERT INTO store VALUES (:id, :version)",
                    id=APPLICATION_ID,
                    version=SCHEMA_VERSION,
                )
            session.script("COMMIT")
        except BaseException:
            # The session is no longer needed, and closing it rolls back.
            session.abandon()
            raise

    # Reading and writing

    @contextmanager
    def reading(self) -> Iterator[Session]:
        yield self._open()

    @contextmanager
    def transaction(self, run_id: str) -> Iterator[Session]:
        session = self._open_to_write()
        try:
            session.script("BEGIN")
            self._check_lease(session, run_id)
            yield session
            session.script("COMMIT")
        except Exception:
            if not session.is_lost:
                session.script("ROLLBACK")
            raise
        except BaseException:
            # Ctrl-C may have arrived between a query and its answer, so the session is unusable.
            session.abandon()
            raise

    def describe(self) -> ServerFacts:
        with closing(PostgresqlSession(self.target)) as session:
            version, fsync = session.execute(
                "SELECT current_setting('server_version'), current_setting('fsync')"
            )[0]
            tls = session.execute(
                "SELECT ssl FROM pg_catalog.pg_stat_ssl WHERE pid = pg_catalog.pg_backend_pid()"
            )
            has_tables = self._has_tables(session)
            return ServerFacts(version, tls == [[True]], fsync == "on", has_tables)

    def close(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            session.close()

    # Leases

    def acquire(self, run_id: str) -> Lease:
        key = self._lease_key(run_id)
        deadline = time.monotonic() + _LEASE_PATIENCE_S
        session = PostgresqlSession(self.target)
        try:
            while True:
                is_ours, process_id = session.execute(
                    "SELECT pg_catalog.pg_try_advisory_lock(:key), pg_catalog.pg_backend_pid()",
                    key=key,
                )[0]
                if is_ours:
                    break
                if time.monotonic() >= deadline:
                    raise is_executed(f"run `{run_id}`")
                time.sleep(_LEASE_RETRY_S)
        except BaseException:
            session.close()
            raise
        lease = PostgresqlLease(session, process_id)
        self._leases[run_id] = lease
        return lease

    def check_still_there(self) -> None:
        """Do nothing: a lost connection causes an error anyway."""

    def is_held(self, run_id: str) -> bool:
        (count,) = self._open().execute(_HELD, key=self._lease_key(run_id))[0]
        return bool(count)

    def _lease_key(self, run_id: str) -> int:
        return _key(f"{self.target.schema}\0run\0{run_id}")

    def _check_lease(self, session: PostgresqlSession, run_id: str) -> None:
        lease = self._leases.get(run_id)
        if lease is None:
            return
        if lease.is_released:
            del self._leases[run_id]
            return
        (count,) = session.execute(
            f"{_HELD} AND pid = :process_id",
            key=self._lease_key(run_id),
            process_id=lease.process_id,
        )[0]
        if not count:
            raise StoreError(
                f"{self.target}: run `{run_id}` lost its lease: its session has ended, and "
                "another process may be executing the run",
                hint="check `lanlab runs` and the server's log; then continue with `lanlab run "
                f"--resume {run_id}`",
            )

    # Series

    def tidy(self, run_id: str) -> None:
        """Do nothing: series are part of the transaction, so nothing can be left."""

    def remove_series(self, run_id: str) -> None:
        """Do nothing: all series are in rows."""

    @contextmanager
    def placed(self, run_id: str, number: int, series: Sequence[Series]) -> Iterator[Placed]:
        placed = _PlacedParts(run_id, number)
        about = {"run": run_id, "trial": str(number)}
        with ExitStack() as stack:
            for each in series:
                file = stack.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES))
                try:
                    placed.entries.append(parquet.write(each, file, about))
                except OSError as error:
                    raise StoreError(
                        f"series `{each.name}` cannot be written to a temporary file: "
                        f"{error.strerror or error}",
                        hint=system_hint(error, "name another folder with TMPDIR"),
                    ) from error
                placed.files.append(file)
            yield placed

    @contextmanager
    def octets(self, run_id: str, number: int, entry: SeriesEntry) -> Iterator[IO[bytes]]:
        session = self._open()
        with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES) as file:
            part = 0
            while found := session.execute(
                "SELECT octets FROM series_part "
                "WHERE run_id = :run_id AND number = :number AND name = :name AND part = :part",
                run_id=run_id,
                number=number,
                name=entry.name,
                part=part,
            ):
                file.write(found[0][0])
                part += 1
            file.seek(0)
            yield file

    def series_place(self, run_id: str, number: int, name: str) -> str:
        return f"{self.target}: series `{name}` of trial {number} of run `{run_id}`"


def _key(text: str) -> int:
    """The key of an advisory lock for a name: a signed 64-bit number."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)
