"""The names that a finding may use: a study's metrics, factors and levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from lanlab.frozen import dataclass
from lanlab.studies.base import Level, is_level
from lanlab.studies.model import Experiment, Study
from lanlab.studies.plain_level import plain_level
from lanlab.workloads import WORKLOADS

if TYPE_CHECKING:
    from lanlab.studies.published import Published


@dataclass(frozen=True)
class Vocabulary:
    metrics: tuple[str, ...] = ()
    factors: Mapping[str, tuple[Level, ...]] = field(default_factory=dict)

    def has_level(self, factor: str, level: Level) -> bool:
        """Whether a known factor has the level, in any notation (`1kB`, 1000)."""
        known = self.factors[factor]
        if not known:
            return isinstance(plain_level(factor, level), int | float)
        return any(is_level(plain_level(factor, level), plain_level(factor, one)) for one in known)

    def __or__(self, other: Vocabulary) -> Vocabulary:
        factors = dict(self.factors)
        for name, levels in other.factors.items():
            mine = factors.get(name, levels)
            # If the factor accepts any number in one of them, it does so in both.
            factors[name] = tuple(dict.fromkeys((*mine, *levels))) if mine and levels else ()
        return Vocabulary(tuple(dict.fromkeys((*self.metrics, *other.metrics))), factors)


def of_study(study: Study) -> Vocabulary:
    """The metrics, factors and fixed parameters of a study's experiments, at any of its scales."""
    metrics: list[str] = []
    factors: dict[str, list[Level]] = {}
    anything: set[str] = set()
    for experiment in study.experiment:
        if experiment.workload not in WORKLOADS:
            continue
        metrics += WORKLOADS[experiment.workload].metrics
        for parameters, varied in _at_every_scale(study, experiment):
            for name, level in parameters.items():
                factors.setdefault(name, []).append(level)
            for name, levels in varied.items():
                factors.setdefault(name, []).extend(levels)
        if experiment.search is not None:
            anything.add(experiment.search.factor)
    return Vocabulary(
        tuple(dict.fromkeys(metrics)),
        {
            **{name: tuple(dict.fromkeys(levels)) for name, levels in factors.items()},
            **dict.fromkeys(anything, ()),
        },
    )


def of_published(published: Published) -> Vocabulary:
    return Vocabulary(
        tuple(metric.name for metric in published.metric),
        {f.name: tuple(one.level for one in f.levels) for f in published.factor},
    )


def _at_every_scale(
    study: Study, experiment: Experiment
) -> Iterable[tuple[Mapping[str, Level], Mapping[str, tuple[Level, ...]]]]:
    yield experiment.parameters, experiment.factors
    for scale in study.scale.values():
        if experiment.id in scale.experiment:
            own = scale.experiment[experiment.id]
            yield own.parameters, own.factors
