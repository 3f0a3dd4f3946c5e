"""What a simulator is given of a trial, and the seed of its world."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lanlab.frozen import dataclass


@dataclass(frozen=True)
class SimulatedTrial:
    """What a simulator is given in addition to the parameters of a trial."""

    names: Sequence[str]
    machines: Sequence[Mapping[str, Any]]
    #: As `lanlab.testbeds.link.parse_link` reads it.
    link: str
    seed: int
    #: Requests on their way in an `echo` whose condition does not say how many.
    outstanding_requests: int = 1
    #: How its stations wait and try again, in place of what the workload says.
    patience_ns: int | None = None
    retries: int | None = None
    #: Whether they go on waiting for a call that was late, and count an error each time.
    waits_on: bool = False
    pcap: Path | None = None


def trial_seed(
    run_seed: int, experiment: str, factors: Mapping[str, Any], purpose: str, block: int
) -> int:
    """
    The seed of a simulated trial: another for each condition and block, and the same for the same
    trial of a run that is continued or repeated.

    Examples:
        >>> one = trial_seed(1, "e", {"size": 2}, "trial", 0)
        >>> one == trial_seed(1, "e", {"size": 2}, "trial", 0)
        True
        >>> one == trial_seed(1, "e", {"size": 2}, "trial", 1)
        False
    """
    text = json.dumps([run_seed, experiment, sorted(factors.items()), purpose, block])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
