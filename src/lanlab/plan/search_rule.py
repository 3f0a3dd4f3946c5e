"""The goals of a search for saturation, its steps, and its result."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Literal, NamedTuple

from lanlab.frozen import dataclass
from lanlab.plan.bounds import Goal
from lanlab.plan.random_loss import Observation, RandomLoss

Kind = Literal["found", "random_loss", "at_least_high", "sender_limited", "below_low", "undecided"]


@dataclass(frozen=True)
class SearchRule:
    """The factor of the search, and its range in lanlab's units: `0 < low < high`."""

    factor: str
    low: int | float
    high: int | float
    #: `goodput_ratio` or `received_ratio`: the loss is 1 minus this.
    metric: str
    loss_goals: tuple[float, ...]
    short_time_s: float
    full_time_s: float
    #: Trials that decide about a load, short or full-length. Their number times their length is the
    #: Goal Duration Sum.
    trials: int = 3
    exceed_ratio: float = 0.5
    #: The bounds of a goal are close enough at this distance, as a share of the upper one [Goal
    #: Width].
    width_ratio: float = 0.01
    curve: int = 0
    curve_trials: int = 1
    seed: int = 0
    whole: bool = False

    def goals(self, time_s: float) -> tuple[Goal, ...]:
        sum_time_s = self.trials * time_s
        return tuple(Goal(r, time_s, sum_time_s, self.exceed_ratio) for r in self.loss_goals)

    @property
    def around(self) -> int:
        """Full-length trials around a bound for the interval of the capacity. The curve's trials
        count too: half of them are near.
        """
        return max(2, max(4, 2 * self.trials) - self.curve * self.curve_trials // 2)

    @property
    def far(self) -> int:
        """Full-length trials far below the bounds that come first, to see random loss."""
        return min(2, self.trials)

    @property
    def deciding_trials(self) -> int:
        return max(1, math.ceil(self.trials * (1 - self.exceed_ratio) - 1e-9))


@dataclass(frozen=True)
class SearchStep:
    level: int | float
    time_s: float
    #: `search` is a short trial, `confirm` a full-length one, `curve` one for the curve only.
    purpose: Literal["search", "confirm", "curve"]


@dataclass(frozen=True)
class GoalResult:
    """Where the search ended for one goal, loads in the factor's unit [Goal Result]."""

    loss_ratio: float
    #: `found`: both bounds are known, close together. `at_least_high`: the high end is a lower
    #: bound. `sender_limited`: the sender's highest load, below the high end, is a lower bound.
    #: `below_low`: the low end is an upper bound. `random_loss`: any load may lose too much.
    #: `undecided`: trials failed, or the system contradicted itself for too long.
    kind: Kind
    #: The highest load that met the goal in full-length trials [Relevant Lower Bound].
    lower: float | None = None
    upper: float | None = None
    throughput: float | None = None


@dataclass(frozen=True)
class SearchResult:
    goals: tuple[GoalResult, ...]
    #: The highest load that the sender really offered, if it could not offer the high end.
    sender_limit: float | None = None
    random_loss: RandomLoss | None = field(default=None, compare=False, repr=False)
    full_length: tuple[Observation, ...] = field(default=(), compare=False, repr=False)


class StepsLeft(NamedTuple):
    short: int
    full: int
