"""What every store offers, whatever it is kept in."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from lanlab.store.lease import Lease
from lanlab.store.records import RunRecord, TrialRecord


class Store(Protocol):
    """
    Durable records of runs and trials. Nothing in it is ever overwritten but a run's status.

    A store belongs to the thread that opened it; several processes may have the same one open.
    Every method raises `StoreError` when the store cannot be read or written; then nothing of
    that call is in it.
    """

    def create_run(self, run: RunRecord) -> None:
        """Add a run.

        Raises:
            StoreError: There is a run of that id.
        """

    def commit_trial(self, trial: TrialRecord) -> None:
        """Add a trial; when this returns, it is on disk.

        Raises:
            StoreError: The run has a trial of that number already, there is no such run, or a
                number is NaN or infinite.
        """

    def finish_run(self, run_id: str, status: str) -> None:
        """Set a run's status (`done`, `interrupted` or `failed`) and its end to now."""

    def reopen_run(self, run_id: str) -> RunRecord:
        """Set a run's status back to `running`, to go on with it."""

    def acquire_run(self, run_id: str) -> Lease:
        """Claim a run for this process until the lease is released or the process ends.

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

    def trials(self, run_id: str) -> list[TrialRecord]:
        """All trials of a run, in order of number."""

    def close(self) -> None:
        """End the use of the store. Calling it again does nothing."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
