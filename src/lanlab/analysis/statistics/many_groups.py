"""
Many conditions at once: whether any differ, which pairs do, and their ranking.

Groups may spread differently and have different numbers of trials.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc

from lanlab.analysis.statistics.samples import (
    Moments,
    Scale,
    check_share,
    moments,
    satterthwaite,
    unscaled,
)
from lanlab.analysis.statistics.studentized_range import range_isf, range_sf
from lanlab.errors import NoSpread, UnfitValues


@dataclass(frozen=True)
class WelchAnova:
    """Whether any of several groups has another mean."""

    f: float
    df_between: float
    df_within: float
    p: float


@dataclass(frozen=True)
class Pair:
    """Two of several groups."""

    a: str
    b: str
    #: `a - b`; on a log scale `a / b`.
    effect: float
    #: Interval that holds for all pairs together.
    low: float
    high: float
    #: For all pairs together.
    p: float


@dataclass(frozen=True)
class Ranked:
    """A group's place among others."""

    name: str
    #: Arithmetic; geometric on a log scale.
    mean: float
    n: int
    #: From 1. Groups whose means cannot be told apart have overlapping places.
    best_place: int
    worst_place: int
    #: Groups that share a letter are not shown to differ.
    letters: str
    #: Groups that share a letter with this one, in the ranking's order.
    tied_with: tuple[str, ...]

    @property
    def place(self) -> str:
        """The place in words.

        Examples:
            >>> Ranked("a", 1.0, 5, 2, 3, "b", ("c",)).place
            '2 to 3, tied'
        """
        if not self.tied_with:
            return str(self.best_place)
        return f"{self.best_place} to {self.worst_place}, tied"


def welch_anova(
    groups: Mapping[str, Sequence[float]], *, scale: Scale = "linear", resolution: float = 0.0
) -> WelchAnova:
    """
    Whether any of several groups has another mean than the others.

    Args:
        groups: Values of at least two conditions by name, one for each trial, any one unit.
        scale: `log` for geometric means.
        resolution: The step in which the values were read, see `samples.moments`.

    Raises:
        UnfitValues: Fewer than two groups, or a group with fewer than 2 values or unfit ones.
        NoSpread: A group whose values are all equal. It would have all the weight.

    Source:
        B. L. Welch, "On the comparison of several mean values", Biometrika 38, 1951.
    """
    seen = _moments(groups, scale, resolution)
    for name, group in seen.items():
        if group.sd == 0:
            raise NoSpread(
                f"groups: all {group.n} values of `{name}` are equal",
                hint="give the resolution of the metric, or compare pairs (`games_howell`)",
            )
    k = len(seen)
    means = np.array([group.mean for group in seen.values()])
    weights = np.array([1 / group.mean_variance for group in seen.values()])
    dfs = np.array([group.n - 1 for group in seen.values()])
    shares = weights / weights.sum()
    grand = float(shares @ means)
    lost = float(((1 - shares) ** 2 / dfs).sum())
    between = float(weights @ (means - grand) ** 2) / (k - 1)
    f = between / (1 + 2 * (k - 2) / (k**2 - 1) * lost)
    df_within = (k**2 - 1) / (3 * lost)
    return WelchAnova(f, k - 1.0, df_within, float(fdtrc(k - 1, df_within, f)))


def games_howell(
    groups: Mapping[str, Sequence[float]],
    *,
    scale: Scale = "linear",
    confidence: float = 0.95,
    resolution: float = 0.0,
) -> tuple[Pair, ...]:
    """
    All pairs of several groups, with intervals and p that hold for all together.

    Args:
        groups: As for `welch_anova`.
        scale: `log` compares as ratios.
        confidence: Of all intervals together.
        resolution: The step in which the values were read, see `samples.moments`.

    Returns:
        Each pair once, in the order of `groups`.

    Raises:
        UnfitValues: As for `welch_anova`.
        NoSpread: A pair in which all values of either group are equal.

    Source:
        P. A. Games, J. F. Howell, "Pairwise multiple comparison procedures with unequal N's and/or
        variances", Journal of Educational Statistics 1, 1976.
    """
    check_share("confidence", confidence)
    return tuple(_pairs(_moments(groups, scale, resolution), confidence))


