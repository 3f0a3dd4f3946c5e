"""The interface of performers, which run trials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from lanlab.addresses import AddressFamily
from lanlab.performers.engine_host import EngineHost
from lanlab.workloads import CounterChanges, Progress, TrialOutcome, Workload
from lanlab.workloads.registry import P

OnProgress = Callable[[Progress], None]


class HasHosts(Protocol):
    """The hosts of a trial, in the order of the workload's roles."""

    def engine_hosts(self, family: AddressFamily) -> list[EngineHost]:
        """The hosts with their addresses of that family."""


class Performer(Protocol):
    """Runs a trial: by engines, by another program, or by simulation."""

    def perform(
        self, kind: Workload[P], parameters: P, on_progress: OnProgress | None
    ) -> TrialOutcome:
        """
        Run one trial.

        Args:
            kind: Its workload.
            parameters: Parameters of its condition.
            on_progress: Called a few times a second, maybe from another thread.

        Returns:
            The outcome. If something fails, it has an `error`.
        """

    def metrics(
        self, kind: Workload[P], parameters: P, outcome: TrialOutcome, changes: CounterChanges
    ) -> dict[str, float | int]:
        """
        The results of a successful trial, by the keys of `kind.metrics`.

        Args:
            changes: Changes of the counters of the testbed's interfaces.
        """
