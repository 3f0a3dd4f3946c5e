"""
Many tests at once.

The rule of families. A family is what is claimed together: the findings that one study declares
before its trials are seen, each counted once, tested on one run (or on one publication). Within it
p is adjusted by Holm's method, and the chance of a single false claim in the family stays at the
level. What is looked up in a table afterwards was not declared: it is exploration, and never mixed
into the family.
"""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.errors import UnfitValues


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """
    Adjusted p of declared claims: one at or below the level holds, at that level for all together.

    Args:
        p_values: One for each claim of a family, 0 to 1, with any dependence between them.

    Returns:
        As many, in the same order; none below its own p.

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
