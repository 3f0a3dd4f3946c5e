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

from lanlab.analysis.comparison import Compared, Sample, compared, corrected
from lanlab.analysis.comparison_sides import sample_of
from lanlab.analysis.limits import reaches_limit
from lanlab.analysis.summary import limit_of
from lanlab.analysis.wires import wire_at
from lanlab.frozen import dataclass
from lanlab.plan import Condition, expand
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies import Study
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
    #: Whether any two levels could be compared: single trials do not show an order.
    is_tested: bool
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


def rankings(
    run: RunRecord,
    trials: Sequence[TrialRecord],
    experiments: Sequence[str],
    model_error_log: float | None = None,
) -> dict[str, tuple[Ranking, ...]]:
    """
    The rankings of each experiment at each combination of its other factors, in the study's order.
    An experiment is left out if it varies no factor of `RANKED`, or its metric is not compared by
    ratios.

    Args:
        run, trials, experiments: What to rank.
        model_error_log: For a simulated run, `lanlab.analysis.model_error.model_error_log`.
    """
    study = Study.model_validate(run.study)
    by_experiment: dict[str, list[Condition]] = {name: [] for name in experiments}
    for condition in expand(study, run.scale):
        if condition.experiment in by_experiment:
            by_experiment[condition.experiment].append(condition)
    each = [
        one
        for name, conditions in by_experiment.items()
        if (one := _experiment(study, name, conditions, trials)) is not None
    ]
    done = iter(corrected([pair for one in each for *_, pair in one.pairs]))
    found = {}
    for one in each:
        own = [next(done) for _ in one.pairs]
        if all(pair.scale == "log" for pair in own):
            found[one.name] = _ranked_experiment(run, study, trials, one, own, model_error_log)
    return {name: own for name, own in found.items() if own}


@dataclass(frozen=True)
class _Experiment:
    name: str
    metric: str
    factor: str
    #: Conditions that differ in the factor alone.
    groups: Mapping[str, Sequence[Condition]]
    #: By the identity of a condition.
    samples: Mapping[int, Sample]
    #: The group, two of its conditions, and their comparison.
    pairs: Sequence[tuple[str, tuple[Condition, Condition], Compared]]


def _experiment(
    study: Study, name: str, conditions: Sequence[Condition], trials: Sequence[TrialRecord]
) -> _Experiment | None:
    metric = next(one.metrics[0] for one in study.experiment if one.id == name)
    factor = next(
        (
            name
            for name in RANKED
            if len({one.factors[name] for one in conditions if name in one.factors}) > 1
        ),
        None,
    )
    if factor is None or metric_direction(metric) is None:
        return None
    groups: dict[str, list[Condition]] = {}
    for one in conditions:
        groups.setdefault(repr(_rest(one, factor)), []).append(one)
    if sum(math.comb(len(own), 2) for own in groups.values()) > _MOST_COMPARISONS:
        return None
    # Each trial belongs to one condition, so each is read once.
    samples = {id(one): sample_of(trials, one, metric) for one in conditions}
    # Single trials are not compared, so the comparison code is not loaded.
    is_comparable = any(sample.n > 1 for sample in samples.values())
    pairs = [
        (key, (a, b), _compared(a, b, factor, metric, samples))
        for key, own in (groups.items() if is_comparable else ())
        for a, b in combinations([one for one in own if samples[id(one)].n], 2)
    ]
    return _Experiment(name, metric, factor, groups, samples, pairs)


