"""Numbers as text. Drawing processes import this module, and little else of lanlab."""

from __future__ import annotations

import math
from collections.abc import Sequence

_MINUS = "\N{MINUS SIGN}"
_MOST_FACTOR = 10
_MOST_DIGITS = 6


def number(value: float, digits: int = 4) -> str:
    """
    A measured number as text: `digits` significant digits, thousands separators, no exponent.

    Examples:
        >>> number(1093.4), number(0.23806), number(98.96), number(98.0), number(12345.6), number(0)
        ('1,093', '0.2381', '98.96', '98.00', '12,346', '0')
        >>> number(1.4e-14), number(2.5)
        ('0', '2.500')
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{min(decimals, 9)}f}"
    return text.replace("-", _MINUS) if text.strip("-0.") else "0"


def plain(value: float) -> str:
    """
    A setting as text: in its shortest form, or to six digits for long fractions, as in the loads
    of a search.

    Examples:
        >>> plain(35.7), plain(1000.0), plain(128), plain(0.5), plain(0), plain(1093.059875)
        ('35.7', '1,000', '128', '0.5', '0', '1,093.06')
    """
    whole = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    text = f"{value:,.{min(6, max(1, 6 - whole))}f}".rstrip("0").rstrip(".")
    return text.replace("-", _MINUS)


def percent(ratio: float, digits: int = 3) -> str:
    """
    Format a share as a percentage. A share below 1 is never rounded to 100 %.

    Examples:
        >>> percent(0.9899), percent(1.0), percent(0.051), percent(0.99996), percent(1.0024)
        ('99.0 %', '100 %', '5.10 %', '99.9 %', '100.2 %')
    """
    shown = 100 * ratio
    if abs(shown - 100) < 1e-9:
        return "100 %"
    decimals = max(0, digits - len(str(int(abs(shown)))))
    if 99.5 < shown < 110:
        shown, decimals = (min(shown, 99.9) if shown < 100 else shown), 1
    return f"{shown:.{decimals}f} %".replace("-", _MINUS)


def too_few_text(count: int, least: int, unit: str = "trial") -> str:
    """
    Why so few trials or runs of each side show no order, and what to do.

    Examples:
        >>> too_few_text(3, 5)
        '3 trials each cannot show an order; run at least 5 (`--trials 5`, or `trials` of a study)'
    """
    is_of_run = unit == "trial"
    how = f"`--trials {least}`, or `trials` of a study" if is_of_run else f"`--alternate {least}`"
    return f"{counted(count, unit)} each cannot show an order; run at least {least} ({how})"


def counted(count: int, what: str) -> str:
    """A count with its noun, as in `1 trial` and `2 trials`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def listed(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def with_ends(value: float, ends: tuple[float, float] | None) -> str:
    """A value and its interval, as in `1.20 (1.10 … 1.30)`."""
    text = number(value, 3)
    return text if ends is None else f"{text} ({' … '.join(number(end, 3) for end in ends)})"


def joined(parts: Sequence[str], between: str = "and") -> str:
    """
    Parts as a list in a sentence.

    Examples:
        >>> joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"], "or")
        ('a', 'a and b', 'a, b or c')
    """
    return f" {between} ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def is_too_wide(value: float, ends: tuple[float, float]) -> bool:
    """Whether an interval says nothing: an end differs from the value by a factor above 10."""
    low, high = ends
    return high > _MOST_FACTOR * value > 0 or 0 < _MOST_FACTOR * low < value


def with_interval(
    value: float, ends: tuple[float, float] | None, unit: str = "", *, is_simulated: bool = False
) -> str:
    """
    A mean and its interval, to the second digit of the interval's shorter side: with `±` if both
    sides print alike, else with its ends. Without an interval for equal values, because they are
    not certain.

    Examples:
        >>> with_interval(50.5, (1e-9, 1e12), "Mbit/s"), with_interval(0.2381, None, "ms")
        ('about 50 Mbit/s (too few trials for an interval)', '0.2381 ms')
        >>> with_interval(1093.42, (1090.2, 1096.64)), with_interval(0.2381, None)
        ('1,093.4 ± 3.2', '0.2381')
        >>> with_interval(171.0, (60.9, 480.2)), with_interval(98.5, (98.5, 98.5))
        ('171 (61 … 480)', '98.50')
        >>> with_interval(0.02, (0.0, 0.0671)), with_interval(28.427154, (28.427109, 28.427199))
        ('0.020 (0 … 0.067)', '28.4272 ± 0.0001')
        >>> with_interval(26.5018, (26.4979, 26.5057), is_simulated=True)
        '26.5'
        >>> with_interval(98.3, (92.1, 104.5), is_simulated=True)
        '98.3 ± 6.2'
    """
    after = f" {unit}" if unit else ""
    if ends is not None and is_too_wide(value, ends):
        return f"about {number(value, 2)}{after} (too few trials for an interval)"
    return f"{_with_interval(value, ends, is_simulated)}{after}"


def _with_interval(value: float, ends: tuple[float, float] | None, is_simulated: bool) -> str:
    if is_simulated and all(number(end, 3) == number(value, 3) for end in ends or ()):
        return number(value, 3)
    if ends is None:
        return number(value)
    low, high = ends
    sides = [side for side in (value - low, high - value) if side > 0]
    if not sides:
        return number(value)
    decimals = min(9, max(0, 1 - math.floor(math.log10(min(sides)))))
    known = max(0, _MOST_DIGITS - 1 - math.floor(math.log10(abs(value)))) if value else decimals
    if decimals > known:
        # Round the half width up, never down.
        side = math.ceil(max(sides) * 10**known) / 10**known
        return f"{value:,.{known}f} ± {side:,.{known}f}".replace("-", _MINUS)
    below, above = (f"{side:,.{decimals}f}" for side in (value - low, high - value))
    if below == above:
        return f"{value:,.{decimals}f} ± {above}".replace("-", _MINUS)
    # An end above zero is never rounded to zero.
    shown = [f"{end:,.{decimals}f}" for end in ends]
    shown = [
        number(end, 1) if end == 0 or not float(text.replace(",", "")) else text
        for end, text in zip(ends, shown, strict=True)
    ]
    return f"{value:,.{decimals}f} ({' … '.join(shown)})".replace("-", _MINUS)
