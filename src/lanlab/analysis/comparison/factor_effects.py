"""
The effect of each of several crossed factors, with all others held constant.

If the factors of a study vary together (each system had its own network, machine and software), it
cannot show which of them matters. A simulation can combine them freely: a factor's effect is then
the ratio between its levels in pairs of trials that are otherwise equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from lanlab.analysis.trials.run_data import RunData
from lanlab.frozen import dataclass
from lanlab.store import Level
from lanlab.studies.model import Study
from lanlab.studies.scaling import ExperimentAtScale, at_scale

_Key = tuple[tuple[str, Level], ...]


@dataclass(frozen=True)
class Effect:
    factor: str
    base: Level
    level: Level
    ratio: float
    least: float
    greatest: float


@dataclass(frozen=True)
class Spread:
    """
    The range of a metric over a factor: its highest level divided by its lowest, all else equal.
    """

    factor: str
    ratio: float
    least: float
    greatest: float
    greatest_at: Mapping[str, Level]


@dataclass(frozen=True)
class Case:
    """The ranges at one condition of the factors that are not crossed, largest first."""

    at: Mapping[str, Level]
    spreads: tuple[Spread, ...]


@dataclass(frozen=True)
class FactorEffects:
    metric: str
    factors: tuple[str, ...]
    effects: tuple[Effect, ...]
    cases: tuple[Case, ...]
    overall: tuple[Spread, ...]


def crossed_experiments(study: Study, scale: str) -> list[ExperimentAtScale]:
    """The experiments at a scale that together cross two or more factors. Factors that are
    parameters of a workload do not count. Of experiments that differ in anything else, such as an
    adapter that is no factor of them, those with most levels.
    """
    alike: dict[str, list[ExperimentAtScale]] = {}
    for one in at_scale(study, scale):
        if len(_placing(one)) > 1:
            fixed = sorted(
                (key, at) for key, at in one.placing({}).items() if key not in one.factors
            )
            alike.setdefault(repr(fixed), []).append(one)
    crossed = [own for own in alike.values() if len(_varied(own)) > 1]
    return max(crossed, key=lambda own: sum(map(len, _varied(own).values())), default=[])


def factor_effects(data: RunData) -> FactorEffects | None:
    """
    The effects of a run's crossed factors on the first metric of their experiments.

    Returns:
        `None` if no factors are crossed, or no two trials can be compared.
    """
    experiments = crossed_experiments(data.study, data.run.scale)
    if not experiments:
        return None
    metric = experiments[0].experiment.metrics[0]
    names = {one.experiment.id for one in experiments}
    cells: dict[_Key, dict[int, float]] = {}
    for trial in data.counting:
        value = trial.metrics.get(metric)
        if trial.experiment in names and trial.purpose == "trial" and value:
            cells.setdefault(tuple(trial.factors.items()), {})[trial.block] = float(value)
    factors = tuple(_varied(experiments))
    effects = tuple(
        effect
        for factor, levels in _varied(experiments).items()
        for level in levels[1:]
        if (effect := _effect(cells, factor, levels[0], level)) is not None
    )
    means = {key: _geometric(values.values()) for key, values in cells.items()}
    by_case: dict[_Key, dict[_Key, float]] = {}
    for key, mean in means.items():
        at = tuple((name, level) for name, level in key if name not in factors)
        by_case.setdefault(at, {})[key] = mean
    declared = dict.fromkeys(
        (name, level)
        for one in experiments
        for name, levels in one.factors.items()
        for level in levels
    )
    place = {one: number for number, one in enumerate(declared)}
    ordered = sorted(by_case.items(), key=lambda case: [place.get(one, 0) for one in case[0]])
    cases = tuple(Case(dict(at), _spreads(own, factors)) for at, own in ordered)
    overall = _spreads(means, factors)
    if not effects or not overall:
        return None
    return FactorEffects(metric, factors, effects, cases, overall)


def _placing(one: ExperimentAtScale) -> dict[str, tuple[Level, ...]]:
    known = one.placing(dict.fromkeys(one.factors, 0))
    return {name: levels for name, levels in one.factors.items() if name in known}


def _varied(experiments: Sequence[ExperimentAtScale]) -> dict[str, tuple[Level, ...]]:
    levels: dict[str, dict[Level, None]] = {}
    for one in experiments:
        for name, own in _placing(one).items():
            levels.setdefault(name, {}).update(dict.fromkeys(own))
    return {name: tuple(found) for name, found in levels.items() if len(found) > 1}


def _effect(
    cells: Mapping[_Key, Mapping[int, float]], factor: str, base: Level, level: Level
) -> Effect | None:
    ratios = []
    for key, values in cells.items():
        if (factor, level) not in key:
            continue
        other = cells.get(_with(key, factor, base), {})
        if own := [values[block] / other[block] for block in values if block in other]:
            ratios.append(_geometric(own))
    if not ratios:
        return None
    return Effect(factor, base, level, _geometric(ratios), min(ratios), max(ratios))


def _spreads(values: Mapping[_Key, float], factors: Sequence[str]) -> tuple[Spread, ...]:
    found = []
    for factor in factors:
        rows: dict[_Key, list[float]] = {}
        for key, value in values.items():
            rest = tuple((name, level) for name, level in key if name != factor)
            rows.setdefault(rest, []).append(value)
        ratios = {rest: max(own) / min(own) for rest, own in rows.items() if len(own) > 1}
        if ratios:
            top = max(ratios, key=ratios.__getitem__)
            mean = _geometric(ratios.values())
            ends = min(ratios.values()), ratios[top]
            found.append(Spread(factor, mean, *ends, dict(top)))
    return tuple(sorted(found, key=lambda one: -one.ratio))


def _with(key: _Key, factor: str, level: Level) -> _Key:
    return tuple((name, level if name == factor else own) for name, own in key)


def _geometric(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(math.fsum(logs) / len(logs))
