"""What every store returns, in a file or in a database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field
from typing import Self

from lanlab.errors import StoreError
from lanlab.frozen import dataclass
from lanlab.store.labels import RunLabel


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
