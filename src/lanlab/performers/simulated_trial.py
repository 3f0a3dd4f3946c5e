"""The input of a simulator for a trial, and the seed of its world."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from lanlab.frozen import dataclass
from lanlab.messages import SimulatedMachine
from lanlab.workloads.registry import Habits


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
