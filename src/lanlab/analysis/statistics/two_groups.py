"""
The difference between two conditions.

The default for lanlab's trials is `paired_by_block`, because they run in randomised blocks. Drift
between blocks then cancels out; unpaired, it would widen the interval. `welch` is for trials
without common blocks, and for published ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.special import gammaln, stdtr, stdtrit

from lanlab.analysis.statistics.neighbours import OF_TWO, Dependence, dependence
from lanlab.analysis.statistics.samples import (
    CONFIDENCE,
    Moments,
    PrintedMean,
    Scale,
    check_share,
    moments,
    pooled_sd,
    sample,
    satterthwaite,
    unscaled,
)
from lanlab.errors import NoSpread, UnfitValues
from lanlab.frozen import dataclass

Design = Literal["unpaired", "by block", "known spread"]


@dataclass(frozen=True)
class Comparison:
    """Condition `a` compared with condition `b`."""

    #: `a - b` in the values' unit; on a log scale `a / b`, of geometric means.
    effect: float
    #: The effect's interval, in the effect's unit.
    low: float
    high: float
    scale: Scale
    design: Design
    #: Effect and its standard error on the scale: of `ln(a / b)` for `log`.
    scaled_effect: float
    standard_error: float
    #: By Welch's formula; number of blocks - 1 by block; for a known spread, the spread's own.
    df: float
    p_two_sided: float
    #: The difference in standard deviations: of the trials (pooled), or by block of the
    #: differences. Corrected for the bias of few trials; `None` for two blocks, where undefined.
    hedges_g: float | None
    sd_a: float
    sd_b: float
    #: By block: standard deviation of the differences within blocks, on the scale. `None` unpaired.
    sd_difference: float | None
    n_a: int
    n_b: int

    @property
    def differs(self) -> bool:
        none = 1.0 if self.scale == "log" else 0.0
        return not self.low <= none <= self.high

    def interval(self, confidence: float) -> tuple[float, float]:
        check_share("confidence", confidence)
        half = float(stdtrit(self.df, 0.5 + confidence / 2)) * self.standard_error
        return (
            unscaled(self.scaled_effect - half, self.scale),
            unscaled(self.scaled_effect + half, self.scale),
        )


def welch(
    a: Sequence[float],
    b: Sequence[float],
    *,
    scale: Scale = "linear",
    in_order: bool = False,
) -> Comparison:
    """
    Compare two independent groups of trials with possibly different spreads: Welch's t test.

    Args:
        a: One value per trial, any unit, at least 2.
        b: The same for the other condition; the numbers may differ.
        scale: `log` compares as a ratio.
        in_order: Whether each group is in order of measurement. Then the weight of a group of 12 or
            more is reduced if successive trials are correlated (`neighbours`).

    Raises:
        UnfitValues: Fewer than 2, not finite, or not above zero on a log scale.
        NoSpread: All values of both groups are equal within their group. If one group alone has no
            spread, the other's carries the test, with its degrees of freedom.

    Source:
        B. L. Welch, "The generalization of Student's problem when several different population
        variances are involved", Biometrika 34, 1947. Effect: L. Hedges, "Distribution theory for
        Glass's estimator of effect size", Journal of Educational Statistics 6, 1981.

    Examples:
        >>> seen = welch([81, 84, 79, 82, 84], [117, 120, 121, 127, 126])
        >>> f"{seen.effect:.2f} s ({seen.low:.2f} … {seen.high:.2f})"
        '-40.20 s (-45.37 … -35.03)'
    """
    return _unpaired(
        moments("a", a, scale=scale),
        moments("b", b, scale=scale),
        [
            dependence([math.log(one) for one in own] if scale == "log" else own, OF_TWO)
            for own in (a, b)
        ]
        if in_order
        else None,
    )


def welch_printed(a: PrintedMean, b: PrintedMean, *, scale: Scale = "linear") -> Comparison:
    """
    Welch's test from published means, standard deviations and numbers of trials.

    `PrintedMean.moments` describes the log scale.

    Raises:
        UnfitValues: A mean is not above zero on a log scale.
        NoSpread: Both standard deviations are zero.
    """
    return _unpaired(a.moments(scale), b.moments(scale))


def paired_by_block(
    a: Mapping[int, float],
    b: Mapping[int, float],
    *,
    scale: Scale = "log",
) -> Comparison:
    """
    Compare two conditions measured in the same blocks: Student's t on the differences within
    blocks.

    Args:
        a: The value of each block, by the block's number.
        b: The same for the other condition. Blocks with only one of them are omitted.
        scale: `log` takes the ratio in each block.

    Raises:
        UnfitValues: Fewer than 2 common blocks, not finite, or not above zero on a log scale.
        NoSpread: The difference is the same in every block.

    Source:
        R. A. Fisher, "The Design of Experiments", 1935, chapters III and IV.
    """
    common = [block for block in a if block in b]
    if len(common) < 2:
        raise UnfitValues(
            f"a, b: need at least 2 common blocks, got {len(common)}",
            hint="run more blocks, or compare trials without common blocks by `welch`",
        )
    values_a = sample("a", (a[block] for block in common), 2, scale=scale)
    values_b = sample("b", (b[block] for block in common), 2, scale=scale)
    # `moments` takes the logarithms, after a check for equal ratios.
    differences = values_a / values_b if scale == "log" else values_a - values_b
    seen = moments("differences", differences, scale=scale)
    side_a, side_b = (moments("side", side, scale=scale) for side in (values_a, values_b))
    # Differences that should be equal have rounding errors relative to their operands.
    bits = 8 * np.finfo(float).eps * max(np.abs(values_a).max(), np.abs(values_b).max())
    equal = scale == "linear" and np.ptp(differences) <= bits
    sd = 0.0 if equal else seen.sd
    if sd == 0:
        raise NoSpread(
            f"a, b: the difference is the same in all {len(common)} blocks",
            hint="run more blocks",
        )
    df = len(common) - 1.0
    return _comparison(
        side_a,
        side_b,
        scaled_effect=seen.mean,
        standard_error=sd / math.sqrt(len(common)),
        df=df,
        hedges_g=unbiased_g(seen.mean / sd, df),
        sd_difference=sd,
    )


#: Up to this many blocks, all ways to exchange the sides are counted; else as many drawn ones.
_MOST_COUNTED = 16


def exchanged_p(differences: Sequence[float]) -> float:
    """
    Two-sided p of a mean difference within blocks, if the sides of each block may be exchanged. As
    their order is random, it needs no distribution.

    Source:
        R. A. Fisher, "The Design of Experiments", 1935, section 21.

    Examples:
        >>> round(exchanged_p([1.0] * 5), 3), round(exchanged_p([0.2, 0.0, -0.2] * 5), 3)
        (0.062, 1.0)
    """
    count = len(differences)
    if is_drawn := count > _MOST_COUNTED:
        ways = np.random.default_rng(count).integers(0, 2, (2**_MOST_COUNTED, count), dtype=np.int8)
    else:
        ways = np.arange(2**count)[:, None] >> np.arange(count) & 1
    sums = np.abs((2.0 * ways - 1.0) @ np.asarray(differences))
    reached = np.count_nonzero(sums >= abs(math.fsum(differences)) * (1 - 1e-9))
    # Among drawn ways, count the one that was measured.
    return (int(reached) + is_drawn) / (len(sums) + is_drawn)


@dataclass(frozen=True)
class KnownSpread:
    """The spread between values of one condition, known from other data."""

    #: Standard deviation on the scale, above 0.
    sd: float
    df: float


def by_spread(
    a: Sequence[float],
    b: Sequence[float],
    spread: KnownSpread,
    *,
    scale: Scale = "linear",
) -> Comparison:
    """
    Compare two groups, each of which may be a single value, by a spread known from other data.

    Args:
        a: One value per unit, any unit of measure, at least 1.
        b: The same for the other condition.
        spread: Spread of such values. The compared values do not change it.
        scale: `log` compares as a ratio.

    Raises:
        UnfitValues: No value, one not finite, or not above zero on a log scale.
        NoSpread: The spread is zero.

    Source:
        Student's t with an estimate of the variance that is independent of both means: G. E. P.
        Box, J. S. Hunter, W. G. Hunter, "Statistics for Experimenters", 2005, section 3.1 (a
        comparison by an external reference set).
    """
    side_a, side_b = (
        moments(name, values, scale=scale, at_least=1) for name, values in (("a", a), ("b", b))
    )
    if not spread.sd > 0:
        raise NoSpread(
            "spread: zero, because all values are equal",
            hint="measure more",
        )
    difference = side_a.mean - side_b.mean
    return _comparison(
        replace(side_a, sd=spread.sd),
        replace(side_b, sd=spread.sd),
        scaled_effect=difference,
        standard_error=spread.sd * math.sqrt(1 / side_a.n + 1 / side_b.n),
        df=spread.df,
        hedges_g=unbiased_g(difference / spread.sd, spread.df),
        design="known spread",
    )


def unbiased_g(standardised: float, df: float) -> float | None:
    """Hedges' g from a difference in standard deviations that have `df` degrees of freedom."""
    # Γ(df/2) / (√(df/2) Γ((df - 1)/2)), which has a pole at 1.
    if df <= 1:
        return None
    correction = math.exp(float(gammaln(df / 2) - gammaln((df - 1) / 2))) / math.sqrt(df / 2)
    return standardised * correction


