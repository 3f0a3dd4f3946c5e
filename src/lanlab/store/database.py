"""
The common part of the SQLite and PostgreSQL stores. Each adds what differs: connecting, locking,
transactions, and where series are kept.
"""

from __future__ import annotations

import contextlib
import dataclasses
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import IO, ClassVar, Protocol

from lanlab.closing import Closing
from lanlab.errors import StoreError, UnknownName, UsageError
from lanlab.store import parquet, rows
from lanlab.store.base import Deleted, Lease, RunHead
from lanlab.store.encoding import Row, to_json, utc_now
from lanlab.store.labels import RunLabel, check_name, id_among, id_of_name
from lanlab.store.large_runs import Digests, digest_of
from lanlab.store.records import RUN_STATUSES, RunRecord, TrialHead, TrialRecord
from lanlab.store.rows import ENTRY_COLUMNS, RUN_COLUMNS, TRIAL_COLUMNS, Session, insert, select
from lanlab.store.series import Series, SeriesEntry
from lanlab.trial_data import Summary

#: One row per run, even without trials.
_HEADS = (
    "SELECT id, status, label, (SELECT max(number) FROM trial WHERE run_id = run.id) "
    "FROM run ORDER BY sequence"
)
_COUNT = "SELECT count(*) FROM trial WHERE run_id = :run_id"
_ALL = 2**62
#: From this number of trials, runs are read as outlines.
MANY_TRIALS = 2000
OUTLINES_AT_ONCE = 2048


class DuplicateRow(Exception):
    """A row with this key exists already."""


class MissingRow(Exception):
    """The row that a key refers to does not exist."""


class Placed(Protocol):
    @property
    def entries(self) -> Sequence[SeriesEntry]: ...

    def add_to(self, session: Session) -> None:
        """Store the series themselves in the trial's transaction, if they belong in it."""


