"""Factor levels crossed into conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

from lanlab.frozen import dataclass
from lanlab.studies.base import Level
from lanlab.studies.model import Study
from lanlab.studies.scaling import ExperimentAtScale, at_scale, combinations, validated, working
from lanlab.workloads import workload
from lanlab.workloads.parameters import TrialParameters


@dataclass(frozen=True)
class Condition:
    """One combination of levels, which trials share."""

    experiment: str
    workload: str
    #: In lanlab's units, in the study's order; empty if the experiment varies nothing.
    factors: Mapping[str, Level]
    values: TrialParameters
    #: Minimum duration of a trial without a link's limit, seconds.
    expected_time_s: float
    #: Bits that a trial must transfer over the link, if they determine its duration.
    carried_bits: float = 0.0
    placing: Mapping[str, Level] = field(default_factory=dict)

    @cached_property
    def parameters(self) -> Mapping[str, Level]:
        """All values of the condition, for records; parameters that are not set are omitted."""
        return {**self.placing, **self.values.model_dump(exclude_none=True)}

    def time_over_s(self, link_rate_bps: float | None) -> float:
        """A trial's minimum duration over a link, seconds; `None`: an unlimited link."""
        if link_rate_bps is None:
            return self.expected_time_s
        return max(self.expected_time_s, self.carried_bits / link_rate_bps)


def expand(study: Study, scale_name: str) -> tuple[Condition, ...]:
    """All conditions of a study at a scale, in the study's order, without those of searches.

    Of parameters given twice, the more specific one counts: the study's experiment, then the scale,
    then the scale's entry for the experiment.

    Raises:
        UnknownName: The study has no such scale.
    """
    return tuple(
        condition
        for scaled in at_scale(study, scale_name)
        if scaled.search is None
        for condition in crossed(scaled)
    )


def crossed(scaled: ExperimentAtScale) -> tuple[Condition, ...]:
    return tuple(condition_of(scaled, levels) for levels in combinations(scaled.factors))


def _level(values: TrialParameters, key: str, level: Level) -> Level:
    found: Level | None = getattr(values, key, None)
    return level if found is None else found


def condition_of(
    scaled: ExperimentAtScale, levels: Mapping[str, Level], time_s: float | None = None
) -> Condition:
    """The condition of one experiment with these levels, in any unit.

    Args:
        scaled: The experiment.
        levels: Levels of its factors.
        time_s: Replaces the experiment's own.
    """
    name = scaled.experiment.workload
    time = {} if time_s is None else {"time_s": time_s}
    values = validated(name, working(name, {**scaled.parameters, **levels, **time}))
    return Condition(
        experiment=scaled.experiment.id,
        workload=name,
        factors={key: _level(values, key, level) for key, level in levels.items()},
        values=values,
        expected_time_s=workload(name).expected_time_s(values),
        carried_bits=workload(name).carried_bits(values),
        placing=scaled.placing(levels),
    )
