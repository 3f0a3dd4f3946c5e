"""Whether trials are in two modes: most are alike, some differ by about the same factor, and none
is in between.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from lanlab.frozen import dataclass


class _Apart(NamedTuple):
    #: Gap between the modes: the nearest trial of the distant mode must be at least this many times
    #: as far from the middle as the furthest trial of the usual mode.
    gap: float
    #: Distant trials must be about equally far away: the greatest distance is at most this multiple
    #: of the least.
    alike: float


_OF_FEW = _Apart(4.0, 1.5)
#: With many trials the furthest usual one is further away, and random gaps beyond it are rare.
_OF_MANY = _Apart(2.5, 1.75)
_MANY = 12
#: Least numbers of distant trials, as a single one is an outlier, and of usual ones.
_LEAST_APART, _LEAST_USUAL = 2, 4


@dataclass(frozen=True)
class TwoModes:
    """Trials of one or more runs, relative to the median trial of their condition."""

    #: The faster mode's values divided by the slower mode's, above 1.
    ratio: float
    apart: int
    trials: int


def two_modes(conditions: Sequence[Sequence[float]]) -> TwoModes | None:
    """
    The modes of all trials together, if visible.

    Each trial is compared with the median trial of its condition, as a ratio. There are two modes
    if at least 2 trials are about equally far from it, at least 4 are close, and none is in
    between: the former must be 4 times as far away as any of the others, or 2.5 times with 12 or
    more trials. Modes that last for a whole condition, that are closer than the spread within each,
    or that are less than 0.5 % apart, are not visible.

    Args:
        conditions: Values of each condition's trials, for a metric compared as a ratio. Conditions
            with values not above zero, and single trials, are omitted.

    Examples:
        >>> two_modes([[100, 101, 70], [50, 50.2, 35], [80, 80.1, 79.8]])
        TwoModes(ratio=1.43, apart=2, trials=9)
        >>> two_modes([[100, 101, 99], [50, 52, 49], [80, 82, 79]]) is None
        True
        >>> two_modes([[100, 100, 100.1] * 4]) is None
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
            # Rounding errors and readings one step apart are no modes.
            if ratio > 1:
                return TwoModes(ratio, len(apart), sum(map(len, usable)))
    return None
