"""The interface of performers, which run trials, and the input of those that simulate."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from lanlab.addresses import AddressFamily
from lanlab.frozen import dataclass
from lanlab.messages import SimulatedMachine
from lanlab.performers.engine_host import EngineHost
from lanlab.workloads import CounterChanges, Progress, TrialOutcome, Workload
from lanlab.workloads.registry import Habits, P

OnProgress = Callable[[Progress], None]
#: Returns the hosts of a trial, in the order of the workload's roles.
HostsOf = Callable[[AddressFamily], list[EngineHost]]


@dataclass(frozen=True)
class SimulatedTrial:
    """The input of a simulator in addition to the parameters of a trial."""

    names: Sequence[str]
    machines: Sequence[SimulatedMachine]
    #: In the form of `lanlab.testbeds.link.parse_link`.
    link: str
    seed: int
    habits: Habits = Habits()
    pcap: Path | None = None


def trial_seed(
    run_seed: int, experiment: str, factors: Mapping[str, object], purpose: str, block: int
) -> int:
    """
    The seed of a simulated trial: different for each condition and block, and reproducible when a
    run is continued or repeated.

    Examples:
        >>> one = trial_seed(1, "e", {"size": 2}, "trial", 0)
        >>> one == trial_seed(1, "e", {"size": 2}, "trial", 0)
        True
        >>> one == trial_seed(1, "e", {"size": 2}, "trial", 1)
        False
    """
    text = json.dumps([run_seed, experiment, sorted(factors.items()), purpose, block])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


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
