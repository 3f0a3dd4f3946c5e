"""
What a metric does along ordered levels: whether it rises, how nearly always, and whether it peaks.

A trend test alone says only that later levels tend to be above earlier ones; how far the means are
from rising throughout is an effect of its own (`monotonicity`), and both belong to a claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lanlab.analysis.statistics.samples import Floats, Scale, moments, sample
from lanlab.analysis.statistics.two_groups import Comparison, welch
from lanlab.errors import NoSpread, UnfitValues

Direction = Literal["up", "down"]


@dataclass(frozen=True)
class Trend:
    """Whether values rise (or fall) along ordered levels."""

    #: Jonckheere and Terpstra's: pairs of trials of two levels that are in the claimed order, ties
    #: as half.
    ordered_pairs: float
    #: All pairs of trials of two levels.
    pairs: int
    #: Kendall's tau-b of level and value, positive if as claimed.
    tau: float
    #: One-sided, in the claimed direction.
    p: float
    direction: Direction
    n: int


@dataclass(frozen=True)
class Monotonicity:
    """How nearly means rise (or fall) throughout."""

    #: The nearest means that never go against the direction, in the values' unit.
    fitted: tuple[float, ...]
    #: Of the variation between levels, the share that these explain: 1 if there is no reversal.
    explained: float
    #: The greatest step against the direction from one level to any later one, as a share of the
    #: former; 0 if none. `None` if a level's mean is not above zero.
    largest_reversal_ratio: float | None
    #: The same in the values' unit.
    largest_reversal: float
    #: The levels of that step, as places from 0; `None` if there is none.
    reversal_at: tuple[int, int] | None
    direction: Direction


@dataclass(frozen=True)
class PeakThenDecline:
    """Whether means rise to a peak and fall after it."""

    #: Place of the greatest mean, from 0.
    peak: int
    #: The peak against the first level, `None` if it is the first; against the last likewise.
    rise: Comparison | None
    decline: Comparison | None
    #: One-sided p, for that the peak was picked as the greatest of several; 1 where there is none.
    rise_p: float
    decline_p: float


def ordered_trend(levels: Sequence[Sequence[float]], direction: Direction) -> Trend:
    """
    Jonckheere and Terpstra's test for a trend over ordered levels, as Kendall's tau.

    Args:
        levels: Values of each level, in the order of the levels, one for each trial.
        direction: What is claimed. It must come from the claim, not from the values.

    Raises:
        UnfitValues: Fewer than 2 levels, or a level without a value or with one that is unfit.
        NoSpread: All values are equal.

    Source:
        A. R. Jonckheere, "A distribution-free k-sample test against ordered alternatives",
        Biometrika 41, 1954. That Kendall's tau with tied levels is the same test: M. G. Kendall,
        "Rank Correlation Methods", 1948.

    Examples:
        >>> seen = ordered_trend([[1, 2], [2, 3], [4, 5]], "up")
        >>> seen.ordered_pairs, seen.pairs, round(seen.p, 4)
        (11.5, 12, 0.0132)
    """
    from scipy import stats

    seen = _checked(levels)
    place = np.concatenate([np.full(own.size, at) for at, own in enumerate(seen)])
    values = np.concatenate(seen)
    if np.ptp(values) == 0:
        raise NoSpread("levels: all values are equal, so that there is no order")
    sign = 1 if direction == "up" else -1
    found = stats.kendalltau(place, sign * values, alternative="greater")
    ordered, pairs = 0.0, 0
    for at, own in enumerate(seen):
        for later in seen[at + 1 :]:
            steps = sign * np.subtract.outer(later, own)
            ordered += float((steps > 0).sum()) + 0.5 * float((steps == 0).sum())
            pairs += steps.size
    return Trend(
        ordered_pairs=ordered,
        pairs=pairs,
        tau=float(found.statistic),
        p=float(found.pvalue),
        direction=direction,
        n=int(values.size),
    )


def monotonicity(levels: Sequence[Sequence[float]], direction: Direction) -> Monotonicity:
    """
    How nearly the means of ordered levels rise (or fall) throughout, by isotonic regression.

    Args:
        levels: As for `ordered_trend`; a level weighs as many trials as it has. Single published
            means are levels of one value.
        direction: What is claimed.

    Raises:
        UnfitValues: As for `ordered_trend`.

    Source:
        R. E. Barlow and others, "Statistical Inference under Order Restrictions", 1972.

    Examples:
        >>> seen = monotonicity([[10], [20], [19], [30]], "up")
        >>> seen.fitted, seen.largest_reversal_ratio, seen.reversal_at
        ((10.0, 19.5, 19.5, 30.0), 0.05, (1, 2))
    """
    from scipy.optimize import isotonic_regression  # takes a sixth of a second to load

    seen = _checked(levels)
    means = np.array([own.mean() for own in seen])
    weights = np.array([float(own.size) for own in seen])
    fitted = np.asarray(isotonic_regression(means, weights=weights, increasing=direction == "up").x)
    between = float(weights @ (means - np.average(means, weights=weights)) ** 2)
    left = float(weights @ (means - fitted) ** 2)
    sign = 1 if direction == "up" else -1
    reversals = np.triu(sign * np.subtract.outer(means, means), k=1)
    former, later = np.unravel_index(int(reversals.argmax()), reversals.shape)
    largest = float(reversals[former, later])
    positive = bool((means > 0).all())
    shares = reversals / means[:, None] if positive else None
    return Monotonicity(
        fitted=tuple(float(mean) for mean in fitted),
        explained=1 - left / between if between > 0 else 1.0,
        largest_reversal_ratio=None if shares is None else max(0.0, float(shares.max())),
        largest_reversal=max(0.0, largest),
        reversal_at=(int(former), int(later)) if largest > 0 else None,
        direction=direction,
    )


def peak_then_decline(
    levels: Sequence[Sequence[float]], *, scale: Scale = "log", confidence: float = 0.95
) -> PeakThenDecline:
    """
    Whether the greatest mean is above the first and above the last level: two Welch tests.

    The greatest of several means is partly the luckiest, so the one-sided p are multiplied by the
    number of levels that could have been the peak (Bonferroni).

    Args:
        levels: Values of each level, in the order of the levels, at least 3 levels of at least 2.
        scale: Of the comparisons.
        confidence: Of their intervals, which are not corrected for the choice of the peak.

    Raises:
        UnfitValues: Fewer levels or values, or unfit ones.
        NoSpread: The peak and an end have no spread.
    """
    seen = _checked(levels)
    if len(seen) < 3:
        raise UnfitValues(f"levels: need at least 3 for a peak, got {len(seen)}")
    peak = int(np.argmax([moments("levels", own, scale=scale).mean for own in seen]))
    candidates = len(seen) - 1

    def against(other: int) -> tuple[Comparison | None, float]:
        if other == peak:
            return None, 1.0
        found = welch(list(seen[peak]), list(seen[other]), scale=scale, confidence=confidence)
        return found, min(1.0, candidates * found.p_greater)

    (rise, rise_p), (decline, decline_p) = against(0), against(len(seen) - 1)
    return PeakThenDecline(peak, rise, decline, rise_p, decline_p)


def _checked(levels: Sequence[Sequence[float]]) -> list[Floats]:
    if len(levels) < 2:
        raise UnfitValues(f"levels: need at least 2, got {len(levels)}")
    return [sample(f"level {at}", own, 1) for at, own in enumerate(levels)]
