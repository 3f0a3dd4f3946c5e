"""The number of trials that an undecided claim needs, estimated from the measured spread."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

from scipy.special import nctdtr, ndtr, stdtrit

from lanlab.analysis.statistics.equivalence import Margin
from lanlab.analysis.statistics.samples import check_share
from lanlab.analysis.statistics.two_groups import Comparison, Design
from lanlab.errors import UsageError
from lanlab.frozen import dataclass

CAP = 1_000
#: With two trials of each, the estimate of the spread itself decides, which is not counted here.
LEAST = 3
#: From this distance in standard errors, the normal distribution replaces Student's t.
_FAR = 30.0


@dataclass(frozen=True)
class Further:
    would_show: Literal["differs", "equivalent", "different"]
    #: Trials of each condition, including existing ones; `None` if out of reach.
    trials_per_side: int | None
    #: Additional trials of both conditions together; `None` if out of reach.
    further_trials: int | None
    #: Duration of the additional trials; `None` if out of reach.
    minutes: float | None
    cap: int

    def __str__(self) -> str:
        if self.further_trials is None or self.minutes is None:
            return f"not in reach: more than {self.cap} trials of each condition"
        return f"about {self.further_trials} more trials, {self.minutes:.0f} minutes"


def trials_to_decide(
    comparison: Comparison,
    *,
    mean_trial_s: float,
    margin: Margin | None = None,
    level: float = 0.05,
    power: float = 0.8,
    cap: int = CAP,
) -> Further:
    """
    Further trials needed to decide a comparison, if effect and spread stay as measured.

    This is an estimate from few trials. The number depends on the square of the measured effect,
    and so on its error.

    Args:
        comparison: An undecided comparison.
        mean_trial_s: Mean duration of a trial with its overhead, seconds.
        margin: The margin of an undecided equivalence. Whether the trials would show equivalence or
            a difference depends on the measured effect.
        level: Level of the undecided test.
        power: Probability of a decision.
        cap: More trials of each condition than this are out of reach.

    Raises:
        UsageError: A margin on another scale, a time that is not above 0, no spread, a level or
            power outside 0 to 1, or a cap below 3.
    """
    if not (math.isfinite(mean_trial_s) and mean_trial_s > 0):
        raise UsageError(f"mean_trial_s: need seconds above 0, got {mean_trial_s:g}")
    check_share("level", level)
    if margin is not None and margin.scale != comparison.scale:
        raise UsageError(
            "margin: it must be on the comparison's scale",
            hint=f"the comparison is on the {comparison.scale} scale",
        )
    seen = comparison.scaled_effect
    by_block = comparison.sd_difference
    spread = (
        Spread(comparison.sd_a, comparison.sd_b, "unpaired")
        if by_block is None
        else Spread(by_block, by_block, "by block")
    )
    would_show: Literal["differs", "equivalent", "different"] = "differs"
    distances, tail = [abs(seen)], level / 2
    if margin is not None:
        low, high = margin.scaled
        is_inside = low < seen < high
        would_show, tail = "equivalent" if is_inside else "different", level
        distances = [seen - low, high - seen] if is_inside else [max(low - seen, seen - high)]
    needed = spread.trials(distances, tail, power=power, cap=cap)
    if needed is None:
        return Further(would_show, None, None, None, cap)
    further = max(0, needed - comparison.n_a) + max(0, needed - comparison.n_b)
    return Further(would_show, needed, further, further * mean_trial_s / 60, cap)


@dataclass(frozen=True)
class Spread:
    """Standard deviations of two conditions; by block, that of their differences."""

    a: float
    b: float
    design: Design

    def __post_init__(self) -> None:
        if not all(math.isfinite(sd) and sd > 0 for sd in (self.a, self.b)):
            raise UsageError(
                f"sd: need a number above 0, got {self.a:g} and {self.b:g}",
                hint="trials without any spread give no basis for a sample size",
            )

    def error(self, n: int) -> tuple[float, float]:
        """The standard error of the difference with `n` trials of each, and its degrees of
        freedom.
        """
        if self.design == "by block":
            return self.a / math.sqrt(n), n - 1.0
        squares = self.a**2 + self.b**2
        return math.sqrt(squares / n), (n - 1) * squares**2 / (self.a**4 + self.b**4)

    def trials(
        self, distances: Sequence[float], tail: float, *, power: float, cap: int
    ) -> int | None:
        """The least number of trials that shows all distances; see `chance_to_show`."""
        check_share("tail", tail)
        check_share("power", power)
        if cap < LEAST:
            raise UsageError(f"cap: need at least {LEAST}, got {cap}")
        if min(distances) <= 0:
            return None
        return least(
            lambda n: chance_to_show(distances, *self.error(n), tail), power, LEAST - 1, cap
        )


def chance_to_show(distances: Sequence[float], error: float, df: float, tail: float) -> float:
    """
    Probability that one-sided t tests show a value to be on its side of all bounds, at least.

    Args:
        distances: From the true value to each bound.
        error: Standard error of the value, in the same unit.
        df: Its degrees of freedom.
        tail: One-sided level of each test.
    """
    critical = float(stdtrit(df, 1 - tail))
    return 1 - sum(1 - exceeds(distance / error, df, critical) for distance in distances)


def exceeds(noncentrality: float, df: float, critical: float) -> float:
    if noncentrality > _FAR:
        return float(ndtr(noncentrality - critical))
    return 1 - float(nctdtr(df, noncentrality, critical))


def least(chance: Callable[[int], float], power: float, few: int, many: int) -> int | None:
    """The least number above `few` with this chance; `None` if even `many` has less."""
    if chance(many) < power:
        return None
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if chance(middle) >= power else (middle, many)
    return many
