"""The number of trials that an undecided claim needs, estimated from the measured spread."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy.special import chdtri, gammaln, ndtr, stdtrit

from lanlab.analysis.statistics.equivalence import Margin
from lanlab.analysis.statistics.samples import Floats, check_share
from lanlab.analysis.statistics.two_groups import Comparison, Design
from lanlab.errors import UsageError
from lanlab.frozen import dataclass

CAP = 1_000
#: With more trials per side, the uncertainty of the degrees of freedom has no effect.
_SURE_OF_DF = 60
_NODES = 160
_LEFT_OUT = 1e-14


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
            power outside 0 to 1, or a cap below 2.
    """
    if not (math.isfinite(mean_trial_s) and mean_trial_s > 0):
        raise UsageError(f"mean_trial_s: need seconds above 0, got {mean_trial_s:g}")
    if margin is not None and margin.scale != comparison.scale:
        raise UsageError(
            "margin: it must be on the comparison's scale",
            hint=f"the comparison is on the {comparison.scale} scale",
        )
    seen = comparison.scaled_effect
    by_block = comparison.sd_difference
    spread = (
        _Spread(comparison.sd_a, comparison.sd_b, "unpaired")
        if by_block is None
        else _Spread(by_block, by_block, "by block")
    )
    would_show: Literal["differs", "equivalent", "different"] = "differs"
    if margin is not None:
        low, high = margin.scaled
        would_show = "equivalent" if low < seen < high else "different"
        away = max(low - seen, seen - high)
    else:
        away = abs(seen)

    def chance(n: int) -> float:
        if margin is not None and would_show == "equivalent":
            return _encloses(seen, *margin.scaled, spread, n, level)
        return _detects(away, spread, n, level, two_sided=margin is None) if away > 0 else 0.0

    needed = _least(chance, level, power, cap)
    if needed is None:
        return Further(would_show, None, None, None, cap)
    further = max(0, needed - comparison.n_a) + max(0, needed - comparison.n_b)
    return Further(would_show, needed, further, further * mean_trial_s / 60, cap)


@dataclass(frozen=True)
class _Spread:
    a: float
    b: float
    design: Design

    def __post_init__(self) -> None:
        if not all(math.isfinite(sd) and sd > 0 for sd in (self.a, self.b)):
            raise UsageError(
                f"sd: need a number above 0, got {self.a:g} and {self.b:g}",
                hint="trials without any spread give no basis for a sample size",
            )

    def half_widths(self, n: int, tail: float) -> tuple[float, Floats, Floats]:
        """
        Possible intervals with `n` trials per side; `tail` is the probability beyond each end.

        Returns:
            The true standard error of the difference; half widths of the interval, and their
            probabilities, both of shape `(nodes,)`.
        """
        if self.design == "by block":
            error = self.a / math.sqrt(n)
            own, chances = _estimated_deviations(n - 1.0)
            return error, float(stdtrit(n - 1, 1 - tail)) * error * own, chances
        error = math.hypot(self.a, self.b) / math.sqrt(n)
        if n > _SURE_OF_DF:
            squares = self.a**2 + self.b**2
            df = (n - 1) * squares**2 / (self.a**4 + self.b**4)
            estimates, chances = _estimated_deviations(df)
            return error, float(stdtrit(df, 1 - tail)) * error * estimates, chances
        # Welch's degrees of freedom are estimated, too: with 2 trials per side they are often near
        # 1, where the quantile is 13 instead of 4.
        own, chances = _estimated_deviations(n - 1.0, 64, 1e-7)
        a, b = (sd**2 * own**2 / n for sd in (self.a, self.b))
        both = a[:, None] + b
        dfs = (n - 1) * both**2 / (a[:, None] ** 2 + b**2)
        halves = np.interp(dfs, *_quantiles(n, tail)) * np.sqrt(both)
        return error, halves.ravel(), np.outer(chances, chances).ravel()


@functools.cache
def _legendre(nodes: int) -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(nodes)


@functools.lru_cache(maxsize=256)
def _estimated_deviations(
    df: float, nodes: int = _NODES, left_out: float = _LEFT_OUT
) -> tuple[Floats, Floats]:
    """
    Values of an estimated standard deviation whose true value is 1, and their probabilities: nodes
    and weights for an integral, both of shape `(nodes,)`.

    Args:
        df: Degrees of freedom of the estimate, above 0.
        nodes: Number of nodes.
        left_out: Probability omitted at each end.
    """
    # Integrate over the logarithm: with few degrees of freedom the deviation spans decades.
    low, high = (0.5 * math.log(chdtri(df, p) / df) for p in (1 - left_out, left_out))
    places, weights = _legendre(nodes)
    logs = 0.5 * (high - low) * places + 0.5 * (high + low)
    squares = np.exp(2 * logs)
    log_density = df / 2 * math.log(df / 2) - gammaln(df / 2) + df * logs - df * squares / 2
    density = 2 * np.exp(log_density)
    return np.exp(logs), 0.5 * (high - low) * weights * density


@functools.lru_cache(maxsize=256)
def _quantiles(n: int, tail: float) -> tuple[Floats, Floats]:
    dfs = np.linspace(n - 1, 2 * (n - 1), 400)
    return dfs, np.asarray(stdtrit(dfs, 1 - tail))


def _detects(away: float, spread: _Spread, n: int, level: float, *, two_sided: bool) -> float:
    error, halves, chances = spread.half_widths(n, level / 2 if two_sided else level)
    found = float(chances @ ndtr((away - halves) / error))
    if two_sided:
        found += float(chances @ ndtr((-away - halves) / error))
    return min(1.0, found)


def _encloses(
    there: float, low: float, high: float, spread: _Spread, n: int, level: float
) -> float:
    """Probability that the interval of confidence 1 - 2 `level` lies between `low` and `high`."""
    error, halves, chances = spread.half_widths(n, level)
    inside = ndtr((high - halves - there) / error) - ndtr((low + halves - there) / error)
    return min(1.0, float(chances @ np.maximum(inside, 0.0)))


def _least(chance: Callable[[int], float], level: float, power: float, cap: int) -> int | None:
    check_share("level", level)
    check_share("power", power)
    if cap < 2:
        raise UsageError(f"cap: need at least 2, got {cap}")
    if chance(cap) < power:
        return None
    low, high = 1, 2
    while high < cap and chance(high) < power:
        low, high = high, min(cap, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(middle) >= power else (middle, high)
    return high
