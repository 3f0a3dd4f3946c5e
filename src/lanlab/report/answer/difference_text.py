"""A difference of two values in words."""

from __future__ import annotations

from lanlab.figures.number_text import number

#: From this factor on, ratios are factors: "3.4 times higher", not "240 % higher".
_AS_FACTOR = 2.0


def difference_text(
    ratio: float, interval: tuple[float, float] | None, more: str, less: str
) -> str:
    """
    A ratio as a percentage, or as a factor if it is large, with its interval.

    Examples:
        >>> difference_text(0.917, (0.88, 0.96), "higher", "lower")
        '8.3 % lower (4.0 to 12 %)'
        >>> difference_text(3.0, None, "longer", "shorter")
        '3.0 times longer'
        >>> difference_text(0.4, (0.38, 0.43), "faster", "slower")
        '2.5 times slower (2.3 to 2.6)'
    """
    is_more = ratio >= 1
    is_factor = not 1 / _AS_FACTOR < ratio < _AS_FACTOR

    def size(of: float) -> float:
        if is_factor:
            return of if is_more else 1 / of
        return 100 * (of - 1 if is_more else 1 - of)

    unit, digits = (" times" if is_factor else " %"), 2
    ends = sorted(map(size, interval or ()))
    if ends and number(ends[0], 2) == number(ends[1], 2):
        # A narrow interval has one more digit.
        digits = 3
    text = f"{number(size(ratio), digits)}{unit} {more if is_more else less}"
    if not ends:
        return text
    said = " to ".join(number(end, digits) for end in ends)
    return f"{text} ({said}{'' if is_factor else ' %'})"
