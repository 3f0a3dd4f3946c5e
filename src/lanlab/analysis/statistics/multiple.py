"""
Many tests at once.

The rule of families. A family is what is claimed together: the findings that one study declares
before its trials are seen, each counted once, tested on one run (or on one publication). Within it
p is adjusted by Holm's method, and the chance of a single false claim in the family stays at the
level. What is looked up in a table afterwards was not declared: it is exploration, marked as such,
adjusted by Benjamini and Hochberg (of what is called different, a share of `level` is wrong), and
never mixed into the family.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from lanlab.errors import UnfitValues

_Name = TypeVar("_Name", bound=Hashable)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """
    Adjusted p of declared claims: one at or below the level holds, at that level for all together.

    Args:
        p_values: One for each claim of a family, 0 to 1, whatever their dependence.

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


def holm_by_family(claims: Mapping[_Name, tuple[str, float]]) -> dict[_Name, float]:
    """
    Adjusted p of claims of several families, each within its own.

    Args:
        claims: Family and p of each claim, by the claim's name.

    Raises:
        UnfitValues: A p outside 0 to 1.

    Examples:
        >>> holm_by_family({"f1": ("printed", 0.01), "f2": ("printed", 0.04), "f3": ("ours", 0.04)})
        {'f1': 0.02, 'f2': 0.04, 'f3': 0.04}
    """
    adjusted: dict[_Name, float] = {}
    for family in {family for family, _ in claims.values()}:
        names = [name for name, (own, _) in claims.items() if own == family]
        adjusted |= zip(names, holm([claims[name][1] for name in names]), strict=True)
    return {name: adjusted[name] for name in claims}


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """
    Adjusted p of an exploration: of those at or below a level, a share of that level is wrong.

    Args:
        p_values: 0 to 1, independent or positively dependent.

    Returns:
        As many, in the same order.

    Raises:
        UnfitValues: A value outside 0 to 1.

    Source:
        Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
        Statistical Society B 57, 1995.

    Examples:
        >>> benjamini_hochberg([0.01, 0.04, 0.03])
        (0.03, 0.04, 0.04)
    """
    count = len(p_values)
    adjusted, most = [0.0] * count, 1.0
    for place, index in reversed(list(enumerate(_ascending(p_values), start=1))):
        most = min(most, p_values[index] * count / place)
        adjusted[index] = most
    return tuple(adjusted)


def _ascending(p_values: Sequence[float]) -> list[int]:
    for at, p in enumerate(p_values):
        if not 0 <= p <= 1:  # true of NaN, too
            raise UnfitValues(f"p_values: need numbers from 0 to 1, found {p:g} at position {at}")
    return sorted(range(len(p_values)), key=p_values.__getitem__)
