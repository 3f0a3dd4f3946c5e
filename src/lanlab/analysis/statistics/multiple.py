"""
Many tests at once.

A family contains all claims made together: the findings that a study declares before its trials are
seen, each once, tested on one run (or one publication). Within a family, p is adjusted by Holm's
method, which limits the probability of any false claim to the level. What a reader notices in a
table afterwards is exploration, and not part of the family.
"""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.errors import UnfitValues


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """
    Adjusted p of declared claims. The claims whose p is at or below a level hold; any of them is
    false with at most that probability.

    Args:
        p_values: One per claim of a family, 0 to 1; they may depend on each other.

    Returns:
        As many, in the same order, each at least its own p.

    Raises:
        UnfitValues: A value outside 0 to 1.

    Source:
        S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
        Statistics 6, 1979.

    Examples:
        >>> holm([0.01, 0.04, 0.03])
        (0.03, 0.06, 0.06)
    """
    adjusted, least = [0.0] * len(p_values), 0.0
    for place, index in enumerate(_ascending(p_values)):
        least = max(least, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = least
    return tuple(adjusted)


def _ascending(p_values: Sequence[float]) -> list[int]:
    for at, p in enumerate(p_values):
        if not 0 <= p <= 1:  # true of NaN, too
            raise UnfitValues(f"p_values: need numbers from 0 to 1, found {p:g} at position {at}")
    return sorted(range(len(p_values)), key=p_values.__getitem__)
