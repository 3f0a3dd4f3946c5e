"""
Ranks the levels of a factor (services, servers, protocols, hosts) at each level of the other
factors.

All pairs of levels are compared by block, as in `lanlab compare --by`, and corrected together for
the whole run (Holm), since its rankings are read together. A group follows another only if each of
its levels is shown to be worse than each level before it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from lanlab.analysis.comparison.compare import Compared, Sample, compared, corrected
from lanlab.analysis.comparison.sides import sample_of
from lanlab.analysis.links.limits import reaches_limit
from lanlab.analysis.links.wires import wire_at
from lanlab.analysis.simulation.model_error import ratio_factor
from lanlab.analysis.traffic.peaks import RATES
from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import limit_of
from lanlab.frozen import dataclass
from lanlab.plan.conditions import Condition, expand
from lanlab.store import Level
from lanlab.workloads.metrics import metric_direction

RANKED = ("server", "service", "dialect", "host", "os", "driver", "transport", "ip_version")
#: With more comparisons in one experiment, hardly any difference can be shown, so nothing is
#: ranked.
_MOST_COMPARISONS = 400
#: Limits at least this close, as a ratio, are one limit.
_ALIKE_RATIO = 0.975
Against = Mapping[tuple[Level, Level], Compared]


@dataclass(frozen=True)
class Ranked:
    level: Level
    #: Factor by which it is worse than the best, with its 95 % interval: 1 for the best itself,
    #: `None` if unknown.
    worse: float | None
    low: float | None = None
    high: float | None = None
    #: Levels of the same group that are shown to be better.
    behind: tuple[Level, ...] = ()


@dataclass(frozen=True)
class Ranking:
    experiment: str
    metric: str
    factor: str
    condition: Mapping[str, Level]
    #: Best group first. Each level is shown to be worse than every level of the groups before it.
    groups: tuple[tuple[Ranked, ...], ...]
    lacking: tuple[Level, ...]
    #: Whether any two levels could be compared: too few trials do not show an order.
    is_tested: bool
    #: The fewest trials of a level.
    trials: int = 0
    #: Levels whose mean goodput reaches the link's limit, so that differences between them are not
    #: their own. Empty unless the best is among them.
    at_limit: frozenset[Level] = frozenset()
    #: The limit, bit/s; `None` if no level reaches it.
    limit_bps: float | None = None
    #: A simulated difference below this factor is within the model's error. `None` for a measured
    #: run or an unknown error.
    model_factor: float | None = None

    def to_json(self) -> dict[str, object]:
        return {
            "experiment": self.experiment,
            "metric": self.metric,
            "factor": self.factor,
            "condition": dict(self.condition),
            "is_tested": self.is_tested,
            "groups": [
                [
                    {
                        "level": one.level,
                        "times_worse": one.worse,
                        "times_worse_95_low": one.low,
                        "times_worse_95_high": one.high,
                        "shown_behind": [
                            *(other.level for before in self.groups[:place] for other in before),
                            *one.behind,
                        ],
                    }
                    for one in group
                ]
                for place, group in enumerate(self.groups)
            ],
            "without_value": list(self.lacking),
            "at_link_limit": sorted(map(str, self.at_limit)),
            "link_limit_bps": self.limit_bps,
            "model_error_factor": self.model_factor,
        }


def rankings(data: RunData) -> dict[str, tuple[Ranking, ...]]:
    """
    The rankings of each experiment at each combination of its other factors, in the study's order.
    An experiment is left out if it varies no factor of `RANKED`, or its metric is not compared by
    ratios; or if it varies the load, because below saturation every level carries the load.
    """
    measured = {trial.experiment for trial in data.trials}
    by_experiment: dict[str, list[Condition]] = {
        one.experiment.id: []
        for one in data.experiments
        if one.experiment.id in measured
        and one.search is None
        and not any(rate in one.factors for rate in RATES)
    }
    for condition in expand(data.study, data.run.scale):
        if condition.experiment in by_experiment:
            by_experiment[condition.experiment].append(condition)
    each = {name: _groups(data, name, own) for name, own in by_experiment.items()}
    pairs = {name: _pairs(groups) for name, groups in each.items()}
    done = iter(corrected([pair for own in pairs.values() for group in own for pair in group]))
    found = {}
    for name, groups in each.items():
        judged = [[next(done) for _ in group] for group in pairs[name]]
        if all(pair.scale == "log" for own in judged for pair in own):
            made = (_ranking(data, one, own) for one, own in zip(groups, judged, strict=True))
            found[name] = tuple(one for one in made if one is not None)
    return {name: own for name, own in found.items() if own}


def _model_factor(data: RunData, metric: str) -> float:
    if not data.study.is_simulated:
        return 1.0
    # A measured run has no use for the simulation's analyses.
    from lanlab.analysis.simulation.run import held_out_of

    return ratio_factor(data.once(held_out_of), metric)


@dataclass(frozen=True)
class _Group:
    """The conditions of an experiment that differ in one factor alone."""

    metric: str
    factor: str
    #: By the factor's level.
    conditions: Mapping[Level, Condition]
    samples: Mapping[Level, Sample]

    @property
    def measured(self) -> list[Level]:
        return [level for level, sample in self.samples.items() if sample.n]


def _groups(data: RunData, name: str, conditions: Sequence[Condition]) -> list[_Group]:
    metric = next(one.metrics[0] for one in data.study.experiment if one.id == name)
    factor = next(
        (
            name
            for name in RANKED
            if len({one.factors[name] for one in conditions if name in one.factors}) > 1
        ),
        None,
    )
    if factor is None or metric_direction(metric) is None:
        return []
    by_rest: dict[str, dict[Level, Condition]] = {}
    for one in conditions:
        by_rest.setdefault(repr(_rest(one, factor)), {})[one.factors[factor]] = one
    if sum(math.comb(len(own), 2) for own in by_rest.values()) > _MOST_COMPARISONS:
        return []
    # Each trial belongs to one condition, so each is read once.
    samples = (
        {level: sample_of(data.trials, one, metric) for level, one in own.items()}
        for own in by_rest.values()
    )
    return [_Group(metric, factor, *both) for both in zip(by_rest.values(), samples, strict=True)]


def _pairs(groups: Sequence[_Group]) -> list[list[Compared]]:
    """The comparisons of each two levels with results, by group."""
    # Single trials are not compared, so the comparison code is not loaded.
    is_comparable = any(one.n > 1 for group in groups for one in group.samples.values())
    return [
        [_compared(group, *two) for two in combinations(group.measured, 2)] if is_comparable else []
        for group in groups
    ]


def _ranking(data: RunData, group: _Group, pairs: Sequence[Compared]) -> Ranking | None:
    """The ranking of a group by its corrected comparisons; `None` without a result."""
    measured, factor = group.measured, group.factor
    if not measured:
        return None
    model_factor = _model_factor(data, group.metric)
    judged = [replace(pair, model_factor=model_factor) for pair in pairs]
    limits = {
        level: limit
        for level in measured
        if (limit := _limit_reached_bps(data, group.conditions[level])) is not None
    }
    # IPv4 and IPv6 have limits of their own.
    limits = {k: v for k, v in limits.items() if v > _ALIKE_RATIO * max(limits.values())}
    ranked: tuple[tuple[Ranked, ...], ...] = (tuple(Ranked(level, None) for level in measured),)
    if judged:
        ranked = grouped(
            measured,
            dict(zip(combinations(measured, 2), judged, strict=True)),
            is_more_better=metric_direction(group.metric) == "more",
            at_limit=frozenset(limits),
        )
    is_limited = ranked[0][0].level in limits
    any_one = group.conditions[measured[0]]
    return Ranking(
        any_one.experiment,
        group.metric,
        factor,
        _rest(any_one, factor),
        ranked,
        tuple(level for level in group.conditions if level not in measured),
        any(_is_tested(pair) for pair in judged),
        min(group.samples[level].n for level in measured),
        frozenset(limits) if is_limited else frozenset(),
        max(limits.values()) if is_limited else None,
        model_factor if 1 < model_factor < math.inf else None,
    )


def _rest(condition: Condition, factor: str) -> dict[str, Level]:
    return {name: level for name, level in condition.factors.items() if name != factor}


def _limit_reached_bps(data: RunData, condition: Condition) -> float | None:
    link = wire_at(data.run, condition.parameters, data.study)
    for metric in ("goodput_bps", "rate_bps"):
        limit = limit_of(metric, dict(condition.parameters), link)
        sample = sample_of(data.trials, condition, metric) if limit else None
        if limit and sample and sample.values:
            return limit if reaches_limit(sample.values, limit) else None
    return None


def _compared(group: _Group, base: Level, other: Level) -> Compared:
    condition = group.conditions[base]
    return compared(
        group.samples[base],
        group.samples[other],
        experiment=condition.experiment,
        metric=group.metric,
        factors=_rest(condition, group.factor),
        names=(str(base), str(other)),
        basis="levels",
    )


def grouped(
    levels: Sequence[Level],
    against: Against,
    *,
    is_more_better: bool,
    at_limit: frozenset[Level] = frozenset(),
) -> tuple[tuple[Ranked, ...], ...]:
    """
    The levels in groups, best first.

    Args:
        levels: At least one.
        against: The corrected comparison of each pair, in either direction.
        is_more_better: Whether a larger value is better.
        at_limit: Levels between which differences are ignored.
    """

    def pair(a: Level, b: Level) -> tuple[Compared, int]:
        """The comparison of two levels, with 1, or with -1 if made in the other direction."""
        return (against[a, b], 1) if (a, b) in against else (against[b, a], -1)

    def gain(a: Level, b: Level) -> float:
        """Logarithm of the ratio, positive if `b` is better."""
        one, sign = pair(a, b)
        return (1 if is_more_better else -1) * sign * math.log(one.effect or 1.0)

    def is_behind(b: Level, a: Level) -> bool:
        """Whether `b` is shown to be worse than `a`."""
        if a == b or {a, b} <= at_limit or gain(a, b) >= 0:
            return False
        return pair(a, b)[0].differs or _is_exact(pair(a, b)[0])

    # Comparisons may form a cycle, so order levels by the sum of their gains over all others.
    order = sorted(
        levels,
        key=lambda level: -math.fsum(gain(other, level) for other in levels if other != level),
    )
    best = order[0]
    groups: list[list[Level]] = [[]]
    for place, level in enumerate(order):
        if place and all(is_behind(b, a) for a in order[:place] for b in order[place:]):
            groups.append([])
        groups[-1].append(level)
    return tuple(
        tuple(
            Ranked(
                level,
                *_ranked(None if level == best else pair(best, level), is_more_better),
                behind=tuple(other for other in group if is_behind(level, other)),
            )
            for level in group
        )
        for group in groups
    )


def _is_tested(one: Compared) -> bool:
    return min(one.base.n, one.other.n) > 1 and not one.is_too_few


def _is_exact(one: Compared) -> bool:
    sides = (one.base, one.other)
    is_open = one.is_too_few or one.is_within_model
    constant = all(side.n > 1 and len(set(side.tested)) == 1 for side in sides)
    return constant and not is_open and one.base.tested[0] != one.other.tested[0]


def _ranked(
    pair: tuple[Compared, int] | None, is_more_better: bool
) -> tuple[float | None, float | None, float | None]:
    if pair is None:
        return 1.0, None, None
    one, sign = pair
    turn = -sign if is_more_better else sign
    if one.effect is None:
        return None, None, None
    worse = one.effect**turn
    if one.interval is None:
        return worse, None, None
    low, high = sorted(end**turn for end in one.interval)
    return worse, low, high
