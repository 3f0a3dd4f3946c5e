"""
Which level of a factor is best: services, servers, protocols and hosts in an order, at each level
of the other factors.

Levels are compared by block, each with each, as `lanlab compare --by` does; all comparisons of an
experiment are corrected together (Holm). A group holds the levels of which no two are shown to
differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from lanlab.analysis.comparison import Compared, compared, corrected
from lanlab.analysis.comparison_sides import sample_of
from lanlab.frozen import dataclass
from lanlab.plan import Condition, expand
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies import Study
from lanlab.workloads.metrics import metric_direction

#: Factors whose levels are ranked; of several in one experiment the first.
RANKED = ("server", "service", "dialect", "host", "os", "driver", "transport")
#: Comparisons of one experiment beyond which hardly any is shown: that is a table, no ranking.
_MOST_COMPARISONS = 400


@dataclass(frozen=True)
class Ranked:
    """One level among the others, under one condition."""

    level: Level
    #: How many times worse than the best, with its 95 % interval; 1 of the best itself. `None`
    #: where there is none.
    worse: float | None
    low: float | None = None
    high: float | None = None
    #: Levels of the group before it that it is not shown to differ from.
    like_before: tuple[Level, ...] = ()


@dataclass(frozen=True)
class Ranking:
    """The levels of a factor under one condition of the others."""

    experiment: str
    metric: str
    factor: str
    #: The other factors.
    condition: Mapping[str, Level]
    #: The best first. In a group no two are shown to differ.
    groups: tuple[tuple[Ranked, ...], ...]
    #: Levels of which no trial has a value.
    lacking: tuple[Level, ...]
    #: Whether any two could be compared: a single trial of each shows no order.
    is_tested: bool

    def to_json(self) -> dict[str, Any]:
        """For programs."""
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
                    }
                    for one in group
                ]
                for group in self.groups
            ],
            "without_value": list(self.lacking),
        }


def rankings(run: RunRecord, trials: Sequence[TrialRecord], experiment: str) -> tuple[Ranking, ...]:
    """
    The ranking at each combination of the other factors, in the study's order; none where an
    experiment varies no factor of `RANKED`, or its metric is not compared by ratios.
    """
    study = Study.model_validate(run.study)
    conditions = [one for one in expand(study, run.scale) if one.experiment == experiment]
    metric = next(one.metrics[0] for one in study.experiment if one.id == experiment)
    factor = next(
        (
            name
            for name in RANKED
            if len({one.factors[name] for one in conditions if name in one.factors}) > 1
        ),
        None,
    )
    if factor is None or metric_direction(metric) is None:
        return ()
    groups: dict[str, list[Condition]] = {}
    for one in conditions:
        groups.setdefault(repr(_rest(one, factor)), []).append(one)
    if sum(math.comb(len(own), 2) for own in groups.values()) > _MOST_COMPARISONS:
        return ()
    # No trial of a condition belongs to another: each is read once.
    samples = {id(one): sample_of(trials, one, metric) for one in conditions}
    # Single trials are not compared, and what compares is not loaded.
    is_comparable = any(sample.n > 1 for sample in samples.values())
    pairs = [
        (key, (a, b), _compared(a, b, factor, metric, samples))
        for key, own in (groups.items() if is_comparable else ())
        for a, b in combinations([one for one in own if samples[id(one)].n], 2)
    ]
    done = corrected([one for *_, one in pairs]) if pairs else []
    if any(one.scale != "log" for one in done):
        return ()
    by_pair: dict[str, dict[tuple[Level, Level], Compared]] = {}
    for (key, (a, b), _), found_of_both in zip(pairs, done, strict=True):
        by_pair.setdefault(key, {})[a.factors[factor], b.factors[factor]] = found_of_both
    found = []
    for key, own in groups.items():
        measured = [one for one in own if samples[id(one)].n]
        if not measured:
            continue
        against = by_pair.get(key, {})
        levels = [one.factors[factor] for one in measured]
        found.append(
            Ranking(
                experiment,
                metric,
                factor,
                _rest(own[0], factor),
                _groups(levels, against, is_more_better=metric_direction(metric) == "more")
                if against
                else (tuple(Ranked(level, None) for level in levels),),
                tuple(one.factors[factor] for one in own if not samples[id(one)].n),
                any(one.test is not None or _is_exact(one) for one in against.values()),
            )
        )
    return tuple(found)


def _rest(condition: Condition, factor: str) -> dict[str, Level]:
    return {name: level for name, level in condition.factors.items() if name != factor}


def _compared(
    base: Condition, other: Condition, factor: str, metric: str, samples: Mapping[int, Any]
) -> Compared:
    return compared(
        samples[id(base)],
        samples[id(other)],
        experiment=base.experiment,
        metric=metric,
        factors=_rest(base, factor),
        parameters={},
        names=(str(base.factors[factor]), str(other.factors[factor])),
        basis="levels",
    )


def _groups(
    levels: Sequence[Level],
    against: Mapping[tuple[Level, Level], Compared],
    *,
    is_more_better: bool,
) -> tuple[tuple[Ranked, ...], ...]:
    """Levels from the best, a new group where one is shown to differ from one before it."""

    def pair(a: Level, b: Level) -> tuple[Compared, int]:
        """The comparison of two levels, and 1 if `b` is its other side, else -1."""
        return (against[a, b], 1) if (a, b) in against else (against[b, a], -1)

    def gain(a: Level, b: Level) -> float:
        """Logarithm of `b / a`, so that above 0 `b` is better."""
        one, sign = pair(a, b)
        return (1 if is_more_better else -1) * sign * math.log(one.effect or 1.0)

    # The sum of a level's gains on all others puts them in an order that no circle confuses.
    order = sorted(
        levels,
        key=lambda level: -math.fsum(gain(other, level) for other in levels if other != level),
    )
    best = order[0]
    groups: list[list[Ranked]] = []
    for level in order:
        before = [one.level for one in groups[-1]] if groups else []
        alike = tuple(one for one in before if not _differ(pair(one, level)[0]))
        is_new = not groups or len(alike) < len(before)
        ranked = _ranked(level, best, None if level == best else pair(best, level), is_more_better)
        if is_new:
            groups.append([Ranked(level, *ranked, like_before=alike)])
        else:
            groups[-1].append(Ranked(level, *ranked))
    return tuple(tuple(group) for group in groups)


def _differ(one: Compared) -> bool:
    return one.differs or _is_exact(one)


def _is_exact(one: Compared) -> bool:
    """Whether each side gave one value in every trial, and these differ: as in virtual time."""
    sides = (one.base, one.other)
    constant = all(side.n > 1 and len(set(side.tested)) == 1 for side in sides)
    return constant and one.base.tested[0] != one.other.tested[0]


def _ranked(
    level: Level, best: Level, pair: tuple[Compared, int] | None, is_more_better: bool
) -> tuple[float | None, float | None, float | None]:
    """How many times worse a level is than the best, with its interval."""
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
