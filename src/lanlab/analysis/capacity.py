"""
The capacity that a search has measured, with its interval, and what that says of each loss goal.

The model: a trial carries a capacity of its own, lognormal from trial to trial, and of what it
carries a share is lost at random. Of a load beyond its capacity just that arrives, so that a lossy
trial shows the capacity, and one that is not says that it is higher. Where what arrives grows with
the load all the same, loss does not begin at a capacity: then each goal has a threshold of its own,
of which a trial says only whether it is higher or lower.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lanlab.plan import GoalResult, Observation, RandomLoss, SearchResult

if TYPE_CHECKING:
    from lanlab.analysis.statistics.threshold import ThresholdTrials

#: How a search ended for a goal. `not_steady`: the load varies from trial to trial by more than the
#: width that bounds shall have. The others are those of `GoalResult`.
Verdict = Literal[
    "found", "not_steady", "random_loss", "at_least_high", "sender_limited", "below_low",
    "undecided",
]  # fmt: skip

#: More loss than this is far beyond saturation, where a receiver may carry less.
_FAR_BEYOND = 0.2
#: Smallest spread that is told from none, where the number of messages is not known.
_RESOLUTION = 1e-4


@dataclass(frozen=True)
class Load:
    """A load with its 95 % interval, in the factor's unit."""

    median: float
    #: `None` where the trials do not end it.
    low: float | None
    high: float | None
    #: Standard deviation from trial to trial, as a share.
    spread_ratio: float

    def times(self, ratio: float) -> Load:
        """So many times the load."""
        ends = (None if end is None else end * ratio for end in (self.low, self.high))
        return Load(self.median * ratio, *ends, self.spread_ratio)


@dataclass(frozen=True)
class Capacity:
    """What the trials of a search say of the capacity."""

    #: Where loss begins to rise with load, median over trials; `None` if it was not reached, or
    #: loss rises gradually.
    load: Load | None
    #: Loss at every load, where it was seen.
    random_loss: RandomLoss | None
    #: Whether what arrives beyond the first loss grows with the load.
    is_gradual: bool
    #: Of each goal of the search: how it ended, and the median load up to which it is met.
    goals: tuple[tuple[Verdict, Load | None], ...]


def capacity(result: SearchResult, width_ratio: float) -> Capacity:
    """
    The capacity, and the load of each goal.

    Args:
        result: Of a search that has ended.
        width_ratio: How close the bounds of a goal shall be: capacity that varies more is not
            steady.
    """
    from lanlab.analysis.statistics.threshold import ThresholdTrials, follows_load, threshold

    loss, full = result.random_loss, result.full_length
    random = loss if loss is not None and loss.is_seen else None
    messages = [one.tried.messages for one in full if one.tried.messages > 0]
    resolution = max(1e-6, 1 / max(messages)) if messages else _RESOLUTION
    trials = _trials(full, loss)
    gradual = follows_load(trials, resolution=resolution)

    def load_of(seen: ThresholdTrials) -> Load | None:
        found = threshold(seen, resolution=resolution)
        return None if found is None else Load(
            found.median, found.low, found.high, found.spread_ratio
        )  # fmt: skip

    reached = len(trials.exact) > 1 and not gradual
    whole = load_of(trials) if reached else None
    if whole is not None and random is not None:
        # What is not known of the random loss is not known of the capacity.
        doubt = (random.high - random.low) / 2
        low = None if whole.low is None else whole.low * (1 - doubt)
        high = None if whole.high is None else whole.high * (1 + doubt)
        whole = Load(whole.median, low, high, whole.spread_ratio)
    lost = loss.ratio if loss is not None else 0.0

    def goal(one: GoalResult) -> tuple[Verdict, Load | None]:
        if one.kind not in ("found", "undecided"):
            return one.kind, None
        if whole is not None:
            load = whole.times((1 - lost) / (1 - one.loss_ratio))
        else:
            load = load_of(_either_side(full, one.loss_ratio)) if gradual else None
        if load is None:
            return one.kind, None
        return ("not_steady" if load.spread_ratio > width_ratio else "found"), load

    return Capacity(whole, random, gradual, tuple(goal(one) for one in result.goals))


def _trials(full: Sequence[Observation], loss: RandomLoss | None) -> ThresholdTrials:
    """What each trial says of its capacity."""
    from lanlab.analysis.statistics.threshold import ThresholdTrials

    exact, loads, above = [], [], []
    for load, tried in full:
        place = math.log(load)
        if not tried.loss_ratio or (loss is not None and loss.explains(tried)):
            above.append(place)
        elif tried.loss_ratio < _FAR_BEYOND:
            kept = 1 - (loss.ratio if loss is not None else 0.0)
            exact.append(place + math.log((1 - tried.loss_ratio) / kept))
            loads.append(place)
    return ThresholdTrials(exact, above, (), loads)


def _either_side(full: Sequence[Observation], loss_ratio: float) -> ThresholdTrials:
    from lanlab.analysis.statistics.threshold import ThresholdTrials

    above = [math.log(one.load) for one in full if one.tried.loss_ratio <= loss_ratio]
    below = [math.log(one.load) for one in full if one.tried.loss_ratio > loss_ratio]
    return ThresholdTrials((), above, below)