def _unpaired(a: Moments, b: Moments, known: Sequence[Dependence] | None = None) -> Comparison:
    by_order = known or [Dependence(1.0, one.n - 1.0) for one in (a, b)]
    variances = [
        one.mean_variance * own.errors**2 for one, own in zip((a, b), by_order, strict=True)
    ]
    variance = sum(variances)
    if variance == 0:
        raise NoSpread(
            f"a, b: all values of a are equal, and all of b ({a.centre:g} and {b.centre:g})",
            hint="run more trials",
        )
    df = satterthwaite(
        [(part, own.degrees + 1) for part, own in zip(variances, by_order, strict=True)]
    )
    pooled = pooled_sd(a, b)
    return _comparison(
        a,
        b,
        scaled_effect=a.mean - b.mean,
        standard_error=math.sqrt(variance),
        df=df,
        hedges_g=unbiased_g((a.mean - b.mean) / pooled, a.n + b.n - 2),
    )


def _comparison(
    a: Moments,
    b: Moments,
    *,
    scaled_effect: float,
    standard_error: float,
    df: float,
    hedges_g: float | None,
    sd_difference: float | None = None,
    design: Design = "unpaired",
) -> Comparison:
    half = float(stdtrit(df, 0.5 + CONFIDENCE / 2)) * standard_error
    return Comparison(
        effect=unscaled(scaled_effect, a.scale),
        low=unscaled(scaled_effect - half, a.scale),
        high=unscaled(scaled_effect + half, a.scale),
        scale=a.scale,
        design=design if sd_difference is None else "by block",
        scaled_effect=scaled_effect,
        standard_error=standard_error,
        df=df,
        p_two_sided=2 * float(stdtr(df, -abs(scaled_effect) / standard_error)),
        hedges_g=hedges_g,
        sd_a=a.sd,
        sd_b=b.sd,
        sd_difference=sd_difference,
        n_a=a.n,
        n_b=b.n,
    )
