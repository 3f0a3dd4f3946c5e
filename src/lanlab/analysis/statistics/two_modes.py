"""Whether trials are in two modes: most alike, and some the same way apart, with none between."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from lanlab.frozen import dataclass


class _Apart(NamedTuple):
    #: Between the modes nothing lies: the nearest trial of the one is further from its like than
    #: the furthest of the other, by at least this factor.
    gap: float
    #: The distances of those apart are alike: the greatest is at most this many times the least.
    alike: float


_OF_FEW = _Apart(4.0, 1.5)
#: The furthest of many is further off, and chance seldom leaves a gap beyond it.
_OF_MANY = _Apart(2.5, 1.75)
_MANY = 12
#: One trial apart is an outlier, not a mode; and there must be a usual one to be apart from.
_LEAST_APART, _LEAST_USUAL = 2, 4


@dataclass(frozen=True)
class TwoModes:
    """Trials of one run, or several, around the middle trials of their conditions."""

    #: How many times the faster mode's values are those of the slower, above 1.
    ratio: float
    apart: int
    trials: int


def two_modes(conditions: Sequence[Sequence[float]]) -> TwoModes | None:
    """
    The modes of all trials together, where they can be seen.

    Each trial is held against the middle one of its condition, as a ratio. They are seen if at
    least 2 trials are about equally far from it, at least 4 are not, and none is between: the first
    are 4 times as far off as any of the others, or 2.5 times as any of 12 or more. What is in one
    mode in a whole condition cannot be seen there, nor can modes that the spread within each fills.

    Args:
        conditions: Of each the trials' values, of a metric that is compared as a ratio; those that
            are not all above zero are left out, as are single ones.

    Examples:
        >>> two_modes([[100, 101, 70], [50, 50.2, 35], [80, 80.1, 79.8]])
        TwoModes(ratio=1.43, apart=2, trials=9)
        >>> two_modes([[100, 101, 99], [50, 52, 49], [80, 82, 79]]) is None
        True
    """
    usable = [own for own in conditions if len(own) > 1 and min(own) > 0]
    distances = []
    for own in usable:
        middle = math.log(statistics.median_low(own))
        found = sorted(abs(math.log(value) - middle) for value in own)
        distances += found[1:]  # the middle trial is at no distance from itself
    distances.sort()
    for place in range(_LEAST_USUAL, len(distances) - _LEAST_APART + 1):
        usual, apart = distances[:place], distances[place:]
        wanted = _OF_FEW if place < _MANY else _OF_MANY
        if apart[0] > wanted.gap * usual[-1] and apart[-1] <= wanted.alike * apart[0]:
            ratio = round(math.exp(statistics.median(apart)), 2)
            return TwoModes(ratio, len(apart), sum(map(len, usable)))
    return None