class Store(Closing):
    """
    Durable records of runs and trials. Only a run's status and label can be changed, and only whole
    runs can be removed.

    A store belongs to the thread that opened it. Several processes may have the same store open.
    Every method raises `StoreError` if the store cannot be read or written; such a call stores
    nothing.
    """

    #: `store_option` of the store as it was named.
    option = ""
    check_references_last: ClassVar[str]
    #: The tables with rows of a run, except `run`. Tables that refer to others come before those.
    tables_of_runs: ClassVar[tuple[str, ...]] = ("series", "digest", "trial")

    # What the stores differ in

    @abstractmethod
    def reading(self) -> AbstractContextManager[Session]:
        """A connection to read from. Driver errors become `StoreError`."""

    @abstractmethod
    def transaction(self, run_id: str) -> AbstractContextManager[Session]:
        """
        One durable transaction: at the end of the block either all of it is kept, or nothing.

        Raises:
            DuplicateRow, MissingRow: From `execute` within the block.
            StoreError: Any other error, including a lost lease of the run.
        """

    @abstractmethod
    def check_still_there(self) -> None:
        """
        Raises:
            StoreError: The store's name now refers to something else.
        """

    @abstractmethod
    def acquire(self, run_id: str) -> Lease:
        """See `Store.acquire_run`."""

    @abstractmethod
    def is_held(self, run_id: str) -> bool:
        """See `Store.is_executing`."""

    @abstractmethod
    def tidy(self, run_id: str) -> None:
        """Remove what interrupted commits of a run left. The caller holds its lease."""

    @abstractmethod
    def placed(
        self, run_id: str, number: int, series: Sequence[Series]
    ) -> AbstractContextManager[Placed]:
        """Store a trial's series, except what needs a row; remove them on an error."""

    @abstractmethod
    def octets(
        self, run_id: str, number: int, entry: SeriesEntry
    ) -> AbstractContextManager[IO[bytes]]:
        """The Parquet file of a series, not yet checked, positioned at its start."""

    @abstractmethod
    def series_place(self, run_id: str, number: int, name: str) -> str:
        """Location of a series, for error messages."""

    @property
    @abstractmethod
    def place(self) -> str:
        """Location of the records, for error messages."""

    @abstractmethod
    def remove_series(self, run_id: str) -> None:
        """Remove the files of a run whose rows have been removed."""

    @contextmanager
    def _read_here(self) -> Iterator[None]:
        try:
            yield
        except StoreError as error:
            raise StoreError(
                f"{self.place} is damaged, or not written by lanlab: {error.message}",
                hint="restore a backup, or name another store with --store",
            ) from None

    # Writing

    def start_run(self, run: RunRecord) -> Lease:
        """
        Add a run and claim it for this process, as `acquire_run` does.

        Raises:
            StoreError: The id is in use.
        """
        rows.check_run(run)
        row = rows.to_row(run)
        with contextlib.ExitStack() as unless_stored:
            with self.transaction(run.id) as session:
                # Before anyone can read the run: without a lease it looks killed.
                lease = unless_stored.enter_context(self.acquire(run.id))
                try:
                    session.execute(insert("run", RUN_COLUMNS), **row)
                except DuplicateRow:
                    raise StoreError(
                        f"run `{run.id}` already exists; nothing was overwritten"
                    ) from None
            unless_stored.pop_all()
        return lease

    def commit_trial(self, trial: TrialRecord, series: Sequence[Series] = ()) -> None:
        """
        Add a trial with its series. When this returns, all of it is on disk.

        A process that commits several trials holds the run's lease, so that no other process cleans
        up meanwhile.

        Raises:
            StoreError: The trial number is in use, the run does not exist, a number is NaN or
                infinite, or this process has lost its lease of the run.
        """
        rows.check_trial(trial)
        row = rows.to_row(trial)
        names = [each.name for each in series]
        if len(set(names)) < len(names):
            raise StoreError(
                f"trial {trial.number} has two series with the same name: {', '.join(names)}"
            )
        with (
            self.placed(trial.run_id, trial.number, series) as placed,
            self.transaction(trial.run_id) as session,
        ):
            try:
                session.execute(insert("trial", TRIAL_COLUMNS), **row)
            except DuplicateRow:
                raise already_there(trial.run_id, trial.number) from None
            except MissingRow:
                raise StoreError(
                    f"cannot add a trial to the unknown run `{trial.run_id}`"
                ) from None
            if (parts := digest_of(trial.raw)) is not None:
                session.execute(
                    insert("digest", ("run_id", "number", "is_disturbed", "parts")),
                    run_id=trial.run_id,
                    number=trial.number,
                    is_disturbed=int(trial.is_disturbed),
                    parts=parts,
                )
            for entry in placed.entries:
                session.execute(
                    insert("series", ("run_id", "number", *ENTRY_COLUMNS)),
                    run_id=trial.run_id,
                    number=trial.number,
                    **dataclasses.asdict(entry),
                )
            placed.add_to(session)

    def finish_run(self, run_id: str, status: str) -> None:
        """Set a run's status (`done`, `interrupted` or `failed`) and its end to now."""
        self._set_status(run_id, status, utc_now())

    def reopen_run(self, run_id: str) -> RunRecord:
        """Set a run's status back to `running`, to continue it."""
        run = self.run(run_id)
        self._set_status(run.id, "running", None)
        return dataclasses.replace(run, status="running", ended_at=None, summary=None)

    def keep_summary(self, run_id: str, summary: Summary) -> None:
        """Store the part of a finished run that lists show, if the store can be written."""
        with contextlib.suppress(StoreError), self.transaction(run_id) as session:
            session.execute(
                "UPDATE run SET summary = :summary WHERE id = :id AND status <> 'running' "
                "AND (SELECT count(*) FROM trial WHERE run_id = :id) = :trials",
                summary=to_json(summary, "summary"),
                trials=summary["trials"],
                id=run_id,
            )

    def _set_status(self, run_id: str, status: str, ended_at: str | None) -> None:
        rows.check_one_of("a run's status", status, RUN_STATUSES)
        run = self.run(run_id)
        with self.transaction(run.id) as session:
            session.execute(
                "UPDATE run SET status = :status, ended_at = :ended_at, summary = NULL "
                "WHERE id = :id",
                status=status,
                ended_at=ended_at,
                id=run.id,
            )

    def label_run(self, run_id: str, label: RunLabel) -> RunRecord:
        """
        Change only a run's label.

        Raises:
            UsageError: Another run has that name, or the name could be mistaken for an id.
        """
        run = self.run(run_id)
        every = self.runs()
        if label.name is not None:
            check_name(label.name, run.id, every)
        data = label.to_json()
        with self.transaction(run.id) as session:
            session.execute(
                "UPDATE run SET label = :label WHERE id = :id",
                label=None if data is None else to_json(data, "label"),
                id=run.id,
            )
        return dataclasses.replace(run, label=data)

    def delete_run(self, run_id: str) -> Deleted:
        """
        Remove a run with all its trials and series.

        Raises:
            StoreError: It is executing, or its series cannot be removed.
        """
        run = self.run(run_id)
        counts = {}
        with self.acquire_run(run.id):
            with self.transaction(run.id) as session:
                for table in ("trial", "series"):
                    sql = f"SELECT count(*) FROM {table} WHERE run_id = :run_id"
                    ((counts[table],),) = session.execute(sql, run_id=run.id)
                # Delete the run first, because triggers protect its other rows while it exists.
                session.execute(self.check_references_last)
                session.execute("DELETE FROM run WHERE id = :id", id=run.id)
                for table in self.tables_of_runs:
                    session.execute(f"DELETE FROM {table} WHERE run_id = :run_id", run_id=run.id)
            self.remove_series(run.id)
        return Deleted(run.id, counts["trial"], counts["series"])

    # Leases

    def acquire_run(self, run_id: str) -> Lease:
        """
        Claim a run for this process until the lease is released or the process ends.

        This removes what interrupted commits of the run left.

        Raises:
            StoreError: Another process holds its lease.
        """
        run = self.run(run_id)
        lease = self.acquire(run.id)
        try:
            self.tidy(run.id)
        except BaseException:
            lease.release()
            raise
        return lease

    def is_executing(self, run_id: str) -> bool:
        """Whether a process holds the run's lease. If a `running` run has none, it was killed."""
        return self.is_held(self.run(run_id).id)

    # Reading

    def run(self, name: str) -> RunRecord:
        """
        The run whose id is or begins with this text; `last`: the newest.

        Raises:
            UnknownName: No id matches, or several do.
        """
        # Only the command line uses names other than ids, which need one query. Text that a
        # database cannot store is not an id.
        run_id = name
        found = self._rows_of(name) if name.isascii() and name.isprintable() else []
        if not found:
            with self.reading() as session:
                known = session.execute("SELECT id, label FROM run ORDER BY sequence")
            ids = [str(run_id) for run_id, _ in known]
            run_id = id_of_name(name, known) or id_among(name, ids)
            found = self._rows_of(run_id)
        with self._read_here():
            if not found:
                raise StoreError(f"run `{run_id}` is in the index but not in the table")
            return rows.to_run(found[0])

    def _rows_of(self, run_id: str) -> list[Row]:
        with self.reading() as session:
            return session.execute(f"{select('run', RUN_COLUMNS)} WHERE id = :id", id=run_id)

    def runs(self) -> list[RunRecord]:
        """All runs, oldest first."""
        with self.reading() as session:
            found = session.execute(f"{select('run', RUN_COLUMNS)} ORDER BY sequence")
        with self._read_here():
            return [rows.to_run(row) for row in found]

    def heads(self) -> list[RunHead]:
        """
        The progress of every run, oldest first.

        Raises:
            StoreError: As for any method, and if the store was removed or replaced while open.
        """
        self.check_still_there()
        with self.reading() as session:
            found = session.execute(_HEADS)
        return [rows.to_head(*row) for row in found]

    def trials(self, run_id: str, first: int = 0, most: int | None = None) -> list[TrialRecord]:
        """
        Trials of a run, in order of number; thousands come as `outlines`.

        Args:
            first: Only trials with this number or above.
            most: At most this number of trials; `None`: all.
        """
        run = self.run(run_id)
        if first == 0 and most is None and self.count(run.id) >= MANY_TRIALS:
            return self.outlines(run.id)
        sql = (
            f"{select('trial', TRIAL_COLUMNS)} WHERE run_id = :run_id AND number >= :first "
            f"ORDER BY number LIMIT {_ALL if most is None else most:d}"
        )
        with self.reading() as session:
            found = session.execute(sql, run_id=run.id, first=first)
        with self._read_here():
            return [rows.to_trial(row) for row in found]

    def count(self, run_id: str) -> int:
        """Number of a run's trials."""
        with self.reading() as session:
            ((count,),) = session.execute(_COUNT, run_id=self.run(run_id).id)
        return int(count)

    def outlines(self, run_id: str) -> list[TrialRecord]:
        """All trials of a run, in order of number. Their `raw` is read when used."""
        run = self.run(run_id)
        digests = Digests(
            partial(self._digests, run.id), lambda number: self._trial(run.id, number).raw
        )
        trials: list[TrialRecord] = []
        first = 0
        while True:
            with self.reading() as session:
                found = session.execute(
                    rows.OUTLINES, run_id=run.id, first=first, most=OUTLINES_AT_ONCE
                )
            if not found:
                return trials
            with self._read_here():
                trials += rows.to_outlines(found, digests)
            first = trials[-1].number + 1

    def trial_heads(self, run_id: str, metrics: Mapping[str, str]) -> list[TrialHead]:
        """
        All trials of a run, in order of number, with one metric of each experiment.

        Raises:
            StoreError: A trial is malformed, or it is not known whether it was disturbed.
        """
        run = self.run(run_id)
        sql, values = rows.head_query(metrics)
        with self.reading() as session:
            found = session.execute(sql, run_id=run.id, **values)
        with self._read_here():
            return rows.to_trial_heads(found, metrics)

    def _digests(self, run_id: str, first: int, count: int) -> dict[int, str]:
        with self.reading() as session:
            found = session.execute(rows.DIGESTS, run_id=run_id, first=first, end=first + count)
        return {number: str(parts) for number, parts in found}

    def series(
        self, run_id: str, number: int, names: Sequence[str] | None = None
    ) -> dict[str, Series]:
        """
        The series of a trial by name: all, or the requested ones.

        Raises:
            StoreError: One is missing or damaged; all others can still be read.
            UnknownName: A requested series does not exist.
            UsageError: The trial does not exist.
        """
        run = self.run(run_id)
        entries = {entry.name: entry for entry in self._entries(run.id, number)}
        wanted = list(entries) if names is None else list(names)
        for name in wanted:
            if name not in entries:
                raise UnknownName("series", name, list(entries))
        return {name: self._read(run.id, number, entries[name]) for name in wanted}

    def series_names(self, run_id: str, number: int) -> tuple[str, ...]:
        """Names of a trial's series."""
        run = self.run(run_id)
        return tuple(entry.name for entry in self._entries(run.id, number))

    def _entries(self, run_id: str, number: int) -> list[SeriesEntry]:
        sql = f"{select('series', ENTRY_COLUMNS)} WHERE run_id = :run_id AND number = :number"
        with self.reading() as session:
            found = session.execute(f"{sql} ORDER BY name", run_id=run_id, number=number)
        return [SeriesEntry(*row) for row in found]

    def _trial(self, run_id: str, number: int) -> TrialRecord:
        sql = f"{select('trial', TRIAL_COLUMNS)} WHERE run_id = :run_id AND number = :number"
        with self.reading() as session:
            found = session.execute(sql, run_id=run_id, number=number)
        if not found:
            raise UsageError(f"run `{run_id}` has no trial {number}")
        with self._read_here():
            return rows.to_trial(found[0])

    def _read(self, run_id: str, number: int, entry: SeriesEntry) -> Series:
        what = self.series_place(run_id, number, entry.name)
        with self.octets(run_id, number, entry) as file:
            parquet.check(file, entry, what)
            return parquet.read(file, what)


def no_store(place: object) -> StoreError:
    return StoreError(
        f"no results yet: {place} does not exist",
        hint="measure first, e.g. with `lanlab stream` or `lanlab run STUDY`, or name another "
        "store with --store",
    )


def already_there(run_id: str, number: int) -> StoreError:
    return StoreError(f"run `{run_id}` already has a trial {number}; nothing was overwritten")
