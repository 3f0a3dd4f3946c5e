"""The loads at which to measure the curve of received share against load, once its bounds are
known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

#: Extent of the dense part beyond the outermost bounds, as a share of them.
_BESIDE_RATIO = 0.1


def curve_levels(
    count: int, low: float, high: float, bounds: Sequence[float], *, whole: bool
) -> tuple[float, ...]:
    """
    Loads for a curve, ascending: one half evenly from `low` to `high`, the other between a tenth
    below the lowest of `bounds` and a tenth above the highest, where the curve bends.

    Args:
        count: Number of loads; equal ones are merged.
        bounds: If empty, all loads are spread evenly.
        whole: Whether loads are whole numbers.

    Examples:
        >>> curve_levels(6, 100, 1300, [1000, 1100], whole=True)
        (100, 700, 900, 1055, 1210, 1300)
    """
    near = count // 2 if bounds else 0
    levels = _spread(low, high, count - near)
    if near:
        start = max(low, (1 - _BESIDE_RATIO) * min(bounds))
        levels += _spread(start, min(high, (1 + _BESIDE_RATIO) * max(bounds)), near)
    return tuple(sorted({math.floor(level + 0.5) if whole else level for level in levels}))


def _spread(first: float, last: float, count: int) -> list[float]:
    if count == 1:
        return [(first + last) / 2]
    return [first + (last - first) * place / (count - 1) for place in range(count)]
