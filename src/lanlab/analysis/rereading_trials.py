"""Printed trials by condition, in the order in which they were run."""

from __future__ import annotations

from collections.abc import Mapping

from lanlab.analysis.published import is_own
from lanlab.frozen import dataclass
from lanlab.studies import Level, MissingValue, Published, PublishedValue

TRIAL = "trial"


@dataclass(frozen=True)
class PrintedTrials:
    """The trials of one condition that were printed, and those that are lost."""

    metric: str
    #: Without the trial.
    condition: Mapping[str, Level]
    #: Ascending.
    numbers: tuple[float, ...]
    #: In SI units, by number.
    values: tuple[float, ...]
    lost: tuple[MissingValue, ...]
    #: The step to which they were printed, in SI units.
    resolution: float

    @property
    def mean(self) -> float:
        """Mean of the trials that are not lost, in SI units."""
        return sum(self.values) / len(self.values)


def printed_trials_of(published: Published) -> tuple[PrintedTrials, ...]:
    """Every condition of which two trials or more were printed, in the order of the file."""
    groups: dict[str, list[PublishedValue]] = {}
    for value in published.value:
        number = value.condition.get(TRIAL)
        if value.statistic == TRIAL and is_own(value) and isinstance(number, int | float):
            groups.setdefault(_key(value.metric, value.condition), []).append(value)
    lost: dict[str, list[MissingValue]] = {}
    for missing in published.missing:
        if missing.statistic == TRIAL:
            lost.setdefault(_key(missing.metric, missing.condition), []).append(missing)
    found = []
    for key, values in groups.items():
        if len(values) < 2:
            continue
        values.sort(key=lambda value: float(value.condition[TRIAL]))
        found.append(
            PrintedTrials(
                metric=values[0].metric,
                condition=without_trial(values[0].condition),
                numbers=tuple(float(value.condition[TRIAL]) for value in values),
                values=tuple(value.si for value in values),
                lost=tuple(lost.get(key, ())),
                resolution=max(printed_step(value) for value in values),
            )
        )
    return tuple(found)


def without_trial(condition: Mapping[str, Level]) -> dict[str, Level]:
    """A condition as it is for all its trials."""
    return {key: level for key, level in condition.items() if key != TRIAL}


def printed_step(value: PublishedValue) -> float:
    """One of the last digit that was printed, in SI units."""
    if value.value == 0:
        return 0.0
    digits = "".join(sign for sign in value.published.replace(" ", "") if sign in "0123456789.")
    decimals = len(digits.partition(".")[2])
    return float(10.0**-decimals * abs(value.si / value.value))


def _key(metric: str, condition: Mapping[str, Level]) -> str:
    return repr((metric, sorted(without_trial(condition).items())))
