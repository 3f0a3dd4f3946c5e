"""
The capacity found by a search with its interval, and the result for each loss goal.

The model: each trial has its own capacity, lognormally distributed. Below it, the trial loses a
random share of the messages; above it, exactly the capacity arrives. So a trial with losses shows
its capacity, and a trial without shows that it is higher. Losses below half the requested width of
the bounds count as random. If trials contradict the model (more arrives as the load grows, or a
goal is missed far below the capacity), loss rises gradually: each goal then has its own threshold,
and a trial only shows whether it is higher or lower. If capacities of successive trials are
correlated, as under lasting load, the interval is wider.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from lanlab.frozen import dataclass
from lanlab.plan.random_loss import Observation, RandomLoss, random_loss
from lanlab.plan.search_rule import GoalResult, SearchResult

if TYPE_CHECKING:
    from lanlab.analysis.statistics.threshold import Threshold, ThresholdTrials

#: How a search ended for a goal. `not_steady`: the load varies between trials by more than the
#: requested width of the bounds. `refuted`: a sweep of the same run met the goal at a higher load
#: (`lanlab.analysis.saturation.sweep_bound`). The others are those of `GoalResult`.
Verdict = Literal[
    "found", "not_steady", "refuted", "random_loss", "at_least_high", "sender_limited", "below_low",
    "undecided",
]  # fmt: skip

#: Higher losses mean a load far beyond saturation, where a receiver may carry less.
_FAR_BEYOND = 0.2
#: Distance below the lower end of the median's interval, in standard deviations. Further below,
#: two of three trials rarely have losses.
_FAR_SPREADS = 2.0
#: Smallest spread to assume if the number of messages is unknown.
_RESOLUTION = 1e-4


@dataclass(frozen=True)
class Load:
    """A load with its 95 % interval, in the factor's unit."""

    median: float
    #: `None` if the trials do not bound it.
    low: float | None
    high: float | None
    spread_ratio: float

    def times(self, ratio: float) -> Load:
        low, high = (None if end is None else end * ratio for end in (self.low, self.high))
        return Load(self.median * ratio, low, high, self.spread_ratio)

    def at_most(self, limit: float | None) -> Load:
        if limit is None:
            return self
        low, high = (None if end is None else min(end, limit) for end in (self.low, self.high))
        return Load(min(self.median, limit), low, high, self.spread_ratio)

    def not_below(self, bound: float | None) -> Load:
        """Raise the estimate to the highest load that most full-length trials met: if trials vary,
        the estimate from all of them can be lower.
        """
        if bound is None or bound <= self.median:
            return self
        high = None if self.high is None else max(self.high, bound)
        return Load(bound, self.low, high, self.spread_ratio)


@dataclass(frozen=True)
class Capacity:
    #: The load from which losses rise, median over trials; `None` if it was not reached, or losses
    #: rise gradually.
    load: Load | None
    random_loss: RandomLoss | None
    is_gradual: bool
    #: For each goal: how its search ended, and the load up to which the median trial meets it.
    goals: tuple[tuple[Verdict, Load | None], ...]
    #: Deviation of each informative trial's capacity from the median, natural logarithm, in order
    #: of measurement; empty without `load`.
    distances: tuple[float, ...] = ()


