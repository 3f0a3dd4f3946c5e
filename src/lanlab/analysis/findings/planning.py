"""How many trials would decide an undecided finding."""

from __future__ import annotations

import math

from lanlab.analysis.findings.contrast import Estimate
from lanlab.analysis.statistics.power import CAP, chance_to_show, least

POWER = 0.8


def trials_needed(
    estimate: Estimate, low: float | None, high: float | None, level: float
) -> int | None:
    """
    Trials per condition (or blocks) needed for a decision if effect and spread stay the same.

    Args:
        estimate: Estimate from all trials so far.
        low: Lower bound of the claim, on the estimate's scale.
        high: Upper bound.
        level: Two-sided, after the correction for multiple comparisons.

    Returns:
        `None` if it is more than `CAP`, or if no number is enough because the value lies on a
        bound or within the rounding of the published digits.
    """
    if estimate.basis != "tested":
        return None
    distances = _distances(estimate, low, high)
    if min(distances) <= 0:
        return None
    now = sum(estimate.n) / len(estimate.n)

    def power(n: int) -> float:
        df = estimate.df * (n - 1) / (now - 1)
        return chance_to_show(distances, estimate.error * math.sqrt(now / n), df, level / 2)

    return least(power, POWER, max(2, math.floor(now)), CAP)


def _distances(estimate: Estimate, low: float | None, high: float | None) -> list[float]:
    """The distance from the value to each bound, or only to the bound that it violates."""
    ends = []
    if low is not None:
        if estimate.value < low:
            return [low - estimate.value - estimate.above]
        ends.append(estimate.value - estimate.below - low)
    if high is not None:
        if estimate.value > high:
            return [estimate.value - estimate.below - high]
        ends.append(high - estimate.value - estimate.above)
    return ends
