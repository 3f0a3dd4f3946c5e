"""Which printed means differ from each other by more than chance makes of their trials."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lanlab.analysis.published import is_own, printed_trials
from lanlab.analysis.rereading_trials import PrintedTrials, printed_trials_of
from lanlab.errors import LabError
from lanlab.frozen import dataclass
from lanlab.studies import Level, Published

if TYPE_CHECKING:
    from lanlab.analysis.statistics import Comparison, PrintedMean

#: Values of lost trials that are tried for a pair, at most.
_MOST_TRIED = 400


@dataclass(frozen=True)
class PrintedPair:
    """Two levels of a factor at one combination of the others."""

    metric: str
    factor: str
    a: Level
    b: Level
    #: The levels of the other factors.
    at: Mapping[str, Level]
    #: In SI units.
    mean_a: float
    mean_b: float
    #: `a - b`; `None` where the numbers allow no test, for which `why` has the reason.
    test: Comparison | None
    why: str
    #: What the test was made of.
    source: str
    #: Least and greatest p for all that lost trials can have been; `None` where none is lost.
    p_range: tuple[float, float] | None
    #: p corrected for all pairs of the factor.
    p_holm: float | None = None


@dataclass(frozen=True)
class _Mean:
    """A condition with what its test is made of."""

    metric: str
    condition: Mapping[str, Level]
    mean: float
    trials: PrintedTrials | None
    printed: PrintedMean | None


def printed_pairs(published: Published) -> tuple[PrintedPair, ...]:
    """
    All pairs of printed means that differ in one factor with names for levels, of which trials or
    standard deviations were printed: Welch's test, corrected by Holm's method over the pairs of a
    factor and metric.

    A lost trial is left out; how far it could have moved p is reported.
    """
    from lanlab.analysis.statistics import holm

    means = _means(published)
    named = [
        factor.name
        for factor in published.factor
        if factor.levels and any(isinstance(one.level, str) for one in factor.levels)
    ]
    # Versions of a protocol are names, too.
    named += [f.name for f in published.factor if f.name == "ip_version"]
    found: list[PrintedPair] = []
    for metric in dict.fromkeys(one.metric for one in means):
        for factor in named:
            own = [one for one in means if one.metric == metric and factor in one.condition]
            pairs = [
                _pair(a, b, factor)
                for a, b in itertools.combinations(own, 2)
                if _rest(a, factor) == _rest(b, factor)
            ]
            tested = [one for one in pairs if one.test is not None]
            corrected = holm([one.test.p_two_sided for one in tested if one.test is not None])
            by_pair = dict(zip(map(id, tested), corrected, strict=True))
            found += [replace(one, p_holm=by_pair.get(id(one))) for one in pairs]
    return tuple(found)


def _means(published: Published) -> list[_Mean]:
    """Every printed mean with trials or a deviation; trials without a printed mean have theirs."""
    from lanlab.analysis.statistics import PrintedMean

    own = [value for value in published.value if is_own(value)]
    printed = {
        _key(v.metric, v.condition): v for v in own if v.statistic == "mean" and v.bound is None
    }
    found = []
    for one in printed_trials_of(published):
        value = printed.get(_key(one.metric, one.condition))
        mean = one.mean if value is None else value.si
        found.append(_Mean(one.metric, one.condition, mean, one, None))
    count = printed_trials(published)
    deviations = {_key(v.metric, v.condition): v for v in own if v.statistic == "sd"}
    for key, value in printed.items():
        sd = deviations.get(key)
        if sd is not None and count is not None and count > 1:
            moments = PrintedMean(value.si, sd.si, count)
            found.append(_Mean(value.metric, value.condition, value.si, None, moments))
    return found


def _pair(a: _Mean, b: _Mean, factor: str) -> PrintedPair:
    from lanlab.analysis.statistics import welch_printed

    test, why, p_range, source = None, "", None, ""
    try:
        if a.trials is not None and b.trials is not None:
            source = f"{len(a.trials.values)} and {len(b.trials.values)} printed trials"
            test = _welch(a.trials, b.trials, (), ())
            p_range = _p_range(a.trials, b.trials)
        elif a.printed is not None and b.printed is not None:
            source = f"printed deviations of {a.printed.n} trials each"
            test = welch_printed(a.printed, b.printed)
        else:
            why = "trials of one, a deviation of the other"
    except LabError as error:
        why = error.message
    return PrintedPair(
        metric=a.metric,
        factor=factor,
        a=a.condition[factor],
        b=b.condition[factor],
        at=_rest(a, factor),
        mean_a=a.mean,
        mean_b=b.mean,
        test=test,
        why=why,
        source=source,
        p_range=p_range,
    )


def _welch(
    a: PrintedTrials, b: PrintedTrials, more_a: Sequence[float], more_b: Sequence[float]
) -> Comparison:
    from lanlab.analysis.statistics import welch

    step = max(a.resolution, b.resolution)
    return welch((*a.values, *more_a), (*b.values, *more_b), resolution=step)


def _p_range(a: PrintedTrials, b: PrintedTrials) -> tuple[float, float] | None:
    """p with every value that lost trials can have had, in steps of what was printed."""
    if not a.lost and not b.lost:
        return None
    grids = [_feasible(one) for one in (a, b)]
    if any(grid is None for grid in grids):
        return None
    tried_a, tried_b = (grid or [()] for grid in grids)
    if len(tried_a) * len(tried_b) > _MOST_TRIED:
        return None
    ps = [_welch(a, b, x, y).p_two_sided for x in tried_a for y in tried_b]
    return min(ps), max(ps)


def _feasible(trials: PrintedTrials) -> list[tuple[float, ...]] | None:
    """Values of the lost trials together; `None` where they are not known, or too many."""
    if not trials.lost:
        return [()]
    if len(trials.lost) > 1 or trials.resolution <= 0:
        return None
    [lost] = trials.lost
    if lost.feasible is None:
        return None
    # In printed units, as the trials that are left.
    per = _si_per_unit(trials, lost.unit)
    ends = [*lost.feasible, *(lost.feasible_if_truncated or ())]
    low, high = min(ends) * per, max(ends) * per
    steps = round((high - low) / trials.resolution)
    return [(low + step * trials.resolution,) for step in range(steps + 1)]


def _si_per_unit(trials: PrintedTrials, unit: str) -> float:
    sizes = {"s": 1e9, "ms": 1e6, "us": 1e3} if trials.metric.endswith("_ns") else {}
    return sizes.get(unit, 1.0)


def _rest(one: _Mean, factor: str) -> dict[str, Level]:
    return {key: level for key, level in one.condition.items() if key != factor}


def _key(metric: str, condition: Mapping[str, Level]) -> str:
    return repr((metric, sorted(condition.items())))