def _ranked_experiment(
    run: RunRecord,
    study: Study,
    trials: Sequence[TrialRecord],
    one: _Experiment,
    done: Sequence[Compared],
    model_error_log: float | None,
) -> tuple[Ranking, ...]:
    factor = one.factor
    by_pair: dict[str, dict[tuple[Level, Level], Compared]] = {}
    for (key, (a, b), _), pair in zip(one.pairs, done, strict=True):
        by_pair.setdefault(key, {})[a.factors[factor], b.factors[factor]] = pair
    # Without a known error of the model, no simulated difference is an order.
    unknown_log = math.inf if study.is_simulated else 0.0
    least_log = math.sqrt(2) * (unknown_log if model_error_log is None else model_error_log)
    found = []
    for key, own in one.groups.items():
        measured = [condition for condition in own if one.samples[id(condition)].n]
        if not measured:
            continue
        against = by_pair.get(key, {})
        levels = [condition.factors[factor] for condition in measured]
        limits = {
            condition.factors[factor]: limit
            for condition in measured
            if (limit := _limit_reached_bps(run, study, trials, condition)) is not None
        }
        # IPv4 and IPv6 have limits of their own.
        limits = {k: v for k, v in limits.items() if v > _ALIKE_RATIO * max(limits.values())}
        ranked = (
            grouped(
                levels,
                against,
                is_more_better=metric_direction(one.metric) == "more",
                at_limit=frozenset(limits),
                least_log=least_log,
            )
            if against
            else (tuple(Ranked(level, None) for level in levels),)
        )
        if study.is_simulated:
            ranked = _by_model(ranked, least_log)
        is_limited = ranked[0][0].level in limits
        lacking = (condition for condition in own if not one.samples[id(condition)].n)
        found.append(
            Ranking(
                one.name,
                one.metric,
                factor,
                _rest(own[0], factor),
                ranked,
                tuple(condition.factors[factor] for condition in lacking),
                any(min(pair.base.n, pair.other.n) > 1 for pair in against.values()),
                frozenset(limits) if is_limited else frozenset(),
                max(limits.values()) if is_limited else None,
                math.exp(least_log) if model_error_log is not None else None,
            )
        )
    return tuple(found)


def _rest(condition: Condition, factor: str) -> dict[str, Level]:
    return {name: level for name, level in condition.factors.items() if name != factor}


def _limit_reached_bps(
    run: RunRecord, study: Study, trials: Sequence[TrialRecord], condition: Condition
) -> float | None:
    link = wire_at(run, condition.parameters, study)
    for metric in ("goodput_bps", "rate_bps"):
        limit = limit_of(metric, dict(condition.parameters), link)
        sample = sample_of(trials, condition, metric) if limit else None
        if limit and sample and sample.values:
            return limit if reaches_limit(sample.values, limit) else None
    return None


def _compared(
    base: Condition, other: Condition, factor: str, metric: str, samples: Mapping[int, Sample]
) -> Compared:
    return compared(
        samples[id(base)],
        samples[id(other)],
        experiment=base.experiment,
        metric=metric,
        factors=_rest(base, factor),
        names=(str(base.factors[factor]), str(other.factors[factor])),
        basis="levels",
    )


def grouped(
    levels: Sequence[Level],
    against: Against,
    *,
    is_more_better: bool,
    at_limit: frozenset[Level] = frozenset(),
    least_log: float = 0.0,
) -> tuple[tuple[Ranked, ...], ...]:
    """
    The levels in groups, best first.

    Args:
        levels: At least one.
        against: The corrected comparison of each pair, in either direction.
        is_more_better: Whether a larger value is better.
        at_limit: Levels between which differences are ignored.
        least_log: Logarithm of the ratio up to which differences are ignored.
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
        if a == b or {a, b} <= at_limit or gain(a, b) >= -least_log:
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


def _by_model(
    groups: tuple[tuple[Ranked, ...], ...], error_log: float
) -> tuple[tuple[Ranked, ...], ...]:
    def widened(one: Ranked) -> Ranked:
        if not 0 < error_log < math.inf or not one.worse or one.worse == 1.0:
            return replace(one, low=None, high=None)
        factor = math.exp(error_log)
        return replace(one, low=one.worse / factor, high=one.worse * factor)

    return tuple(tuple(map(widened, group)) for group in groups)


def _is_exact(one: Compared) -> bool:
    sides = (one.base, one.other)
    constant = all(side.n > 1 and len(set(side.tested)) == 1 for side in sides)
    return constant and one.base.tested[0] != one.other.tested[0]


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
    if one.test is None:
        return worse, None, None
    low, high = sorted((one.test.low**turn, one.test.high**turn))
    return worse, low, high
