"""The interface of every store, in a file or in a database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Protocol, Self

from lanlab.errors import StoreError
from lanlab.frozen import dataclass
from lanlab.store.labels import RunLabel
from lanlab.store.records import RunRecord, TrialHead, TrialRecord
from lanlab.store.series import Series
from lanlab.trial_data import Summary


class Lease(ABC):
    """The right to execute a run. It ends with `release`, the `with` block, or the process."""

    @abstractmethod
    def release(self) -> None:
        """Release the run for other processes. Calling it again does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def is_executed(what: str) -> StoreError:
    return StoreError(
        f"{what} is still running in another process",
        hint="wait until it ends, or stop it; then resume the run",
    )


@dataclass(frozen=True)
class RunHead:
    """The progress of a run, small enough to be read ten times a second."""

    run_id: str
    #: One of `RUN_STATUSES`.
    status: str
    next_number: int
    label: RunLabel = field(default_factory=RunLabel)


@dataclass(frozen=True)
class Deleted:
    run_id: str
    trials: int
    series: int


class Store(Protocol):
    """
    Durable records of runs and trials. Only a run's status and label can be changed, and only whole
    runs can be removed.

    A store belongs to the thread that opened it. Several processes may have the same store open.
    Every method raises `StoreError` if the store cannot be read or written; such a call stores
    nothing.
    """

    #: `store_option` of the store as it was named.
    option: str

    def start_run(self, run: RunRecord) -> Lease:
        """Add a run and claim it for this process, as `acquire_run` does.

        Raises:
            StoreError: The id is in use.
        """

    def commit_trial(self, trial: TrialRecord, series: Sequence[Series] = ()) -> None:
        """Add a trial with its series. When this returns, all of it is on disk.

        A process that commits several trials holds the run's lease, so that no other process cleans
        up meanwhile.

        Raises:
            StoreError: The trial number is in use, the run does not exist, a number is NaN or
                infinite,
            or this process has lost its lease of the run.
        """

    def finish_run(self, run_id: str, status: str) -> None:
        """Set a run's status (`done`, `interrupted` or `failed`) and its end to now."""

    def reopen_run(self, run_id: str) -> RunRecord:
        """Set a run's status back to `running`, to continue it."""

    def keep_summary(self, run_id: str, summary: Summary) -> None:
        """Store the part of a finished run that lists show, if the store can be written."""

    def label_run(self, run_id: str, label: RunLabel) -> RunRecord:
        """Change only a run's label.

        Raises:
            UsageError: Another run has that name, or the name could be mistaken for an id.
        """

    def delete_run(self, run_id: str) -> Deleted:
        """Remove a run with all its trials and series.

        Raises:
            StoreError: It is executing, or its series cannot be removed.
        """

    def acquire_run(self, run_id: str) -> Lease:
        """Claim a run for this process until the lease is released or the process ends.

        This removes what interrupted commits of the run left.

        Raises:
            StoreError: Another process holds its lease.
        """

    def is_executing(self, run_id: str) -> bool:
        """Whether a process holds the run's lease. If a `running` run has none, it was killed."""

    def run(self, name: str) -> RunRecord:
        """The run whose id is or begins with this text; `last`: the newest.

        Raises:
            UnknownName: No id matches, or several do.
        """

    def runs(self) -> list[RunRecord]:
        """All runs, oldest first."""

    def heads(self) -> list[RunHead]:
        """The progress of every run, oldest first.

        Raises:
            StoreError: As for any method, and if the store was removed or replaced while open.
        """

    def trials(self, run_id: str, first: int = 0, most: int | None = None) -> list[TrialRecord]:
        """Trials of a run, in order of number; thousands come as `outlines`.

        Args:
            first: Only trials with this number or above.
            most: At most this number of trials; `None`: all.
        """

    def count(self, run_id: str) -> int:
        """Number of a run's trials."""

    def outlines(self, run_id: str) -> list[TrialRecord]:
        """All trials of a run, in order of number. Their `raw` is read when used."""

    def trial_heads(self, run_id: str, metrics: Mapping[str, str]) -> list[TrialHead]:
        """All trials of a run, in order of number, with one metric of each experiment.

        Raises:
            StoreError: A trial is malformed, or it is not known whether it was disturbed.
        """

    def series_names(self, run_id: str, number: int) -> tuple[str, ...]:
        """Names of a trial's series."""

    def series(
        self, run_id: str, number: int, names: Sequence[str] | None = None
    ) -> dict[str, Series]:
        """The series of a trial by name: all, or the requested ones.

        Raises:
            StoreError: One is missing or damaged; all others can still be read.
            UnknownName: A requested series does not exist.
            UsageError: The trial does not exist.
        """

    def close(self) -> None:
        """Close the store. Calling it again does nothing."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