def capacity(result: SearchResult, width_ratio: float) -> Capacity:
    """
    The capacity, and the load of each goal.

    Args:
        result: Result of a search that has ended.
        width_ratio: Requested width of a goal's bounds: a capacity that varies more is not steady.
    """
    from lanlab.analysis.statistics.threshold import follows_load, threshold

    loss, full = result.random_loss, result.full_length
    random = loss if loss is not None and loss.is_seen else None
    messages = [one.tried.messages for one in full if one.tried.messages > 0]
    resolution = max(1e-6, 1 / max(messages)) if messages else _RESOLUTION
    trials = _trials(full, loss, width_ratio / 2)
    grows = follows_load(trials, resolution=resolution)

    def load_of(found: Threshold | None) -> Load | None:
        if found is None:
            return None
        return Load(found.median, found.low, found.high, found.spread_ratio)

    found = None if grows else threshold(trials, resolution=resolution)
    whole = load_of(found)
    if whole is not None and random is not None:
        # Add the uncertainty of the random loss to that of the capacity.
        doubt = (random.high - random.low) / 2
        low = None if whole.low is None else whole.low * (1 - doubt)
        high = None if whole.high is None else whole.high * (1 + doubt)
        whole = Load(whole.median, low, high, whole.spread_ratio)
    lost = loss.ratio if loss is not None else 0.0
    # Random loss may be rare far below the capacity and visible only near the bounds, so
    # estimate it from all trials below the capacity.
    wide = None
    if loss is not None and loss.lossy_trials and whole is not None and whole.low is not None:
        wide = random_loss(full, whole.low)

    def goal(one: GoalResult) -> tuple[Verdict, Load | None, bool]:
        if one.kind not in ("found", "undecided"):
            return one.kind, None, False
        load = whole and whole.times((1 - lost) / (1 - one.loss_ratio))
        missed = load is not None and one.upper is not None and one.upper < _least(load)
        # Half the goal, because one in 20 intervals of the random loss narrowly misses the truth.
        if missed and wide is not None and wide.forbids(one.loss_ratio / 2):
            return "random_loss", None, False
        if grows or missed:
            load = load_of(threshold(_either_side(full, one.loss_ratio), resolution=resolution))
        is_open = one.kind == "undecided" and one.lower is None and lost > one.loss_ratio
        if load is None or is_open:
            return one.kind, None, missed
        kind: Verdict = "not_steady" if load.spread_ratio > width_ratio else "found"
        return kind, load.not_below(one.lower), missed

    goals = [goal(one) for one in result.goals]
    if random is None and any(kind == "random_loss" for kind, *_ in goals):
        random = wide
    gradual = grows or any(missed for *_, missed in goals)
    ends = tuple((kind, load) for kind, load, _ in goals)
    return Capacity(whole, random, gradual, ends, () if found is None else found.distances)


def _least(load: Load) -> float:
    return (load.low or 0.0) * max(0.0, 1 - _FAR_SPREADS * load.spread_ratio)


def _trials(
    full: Sequence[Observation], loss: RandomLoss | None, least_ratio: float
) -> ThresholdTrials:
    from lanlab.analysis.statistics.threshold import ThresholdTrials

    exact, loads, above = [], [], []
    when: tuple[list[int], list[int]] = ([], [])
    kept = 1 - (loss.ratio if loss is not None else 0.0)
    if kept <= 0:
        return ThresholdTrials((), (), ())
    for place, (load, tried) in enumerate(full):
        chance = loss.most_ratio(tried.messages) if loss is not None else 0.0
        at_most = max(least_ratio, chance)
        if at_most >= 1:
            # With so few messages, all of them could be lost by chance.
            continue
        if tried.loss_ratio <= at_most:
            # Any capacity in between gives this bound, so the result does not depend on it.
            above.append(math.log(load * (1 - at_most) / kept))
            when[1].append(place)
        elif tried.loss_ratio < _FAR_BEYOND:
            exact.append(math.log(load * (1 - tried.loss_ratio) / kept))
            when[0].append(place)
            loads.append(math.log(load))
    return ThresholdTrials(exact, above, (), loads, (*when[0], *when[1]))


def _either_side(full: Sequence[Observation], loss_ratio: float) -> ThresholdTrials:
    from lanlab.analysis.statistics.threshold import ThresholdTrials

    above = [place for place, one in enumerate(full) if one.tried.loss_ratio <= loss_ratio]
    below = [place for place, one in enumerate(full) if one.tried.loss_ratio > loss_ratio]
    return ThresholdTrials(
        above=[math.log(full[place].load) for place in above],
        below=[math.log(full[place].load) for place in below],
        order=(*above, *below),
    )
