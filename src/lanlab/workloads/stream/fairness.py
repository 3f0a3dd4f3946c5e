"""How evenly flows share a bottleneck."""

from __future__ import annotations

import math
from collections.abc import Sequence


def jain_index(goodput_bps: Sequence[float]) -> float:
    """
    Jain's fairness index of flows that shared a bottleneck.

    Args:
        goodput_bps: Goodput of each flow over the same interval, bit/s, none negative. The index
            does not depend on the unit; the name states it so that callers do not mix two.

    Returns:
        Dimensionless, from `1 / flows` (one flow has everything) to 1 (all equal).

    Raises:
        ValueError: No flows, a value that is negative or not finite, or all zero (nothing arrived,
            so nothing was shared).

    Source:
        R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness and Discrimination for
        Resource Allocation in Shared Computer Systems", DEC-TR-301, 1984.

    Examples:
        >>> jain_index([10e6, 10e6, 10e6, 10e6])
        1.0
        >>> jain_index([40e6, 0, 0, 0])
        0.25
    """
    if not goodput_bps:
        raise ValueError("goodput_bps: need at least one flow; got none")
    if not all(math.isfinite(value) and value >= 0 for value in goodput_bps):
        raise ValueError("goodput_bps: every value must be finite and not negative")
    most = max(goodput_bps)
    if most == 0:
        raise ValueError("goodput_bps: every value is zero; shares need one above zero")
    # As shares of the maximum, so that squares of huge or tiny numbers do not overflow or
    # underflow.
    shares = [value / most for value in goodput_bps]
    index = math.fsum(shares) ** 2 / (len(shares) * math.fsum(share**2 for share in shares))
    return min(1.0, index)
