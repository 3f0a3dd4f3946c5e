"""
Two groups by the order of their values alone: the Mann-Whitney test and the Hodges-Lehmann shift.

The null distribution is exact, ties included, up to `MOST_EXACT` values in both groups: with few
trials that is where the test is used, and where the usual approximation is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from lanlab.analysis.statistics.samples import Floats, check_share, sample

#: Values in both groups up to which every assignment is counted.
MOST_EXACT = 60


@dataclass(frozen=True)
class RankComparison:
    """A condition `a` against a condition `b`, by order."""

    #: Pairs in which `a` is above `b`, ties as half; from 0 to `n_a n_b`.
    u: float
    #: `u` as a share of all pairs, 0 to 1: the chance that a trial of `a` is above one of `b`.
    superiority: float
    p_two_sided: float
    p_greater: float
    p_less: float
    #: The least two-sided p that any order of these values can give. Above the level that is asked
    #: for, the test cannot decide, whatever is measured.
    smallest_p: float
    #: Hodges-Lehmann: the median of all differences `a - b`, in the values' unit.
    shift: float
    #: The shift's interval; `None` if too few trials for one of this confidence.
    low: float | None
    high: float | None
    #: Of the interval: at least what was asked for; 1 without an interval.
    confidence: float
    n_a: int
    n_b: int
    exact: bool


def mann_whitney(
    a: Sequence[float], b: Sequence[float], *, confidence: float = 0.95
) -> RankComparison:
    """
    Whether one of two groups tends to be above the other.

    It is no test of medians: groups of unlike spread can differ without any shift. The shift and
    its interval take both groups to have one shape.

    Args:
        a: One value for each trial, any unit, at least 1.
        b: The same of the other condition.
        confidence: Of the shift's interval.

    Raises:
        UnfitValues: No values, or one that is not finite.

    Source:
        H. B. Mann, D. R. Whitney, "On a test of whether one of two random variables is
        stochastically larger than the other", Annals of Mathematical Statistics 18, 1947.
        J. L. Hodges, E. L. Lehmann, "Estimates of location based on rank tests", same, 34, 1963.

    Examples:
        >>> seen = mann_whitney([1, 2, 3], [4, 5, 6])
        >>> round(seen.p_two_sided, 6), round(seen.smallest_p, 6), seen.shift, seen.low
        (0.1, 0.1, -3.0, None)
    """
    check_share("confidence", confidence)
    array_a, array_b = sample("a", a, 1), sample("b", b, 1)
    differences = np.sort(np.subtract.outer(array_a, array_b), axis=None)
    u = float((differences > 0).sum()) + 0.5 * float((differences == 0).sum())
    sizes = int(array_a.size), int(array_b.size)
    exact = sum(sizes) <= MOST_EXACT
    null = _exact if exact else _approximate
    p_less, p_greater, smallest = null(np.concatenate((array_a, array_b)), sizes[0], u)
    low, high, attained = _shift_interval(differences, sizes, confidence)
    return RankComparison(
        u=u,
        superiority=u / differences.size,
        p_two_sided=min(1.0, 2 * min(p_less, p_greater)),
        p_greater=p_greater,
        p_less=p_less,
        smallest_p=min(1.0, smallest),
        shift=float(np.median(differences)),
        low=low,
        high=high,
        confidence=attained,
        n_a=sizes[0],
        n_b=sizes[1],
        exact=exact,
    )


def _exact(pooled: Floats, n_a: int, u: float) -> tuple[float, float, float]:
    """p for below, for above, and the smallest two-sided p, over all assignments of the values."""
    doubled = _doubled_ranks(pooled)
    chances = _rank_sum_chances(tuple(doubled), n_a)
    sums = np.arange(chances.size)
    seen = round(2 * u) + n_a * (n_a + 1)
    reachable = np.flatnonzero(chances)
    tails = chances[reachable[0]], chances[reachable[-1]]
    return (
        min(1.0, float(chances[sums <= seen].sum())),
        min(1.0, float(chances[sums >= seen].sum())),
        2 * float(min(tails)),
    )


def _doubled_ranks(pooled: Floats) -> list[int]:
    """Twice the mid-rank of each value, which is whole."""
    _, places, counts = np.unique(pooled, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return [int(rank) for rank in (2 * last - counts + 1)[places]]


def _rank_sum_chances(doubled_ranks: tuple[int, ...], n_a: int) -> Floats:
    """The chance of each doubled rank sum of `n_a` of the values, shape `(sums,)`."""
    ways = np.zeros((n_a + 1, sum(sorted(doubled_ranks)[-n_a:]) + 1))
    ways[0, 0] = 1
    for rank in doubled_ranks:
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    chances: Floats = ways[n_a] / math.comb(len(doubled_ranks), n_a)
    return chances


def _approximate(pooled: Floats, n_a: int, u: float) -> tuple[float, float, float]:
    """The same by the normal approximation, with corrections for ties and continuity."""
    n = pooled.size
    n_b = n - n_a
    _, counts = np.unique(pooled, return_counts=True)
    ties = float((counts.astype(float) ** 3 - counts).sum()) / (n * (n - 1))
    deviation = math.sqrt(n_a * n_b / 12 * (n + 1 - ties))
    smallest = math.exp(math.log(2) - _log_choices(n, n_a))
    if deviation == 0:
        return 1.0, 1.0, 1.0
    above = u - n_a * n_b / 2
    return (
        float(ndtr((above + 0.5) / deviation)),
        float(ndtr(-(above - 0.5) / deviation)),
        smallest,
    )


def _log_choices(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _shift_interval(
    differences: Floats, sizes: tuple[int, int], confidence: float
) -> tuple[float | None, float | None, float]:
    """Interval from the ordered differences, and the confidence that it has."""
    n_a, n_b = sizes
    left_out = (1 - confidence) / 2
    if n_a + n_b <= MOST_EXACT:
        # Without ties, whatever the values have: with them the interval is too wide, if anything.
        chances = _rank_sum_chances(tuple(range(2, 2 * (n_a + n_b) + 1, 2)), n_a)
        tail = np.cumsum(chances[n_a * (n_a + 1) :: 2])
    else:
        deviation = math.sqrt(n_a * n_b * (n_a + n_b + 1) / 12)
        tail = ndtr((np.arange(differences.size) + 0.5 - n_a * n_b / 2) / deviation)
    below = int(np.searchsorted(tail, left_out, side="right"))
    if below == 0:
        return None, None, 1.0
    # With c = `below`: U ≤ c - 1 has a chance of at most `left_out`, so the c-th difference bounds.
    return (
        float(differences[below - 1]),
        float(differences[-below]),
        1 - 2 * float(tail[below - 1]),
    )