def rank(
    groups: Mapping[str, Sequence[float]],
    *,
    greatest_first: bool,
    scale: Scale = "linear",
    confidence: float = 0.95,
    resolution: float = 0.0,
) -> tuple[Ranked, ...]:
    """
    Groups in the order of their means, with letters that say which are not shown to differ.

    Args:
        groups: As for `welch_anova`.
        greatest_first: Whether more is better.
        scale: `log` for geometric means and ratios.
        confidence: That no two groups of equal means are told apart.
        resolution: The step in which the values were read, see `samples.moments`.

    Returns:
        Best first. A shared letter is a tie, not a proof of equality: see `equivalence`.

    Raises:
        As `games_howell`.

    Source:
        H.-P. Piepho, "An algorithm for a letter-based representation of all-pairwise comparisons",
        Journal of Computational and Graphical Statistics 13, 2004.

    Examples:
        >>> times_s = {"tcp": [82, 84, 79], "nwlink": [120, 121, 127], "netbeui": [126, 125, 129]}
        >>> seen = rank(times_s, greatest_first=False)
        >>> [(row.name, row.letters, row.place) for row in seen]
        [('tcp', 'a', '1'), ('nwlink', 'b', '2 to 3, tied'), ('netbeui', 'b', '2 to 3, tied')]
    """
    check_share("confidence", confidence)
    seen = _moments(groups, scale, resolution)
    sign = -1 if greatest_first else 1
    order = sorted(seen, key=lambda name: sign * seen[name].mean)
    place = {name: at for at, name in enumerate(order)}
    differing = {
        frozenset((place[pair.a], place[pair.b]))
        for pair in _pairs(seen, confidence)
        if pair.p <= 1 - confidence
    }
    columns = _letters(len(order), differing)
    ranked = []
    for at, name in enumerate(order):
        mine = [letter for letter, members in enumerate(columns) if at in members]
        tied = {other for letter in mine for other in columns[letter]} - {at}
        others = [other for other in range(len(order)) if frozenset((at, other)) in differing]
        ranked.append(
            Ranked(
                name=name,
                mean=seen[name].centre,
                n=seen[name].n,
                best_place=1 + sum(other < at for other in others),
                worst_place=len(order) - sum(other > at for other in others),
                letters="".join(_letter(letter) for letter in mine),
                tied_with=tuple(order[other] for other in sorted(tied)),
            )
        )
    return tuple(ranked)


def _moments(
    groups: Mapping[str, Sequence[float]], scale: Scale, resolution: float
) -> dict[str, Moments]:
    if len(groups) < 2:
        raise UnfitValues(f"groups: need at least 2, got {len(groups)}")
    return {
        name: moments(f"group `{name}`", values, scale=scale, resolution=resolution)
        for name, values in groups.items()
    }


def _pairs(groups: Mapping[str, Moments], confidence: float) -> list[Pair]:
    names, count = list(groups), len(groups)
    pairs = []
    for at, name in enumerate(names):
        for other in names[at + 1 :]:
            a, b = groups[name], groups[other]
            variance = a.mean_variance + b.mean_variance
            if variance == 0:
                raise NoSpread(
                    f"groups: all values of `{name}` are equal, and all of `{other}`",
                    hint="give the resolution of the metric",
                )
            df = satterthwaite([(a.mean_variance, a.n), (b.mean_variance, b.n)])
            # The range is in standard deviations of one mean: √2 times those of a difference.
            error = math.sqrt(variance / 2)
            difference = a.mean - b.mean
            half = range_isf(1 - confidence, count, df) * error
            pairs.append(
                Pair(
                    a=name,
                    b=other,
                    effect=unscaled(difference, a.scale),
                    low=unscaled(difference - half, a.scale),
                    high=unscaled(difference + half, a.scale),
                    p=range_sf(abs(difference) / error, count, df),
                )
            )
    return pairs


def _letters(count: int, differing: set[frozenset[int]]) -> list[frozenset[int]]:
    """Sets of groups, each one letter, so that a pair shares one exactly if it does not differ."""
    columns = [frozenset(range(count))]
    for pair in sorted(differing, key=sorted):
        one, other = sorted(pair)
        split = []
        for column in columns:
            split += [column - {one}, column - {other}] if pair <= column else [column]
        columns = [
            column
            for at, column in enumerate(split)
            if not any(
                column < wider or (column == wider and before < at)
                for before, wider in enumerate(split)
            )
        ]
    return sorted(columns, key=sorted)


def _letter(index: int) -> str:
    """a to z, then a1 to z1: a second letter would look like a second tie."""
    turn, letter = divmod(index, 26)
    return chr(ord("a") + letter) + (str(turn) if turn else "")
