"""
Little's law as a check of a measurement upon itself: N = X (R + Z) at every point.

It holds of any closed loop, whatever the server does. Where it does not, operations were lost or
counted twice, stations did something that nobody timed, or were not at work all the time.

J. D. C. Little, "A proof for the queuing formula L = λ W", Operations Research 9, 1961.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lanlab.analysis.attempts import counting
from lanlab.store import Level, TrialRecord

METRIC = "little_ratio"
#: What a trial may be off.
TOLERANCE = 0.01


@dataclass(frozen=True)
class LittleFlag:
    """A trial that does not add up."""

    experiment: str
    factors: dict[str, Level]
    number: int
    #: X (R + Z) / N.
    ratio: float

    @property
    def reason(self) -> str:
        """What it says, in words."""
        percent = 100 * abs(self.ratio - 1)
        if self.ratio < 1:
            return (
                f"stations spent {percent:.2g} % of their time neither in an operation nor thinking"
            )
        return f"operations add up to {percent:.2g} % more time than the stations had"


def little_flags(
    trials: Sequence[TrialRecord], experiments: Sequence[str], *, tolerance: float = TOLERANCE
) -> list[LittleFlag]:
    """
    The trials that are off by more than the tolerance, in order.

    Args:
        trials: Of one run; those that do not count, or have no such number, are passed over.
        experiments: Ids of experiments.
        tolerance: Share that a trial may be off.
    """
    return [
        LittleFlag(
            trial.experiment, dict(trial.factors), trial.number, float(trial.metrics[METRIC])
        )
        for trial in counting(trials)
        if trial.experiment in experiments
        and METRIC in trial.metrics
        and abs(float(trial.metrics[METRIC]) - 1) > tolerance
    ]
