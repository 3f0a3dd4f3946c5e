"""The table of workloads, and their interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from lanlab.errors import of_name
from lanlab.frozen import dataclass
from lanlab.lazily import instances
from lanlab.trial_data import RoleResult, SimulatedWork, World
from lanlab.workloads.outcome import CounterChanges, TrialOutcome

if TYPE_CHECKING:
    from lanlab.workloads.metrics import Metric
    from lanlab.workloads.parameters import TrialParameters
    from lanlab.workloads.steps import Steps

P = TypeVar("P", bound="TrialParameters", contravariant=True)


class Workload(Protocol[P]):
    #: The workload's name in study files.
    name: str
    #: Names of the two roles of a trial; the first one initiates.
    roles: tuple[str, str]
    #: Validates the parameters of a condition; its field names are the allowed keys.
    Parameters: type[TrialParameters]
    #: The results of a trial that a table may show, by key.
    metrics: Mapping[str, Metric]
    #: Metrics of a table of several conditions; the first decides which is best.
    scan_metrics: tuple[str, ...]
    #: The unit that a live line counts, in words; empty if the rate is enough.
    counted: str
    #: Whether the series of a trial are written without a library.
    has_short_series: bool
    #: Whether only one end counts, and its error or result says how far a failed trial came.
    has_one_count: bool

    def expected_time_s(self, parameters: P) -> float:
        """The shortest time in which a trial with these parameters can end, seconds."""

    def carried_bits(self, parameters: P) -> float:
        """Approximate bits that must cross the testbed's link before the trial ends; zero for a
        trial of fixed duration.
        """

    def steps(self, parameters: P) -> Steps:
        """The steps of one trial."""

    def summarise(
        self, parameters: P, outcome: TrialOutcome, changes: CounterChanges
    ) -> dict[str, float | int]:
        """A trial's results from the reports of both roles of a finished trial, and the link."""


#: A workload whose parameters come from a table.
AnyWorkload = Workload[Any]


@dataclass(frozen=True)
class Habits:
    """How the program of a simulated client sends requests, and waits for replies."""

    #: Requests in flight in an `echo` whose condition does not set them.
    outstanding_requests: int = 1
    #: How stations wait and retry, in place of the workload's rules.
    patience_ns: int | None = None
    retries: int | None = None
    #: Whether stations keep waiting for a late call, and count an error each time.
    waits_on: bool = False


@runtime_checkable
class Simulates(Protocol[P]):
    def simulated_work(self, parameters: P, habits: Habits) -> SimulatedWork:
        """
        The request to a simulator; see `SimulatedWork` in the engine's messages.

        Raises:
            UsageError: The condition cannot be simulated.
        """

    def simulated_results(self, parameters: P, result: World) -> dict[str, RoleResult]:
        """Each role's outcome, from a simulator's result."""


_NAMES = ("stream", "echo", "load", "copy", "stations", "metadata")
WORKLOADS: Mapping[str, AnyWorkload] = instances("lanlab.workloads", _NAMES, ".workload")


def workload(name: str) -> AnyWorkload:
    """The workload of that name.

    Raises:
        UnknownName: There is none.
    """
    return of_name("workload", name, WORKLOADS)
