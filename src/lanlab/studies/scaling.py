"""
A study at one of its scales.

If a value is set several times, the most specific setting applies: the study's experiment, then the
scale's `parameters` if the workload has such a parameter, then the scale's entry for the
experiment.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from lanlab.errors import of_name
from lanlab.frozen import dataclass
from lanlab.studies.base import Level
from lanlab.studies.model import (
    Experiment,
    Scale,
    ScaledExperiment,
    Search,
    Study,
    TrialPolicy,
)
from lanlab.workloads import workload
from lanlab.workloads.definitions import definitions
from lanlab.workloads.parameters import TrialParameters

#: More conditions in a scale are probably a mistake.
MAX_CONDITIONS = 10_000


@dataclass(frozen=True)
class ExperimentAtScale:
    experiment: Experiment
    parameters: Mapping[str, Level]
    factors: Mapping[str, tuple[Level, ...]]
    search: Search | None
    trials: TrialPolicy

    def placing(self, levels: Mapping[str, Level]) -> dict[str, Level]:
        """Levels that select the machines of a simulated condition and are not parameters of the
        workload.
        """
        known = workload(self.experiment.workload).Parameters.model_fields
        return {key: one for key, one in {**self.parameters, **levels}.items() if key not in known}


def at_scale(study: Study, scale_name: str) -> tuple[ExperimentAtScale, ...]:
    """The study's experiments as a run at `scale_name` executes them, in the study's order.

    If a study has experiments on real hosts and on modelled machines, only the former are included,
    unless `lanlab.studies.runs_on.study_on` reduced the study to the latter.

    Raises:
        UnknownName: The study has no such scale, or names an unknown workload.
        ValueError: The study has no experiment, the scale's changes to a search are invalid, or it
            has too many conditions; a study from `load_study` does not raise it.
    """
    if not study.experiment:
        raise ValueError("no experiment")
    scale = of_name("scale", scale_name, study.scale)
    done = done_at(study.experiment, scale_name)
    real = [one for one in done if "real" in one.on]
    found = tuple(experiment_at_scale(one, scale) for one in real or done)
    if sum(math.prod(map(len, one.factors.values())) for one in found) > MAX_CONDITIONS:
        raise ValueError(f"more than {MAX_CONDITIONS} conditions")
    return found


def done_at(experiments: Sequence[Experiment], scale_name: str) -> list[Experiment]:
    own = [one for one in experiments if scale_name in one.scales]
    return own or [one for one in experiments if not one.scales]


def experiment_at_scale(experiment: Experiment, scale: Scale) -> ExperimentAtScale:
    """One experiment as a run at `scale` executes it; raises as `at_scale`."""
    own = scale.experiment.get(experiment.id, ScaledExperiment())
    known = workload(experiment.workload).Parameters.model_fields
    general = {key: value for key, value in scale.parameters.items() if key in known}
    search = experiment.search
    if search is not None and own.search:
        search = Search.model_validate({**search.model_dump(), **own.search})
    return ExperimentAtScale(
        experiment=experiment,
        parameters={**experiment.parameters, **general, **own.parameters},
        factors={**experiment.factors, **own.factors},
        search=search,
        trials=own.trials or scale.trials,
    )


def combinations(factors: Mapping[str, Iterable[Level]]) -> Iterator[dict[str, Level]]:
    """Every combination of levels; the last factor changes fastest. Without factors: one, empty."""
    for levels in itertools.product(*factors.values()):
        yield dict(zip(factors, levels, strict=True))


def validated(workload_name: str, parameters: Mapping[str, object]) -> TrialParameters:
    """The parameters of a condition, in lanlab's units; cached.

    Raises:
        pydantic.ValidationError: The workload refuses them.
    """
    # The cache key includes types, because `True` and `1.0` equal 1.
    given = tuple((key, type(value), value) for key, value in parameters.items())
    return _validated(workload(workload_name).Parameters, given)


@lru_cache(maxsize=MAX_CONDITIONS)
def _validated(
    model: type[TrialParameters], given: tuple[tuple[str, type, object], ...]
) -> TrialParameters:
    # Strict: a size of `true` is an error, not 1.
    return model.model_validate({key: value for key, _, value in given}, strict=True)


def working(workload_name: str, levels: Mapping[str, object]) -> dict[str, object]:
    known = workload(workload_name).Parameters.model_fields
    return {key: level for key, level in levels.items() if key in known}


def is_numeric(workload_name: str, key: str) -> bool:
    """Whether a parameter is a quantity, whose levels can be drawn along an axis."""
    found = definitions(workload(workload_name).Parameters).get(key)
    return found is not None and found.kind in (int, float) and not found.choices
