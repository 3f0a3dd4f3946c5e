"""What every store offers, in a file or in a database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import field
from types import TracebackType
from typing import Protocol, Self

from lanlab.errors import StoreError
from lanlab.frozen import dataclass
from lanlab.store.labels import RunLabel
from lanlab.store.records import RunRecord, TrialRecord
from lanlab.store.series import AnySeries, Series


class Lease(ABC):
    """The right to execute a run; ended by `release`, by the `with` block, or with the process."""

    @abstractmethod
    def release(self) -> None:
        """Let others have it. Calling it again does nothing."""

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
    """How far a run is: little enough to be read ten times a second."""

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
    Durable records of runs and trials. Nothing in it is ever overwritten but a run's status, and
    nothing is removed but a whole run.

    A store belongs to the thread that opened it; several processes may have the same one open.
    Every method raises `StoreError` when the store cannot be read or written; then nothing of
    that call is in it.
    """

    def create_run(self, run: RunRecord) -> None:
        """Add a run.

        Raises:
            StoreError: There is a run of that id.
        """

    def commit_trial(self, trial: TrialRecord, series: Sequence[AnySeries] = ()) -> None:
        """Add a trial with its series; when this returns, all of it is on disk.

        A process that commits several holds the run's lease, so that no other one tidies up
        meanwhile.

        Raises:
            StoreError: The run has a trial of that number already, there is no such run, a
                number is NaN or infinite, or a lease of the run that was held here was lost.
        """

    def finish_run(self, run_id: str, status: str) -> None:
        """Set a run's status (`done`, `interrupted` or `failed`) and its end to now."""

    def reopen_run(self, run_id: str) -> RunRecord:
        """Set a run's status back to `running`, to go on with it."""

    def label_run(self, run_id: str, label: RunLabel) -> RunRecord:
        """Give a run another label. Its trials and all else of it stay as they are.

        Raises:
            UsageError: Another run has that name, or the name could be taken for an id.
        """

    def delete_run(self, run_id: str) -> Deleted:
        """Remove a run with all its trials and series, and nothing else.

        Raises:
            StoreError: It is being executed, or its series cannot be removed.
        """

    def acquire_run(self, run_id: str) -> Lease:
        """Claim a run for this process until the lease is released or the process ends.

        What interrupted commits of the run have left is removed.

        Raises:
            StoreError: Another lease of it is held.
        """

    def is_executing(self, run_id: str) -> bool:
        """Whether a process holds the run's lease now; a `running` run without is a killed one."""

    def run(self, name: str) -> RunRecord:
        """The run of that id, of that beginning of an id, or for `last` the newest.

        Raises:
            UnknownName: There is none, or there are several of that beginning.
        """

    def runs(self) -> list[RunRecord]:
        """All runs, oldest first."""

    def heads(self) -> list[RunHead]:
        """How far every run is, oldest first.

        Raises:
            StoreError: Also if the store was removed or replaced since it was opened.
        """

    def trials(self, run_id: str, first: int = 0, most: int | None = None) -> list[TrialRecord]:
        """Trials of a run, in order of number.

        Args:
            first: Only trials of this number and above.
            most: At most this number of trials; `None` is all.
        """

    def statuses(self, run_id: str) -> dict[str, int]:
        """How many trials of a run ended with each status; a status that none has is left out."""

    def outlines(self, run_id: str, *, with_metrics: bool = False) -> list[TrialRecord]:
        """All trials of a run, in order of number, without most of `raw`: enough to say where
        each stands and how it ended, and read much faster.

        Args:
            with_metrics: Whether they have their `metrics`, and of `raw` what disturbed them,
                which decides whether they count; else both are empty.
        """

    def series_names(self, run_id: str, number: int) -> tuple[str, ...]:
        """Names of a trial's series."""

    def series(
        self, run_id: str, number: int, names: Sequence[str] | None = None
    ) -> dict[str, Series]:
        """The series of a trial by name: all, or those that are asked for.

        Those of trials that older versions kept within the record are given alike.

        Raises:
            StoreError: One is missing or damaged; all else can be read without it.
            UnknownName: There is no series of a name that was asked for.
            UsageError: There is no such trial.
        """

    def close(self) -> None:
        """End the use of the store. Calling it again does nothing."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
