"""The results at each number of stations: the curve that this package analyses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np

from lanlab.analysis.trials.attempts import counting
from lanlab.errors import UnfitValues
from lanlab.frozen import dataclass
from lanlab.store import Level, TrialRecord

STATIONS = "stations"


@dataclass(frozen=True)
class StationLevel:
    stations: int
    #: One per trial, above zero: operations per second of all stations, and the mean response time,
    #: seconds.
    operations_per_s: tuple[float, ...]
    response_s: tuple[float, ...]

    @property
    def trials(self) -> int:
        return len(self.response_s)

    @property
    def throughput(self) -> float:
        return math.exp(float(np.mean(np.log(self.operations_per_s))))

    @property
    def response(self) -> float:
        """Geometric mean over the trials of the mean response time, seconds."""
        return math.exp(float(np.mean(np.log(self.response_s))))


@dataclass(frozen=True)
class StationCurve:
    levels: tuple[StationLevel, ...]
    #: Bytes per message; `None` if they varied.
    message_size_bytes: int | None = None
    factors: Mapping[str, Level] = field(default_factory=dict)
    experiment: str = ""

    def __post_init__(self) -> None:
        numbers = [level.stations for level in self.levels]
        if not numbers or numbers[0] < 1 or sorted(set(numbers)) != numbers:
            raise UnfitValues(f"levels: need ascending numbers of stations, from 1; got {numbers}")
        for level in self.levels:
            if not level.trials or level.trials != len(level.operations_per_s):
                raise UnfitValues(f"{level.stations} stations: need both values of each trial")
            values = (*level.operations_per_s, *level.response_s)
            if not all(math.isfinite(value) and value > 0 for value in values):
                raise UnfitValues(f"{level.stations} stations: need numbers above 0")

    @property
    def stations(self) -> tuple[int, ...]:
        return tuple(level.stations for level in self.levels)

    @property
    def peak(self) -> StationLevel:
        """The level with the greatest throughput, which is biased upwards."""
        return max(self.levels, key=lambda level: level.throughput)

    def responses(self) -> list[float]:
        """Geometric means, seconds, in the order of the levels."""
        return [level.response for level in self.levels]


def curves_of(
    trials: Sequence[TrialRecord], experiments: Sequence[str], response: str = "response_mean_ns"
) -> list[StationCurve]:
    """
    The curves of experiments of a run, in the order of their trials.

    Args:
        trials: Trials of one run; those that do not count are ignored.
        experiments: Ids of experiments of workload `stations`.
        response: The metric of the response time.
    """
    groups: dict[str, list[TrialRecord]] = {}
    for trial in counting(trials):
        if trial.purpose != "trial" or trial.experiment not in experiments:
            continue
        # A trial without a successful operation has no response time, so it is not on the curve.
        if response in trial.metrics and trial.metrics.get("operations_per_s", 0) > 0:
            key = repr((trial.experiment, sorted(_others(trial).items())))
            groups.setdefault(key, []).append(trial)
    return [_curve(group, response) for group in groups.values()]


def _curve(trials: Sequence[TrialRecord], response: str) -> StationCurve:
    by_number: dict[int, list[TrialRecord]] = {}
    for trial in trials:
        by_number.setdefault(int(trial.metrics[STATIONS]), []).append(trial)
    sizes = {trial.parameters.get("message_size_bytes") for trial in trials}
    size = sizes.pop() if len(sizes) == 1 else None
    return StationCurve(
        levels=tuple(
            StationLevel(
                number,
                tuple(float(trial.metrics["operations_per_s"]) for trial in own),
                tuple(float(trial.metrics[response]) / 1e9 for trial in own),
            )
            for number, own in sorted(by_number.items())
        ),
        message_size_bytes=size if isinstance(size, int) else None,
        factors=_others(trials[0]),
        experiment=trials[0].experiment,
    )


def _others(trial: TrialRecord) -> dict[str, Level]:
    return {name: level for name, level in trial.factors.items() if name != STATIONS}
