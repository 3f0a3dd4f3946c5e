"""The share of the trials' variation that a factor explains."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
from scipy.special import ncfdtr

from lanlab.analysis.statistics.samples import Scale, check_share, sample
from lanlab.errors import NoSpread, UnfitValues
from lanlab.frozen import dataclass


@dataclass(frozen=True)
class ExplainedShare:
    """The share of all variation that a factor explains, 0 to 1: eta squared."""

    share: float
    low: float
    high: float


def explained_share(
    values: Sequence[float],
    levels: Sequence[Hashable],
    *,
    scale: Scale = "linear",
    confidence: float = 0.95,
) -> ExplainedShare:
    """
    One-way analysis of variance as an effect size. Other factors that vary count as random
    variation.

    Args:
        values: One per trial, any unit.
        levels: The level of each trial, in the same order.
        scale: `log` for rates and times.
        confidence: Confidence of the interval.

    Raises:
        UnfitValues: Values that are not fit, levels of another number than values, one level, or as
            many levels as trials.
        NoSpread: At every level all trials are equal.

    Source:
        J. Steiger, "Beyond the F test", Psychological Methods 9, 2004.

    Examples:
        >>> seen = explained_share([1, 2, 3, 7, 8, 9], ["a", "a", "a", "b", "b", "b"])
        >>> f"{seen.share:.3f} ({seen.low:.2f} … {seen.high:.2f})"
        '0.931 (0.42 … 0.96)'
    """
    check_share("confidence", confidence)
    response = sample("values", values, 3, scale=scale)
    response = np.log(response) if scale == "log" else response
    n = response.size
    known = list(dict.fromkeys(levels))
    if len(levels) != n:
        raise UnfitValues(f"levels: need one for each of {n} values, got {len(levels)}")
    if not 2 <= len(known) < n:
        raise UnfitValues(f"levels: need at least 2 and fewer than {n} trials, got {len(known)}")
    centred = response - response.mean()
    groups = [centred[[level == one for level in levels]] for one in known]
    left = math.fsum(float(((group - group.mean()) ** 2).sum()) for group in groups)
    between = math.fsum(group.size * float(group.mean()) ** 2 for group in groups)
    equal = np.ptp(response) <= 8 * np.finfo(float).eps * np.abs(response).max()
    if equal or left <= 1e-24 * float(centred @ centred):
        raise NoSpread(
            "values: at every level all trials are equal",
            hint="without random variation no test applies; compare the means",
        )
    df, df_left = len(known) - 1, n - len(known)
    low, high = _interval(between / df / (left / df_left), df, df_left, n, confidence)
    return ExplainedShare(between / (between + left), low, high)


def _interval(f: float, df: int, df_left: int, n: int, confidence: float) -> tuple[float, float]:
    from scipy.optimize import brentq  # takes a sixth of a second to load

    def excess(noncentrality: float, chance: float) -> float:
        return float(ncfdtr(df, df_left, noncentrality, f)) - chance

    ends = []
    for chance in ((1 + confidence) / 2, (1 - confidence) / 2):
        if excess(0.0, chance) <= 0:
            ends.append(0.0)
            continue
        high = max(1.0, df * f)
        while excess(high, chance) > 0 and high < 1e9:
            high *= 2
        found = float(brentq(excess, 0.0, high, args=(chance,), xtol=1e-9))
        ends.append(found / (found + n))
    return ends[0], ends[1]
