"""
Parses and formats quantities as people write them.

Internally a rate is whole bit/s, a size whole bytes and a time seconds. The command line, study
files and reports convert other units with this module. kB is 1000 B, KiB is 1024 B.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from lanlab.errors import UsageError, closest

_N = TypeVar("_N", int, float)

#: ASCII digits only, because `\d` and `float` accept digits of every script.
_NUMBER = re.compile(
    r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,2}))?\s*([A-Za-zµ/]*)\s*"
)
PLAIN_NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?\s*")
_WITH_COMMA = re.compile(r"[+-]?[0-9.]*,[0-9]+[^0-9,]*", re.DOTALL)
_COMMA = "has a comma in its number; write it with a decimal point, or without it"
_HUGE_EXPONENT = re.compile(r"[0-9.]+[eE][+-]?[0-9]{3,}.*", re.DOTALL)
_SHARE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,2}))?\s*(%?)\s*")

#: Longer durations are written with an exponent.
_MOST_SECONDS = 10**12
#: The space between a number and its unit, full or half width.
_BEFORE_UNIT = re.compile(
    r"(?<=[0-9]) (?=(?:(?:[kKMGTPnmµ]i?)?(?:bit|B|s|Hz)(?:/[a-zA-Z]+)?(?![A-Za-zµ])|%|±))"
    r"|(?<=±) (?=[0-9])"
)
_NO_BREAK = "\u00a0"

_DECIMAL = {"k": 10**3, "M": 10**6, "G": 10**9}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
#: Bits have no milli prefix and no binary prefixes, so case does not matter.
_BIT_PREFIXES = {"": 1, "K": 10**3, "m": 10**6, "g": 10**9, **_DECIMAL}
_BIT_WORDS = ("bit", "Bit", "bits", "Bits")
_BYTE_PREFIXES = {"": 1, **_DECIMAL, **_BINARY}
_BIT_RATE = {
    "": 1,
    **_DECIMAL,
    **{f"{prefix}bps": factor for prefix, factor in {"": 1, "K": 10**3, **_DECIMAL}.items()},
    **{f"{prefix}b/s": factor for prefix, factor in {"": 1, "K": 10**3, **_DECIMAL}.items()},
    # Units as tc (`5mbit`) and iperf (`5 Mbits/sec`) write them.
    **{
        f"{prefix}{word}{end}": factor
        for prefix, factor in _BIT_PREFIXES.items()
        for word in _BIT_WORDS
        for end in ("", "/s", "/sec", "ps")
    },
    **{
        f"{prefix}B{end}": 8 * factor
        for prefix, factor in _BYTE_PREFIXES.items()
        for end in ("/s", "/sec", "ps")
    },
}
_SIZE = {
    "": 1,
    "B": 1,
    "byte": 1,
    "bytes": 1,
    **_DECIMAL,
    **_BINARY,
    **{f"{prefix}B": factor for prefix, factor in (_DECIMAL | _BINARY).items()},
}
_TIME = {
    "": 1.0,
    "s": 1.0,
    "sec": 1.0,
    "second": 1.0,
    "seconds": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "min": 60.0,
    "m": 60.0,
    "minute": 60.0,
    "minutes": 60.0,
    "h": 3600.0,
    "hour": 3600.0,
    "hours": 3600.0,
}
#: The units that error messages list and suggest for a mistyped unit.
_SHOWN: Mapping[str, tuple[str, ...]] = {
    "rate": (
        *("bit/s", "k", "M", "G", "kbit/s", "Mbit/s", "Gbit/s", "B/s", "kB/s", "MB/s", "GB/s"),
        *("KiB/s", "MiB/s", "GiB/s"),
    ),
    "size": ("B", "k", "M", "G", "kB", "MB", "GB", "Ki", "Mi", "Gi", "KiB", "MiB", "GiB"),
    "time": ("s", "ms", "us", "µs", "min", "m", "h"),
}
#: Ambiguous units: `mbps` is megabytes to tc and megabits to most people, `KB` 1000 or 1024 bytes.
_AMBIGUOUS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "rate": {
        **{f"{p.lower()}bps": (f"{p}bit/s", f"{p}B/s") for p in "MG"},
        **{f"{p.lower()}b/s": (f"{p}bit/s", f"{p}B/s") for p in "MG"},
        **{f"{p}B": (f"{p}B/s", f"{p}bit/s") for p in ("k", "M", "G")},
        **{f"{p}b": (f"{p}bit/s", f"{p}B/s") for p in ("k", "m", "g", "M", "G")},
        **{f"KB{end}": ("kB/s", "KiB/s") for end in ("", "/s", "ps")},
        **{f"MBytes{end}": ("MB/s", "MiB/s") for end in ("", "/s", "/sec")},
        **{f"GBytes{end}": ("GB/s", "GiB/s") for end in ("", "/s", "/sec")},
        "K": ("k",),
    },
    "size": {
        **dict.fromkeys(("K", "KB", "kb", "Kb", "KBytes"), ("kB", "KiB")),
        **dict.fromkeys(("m", "mb", "Mb", "MBytes"), ("MB", "MiB")),
        **dict.fromkeys(("g", "gb", "Gb", "GBytes"), ("GB", "GiB")),
    },
    "time": {"M": ("min", "ms"), "S": ("s",), "MS": ("ms",), "H": ("h",)},
}


def lines_of(text: str, width: int, indent: str = "", first: str = "") -> list[str]:
    """
    Wrap a text into lines of at most `width` characters, but not within a word or between a number
    and its unit. A longer word gets its own line.

    Args:
        text: One line.
        width: In characters.
        indent: Before all lines except the first.
        first: Before the first line.

    Examples:
        >>> lines_of("mean 165 µs, longest 358 µs; paused for 5.66 ms at most", 20)
        ['mean 165 µs, longest', '358 µs; paused for', '5.66 ms at most']
    """
    import textwrap

    lines = textwrap.wrap(
        _BEFORE_UNIT.sub(_NO_BREAK, text),
        max(1, width),
        initial_indent=first,
        subsequent_indent=indent,
        expand_tabs=False,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_NO_BREAK, " ") for line in lines]


def words_of(text: str) -> list[str]:
    """The pieces of text that `lines_of` never breaks."""
    kept = re.split(r"[ \t\r\n]+", _BEFORE_UNIT.sub(_NO_BREAK, text).strip())
    return [word.replace(_NO_BREAK, " ") for word in kept if word]


def _parse(text: str, what: str, units: Mapping[str, float], example: str) -> float:
    match = _NUMBER.fullmatch(text)
    if match is None or match[3] not in units:
        hint = f"write e.g. `{example}`"
        if problem := _problem(text):
            raise UsageError(f"{what}: `{text}` {problem}", hint=hint)
        if match is not None and (meant := _meant(match[3], what)):
            number = match[0].strip().removesuffix(match[3]).rstrip()
            hint = f"did you mean {' or '.join(f'`{number}{unit}`' for unit in meant)}?"
        raise UsageError(
            f"{what}: `{text}` is not a number with a unit; allowed units: "
            f"{', '.join(_SHOWN[what])}",
            hint=hint,
        )
    return float(f"{match[1]}e{match[2] or 0}") * units[match[3]]


def _problem(text: str) -> str | None:
    stripped = text.strip()
    if not stripped:
        return "is empty; a number must be given"
    if any(letter.isnumeric() and not letter.isascii() for letter in stripped):
        return "has other digits than 0 to 9"
    if stripped[0] in "-\u2212" and any(letter.isdigit() for letter in stripped):
        return "is negative; it must be above 0"
    if stripped.lstrip("+-").lower() in ("nan", "inf", "infinity"):
        return "is not a number"
    if _WITH_COMMA.fullmatch(stripped):
        return _COMMA
    if _HUGE_EXPONENT.fullmatch(stripped):
        return "has an exponent of more than two digits; write the number with a unit"
    return None


def plain_number(text: str) -> float:
    """
    Read a number without a unit.

    Raises:
        ValueError: Not a plain number; also NaN, infinities and digits of other scripts, which
        `float` accepts.

    Examples:
        >>> plain_number("2.5"), plain_number("1e3")
        (2.5, 1000.0)
    """
    if not PLAIN_NUMBER.fullmatch(text):
        raise ValueError(f"`{text}` {_problem(text) or 'is not a number'}")
    return float(text)


def _meant(unit: str, what: str) -> tuple[str, ...]:
    """Units that the user may have meant by an unknown or ambiguous unit."""
    if unit in _AMBIGUOUS[what]:
        return _AMBIGUOUS[what][unit]
    shown = _SHOWN[what]
    same = tuple(one for one in shown if one.lower() == unit.lower())
    close = closest(unit, shown)
    return same or (() if close is None else (close,))


def parse_share(text: str) -> float:
    """Read a share: a number, or a percentage with `%`.

    Returns:
        The share; 1 is everything.

    Raises:
        UsageError: Not a number, with or without `%`.

    Examples:
        >>> parse_share("5%"), parse_share("0.05"), parse_share("12.5 %")
        (0.05, 0.05, 0.125)
    """
    match = _SHARE.fullmatch(text)
    if match is None:
        problem = _COMMA if _WITH_COMMA.fullmatch(text.strip()) else "is not a share"
        raise UsageError(f"share: `{text}` {problem}", hint="write e.g. `5%` or `0.05`")
    value = float(f"{match[1]}e{match[2] or 0}")
    # Round to the value that was written: 0.001, not 0.0010000000000000002.
    return round(value / 100, 15) if match[3] else value


def _whole(value: float, text: str, what: str) -> int:
    nearest = round(value) if math.isfinite(value) else 0
    if not math.isclose(value, nearest, rel_tol=1e-12, abs_tol=1e-9):
        raise UsageError(f"{what}: found `{text}`, which is {value}; allowed: a whole number")
    return nearest


def parse_rate_bps(text: str) -> int:
    """Read a bit rate: a number and a unit, `bit/s` if none is given.

    Returns:
        Whole bit/s.

    Raises:
        UsageError: Not a number with a rate unit, or not a whole number of bit/s.

    Examples:
        >>> parse_rate_bps("10M"), parse_rate_bps("500 kB/s"), parse_rate_bps("1.5Gbit/s")
        (10000000, 4000000, 1500000000)
        >>> parse_rate_bps("5mbit"), parse_rate_bps("100 Mbps"), parse_rate_bps("2MBps")
        (5000000, 100000000, 16000000)
    """
    return _whole(_parse(text, "rate", _BIT_RATE, "10M"), text, "rate")


def parse_size_bytes(text: str) -> int:
    """Read a size: a number and a unit, bytes if none is given.

    Returns:
        Whole bytes. `k` is 1000, `Ki` is 1024.

    Raises:
        UsageError: Not a number with a size unit, or not a whole number of bytes.

    Examples:
        >>> parse_size_bytes("1408"), parse_size_bytes("1.5kB"), parse_size_bytes("64 KiB")
        (1408, 1500, 65536)
    """
    return _whole(_parse(text, "size", _SIZE, "64KiB"), text, "size")


def parse_time_s(text: str) -> float:
    """Read a time: a number and a unit, seconds if none is given.

    Returns:
        Seconds.

    Raises:
        UsageError: Not a number with a time unit.

    Examples:
        >>> parse_time_s("3"), parse_time_s("250ms"), parse_time_s("2min")
        (3.0, 0.25, 120.0)
    """
    return _parse(text, "time", _TIME, "2.5s")


def of_option(option: str, parse: Callable[[str], _N], text: str) -> _N:
    """The value of an option; an error names the option in place of the quantity."""
    try:
        return parse(text)
    except UsageError as error:
        said = error.message.partition(": ")[2]
        raise UsageError(f"{option}: {said}", hint=error.hint) from None


def time_of(option: str, text: str, least: str = "1 ms", most: str = "24 h") -> float:
    """The time of an option, in seconds, within its range."""
    time_s = of_option(option, parse_time_s, text)
    if not parse_time_s(least) <= time_s <= parse_time_s(most):
        raise UsageError(f"{option}: found `{text}`; allowed: {least} to {most}")
    return time_s


def _scaled(value: float, steps: tuple[tuple[float, str], ...]) -> str:
    factor, unit = next((step for step in steps if abs(value) >= step[0]), steps[-1])
    shown = value / factor
    digits = 0 if abs(shown) >= 1000 else max(0, 3 - len(str(int(abs(shown)))))
    return f"{shown:.{digits}f} {unit}"


def format_rate(rate_bps: float) -> str:
    """Format a bit rate with three significant digits.

    Examples:
        >>> format_rate(9_571_000), format_rate(10_000), format_rate(0)
        ('9.57 Mbit/s', '10.0 kbit/s', '0.00 bit/s')
    """
    return _scaled(rate_bps, ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1, "bit/s")))


def format_time(time_s: float) -> str:
    """Format a time with three significant digits.

    Examples:
        >>> format_time(0.000_036), format_time(2.5), format_time(0.0141)
        ('36.0 µs', '2.50 s', '14.1 ms')
    """
    return _scaled(time_s, ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")))


def format_size(size_bytes: int) -> str:
    """Format a size in bytes or decimal multiples.

    Examples:
        >>> format_size(500), format_size(623_000_000)
        ('500 B', '623 MB')
    """
    if size_bytes < 1000:
        return f"{size_bytes} B"
    return _scaled(size_bytes, ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")))


def format_duration(seconds: float) -> str:
    """
    Format an estimated time in its two largest units; a negative one becomes 0.

    Examples:
        >>> format_duration(3.2), format_duration(65), format_duration(7_325), format_duration(-1)
        ('4 s', '1 min 5 s', '2 h 3 min', '0 s')
    """
    if seconds >= _MOST_SECONDS:
        return f"{seconds / 86_400:.1e} d"
    whole = math.ceil(max(0.0, seconds))
    steps = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
    for (unit, name), (size, below) in itertools.pairwise(steps):
        if whole >= unit:
            count, rest = divmod(math.ceil(whole / size) * size, unit)
            return f"{count:,} {name} {rest // size} {below}" if rest else f"{count:,} {name}"
    return f"{whole} s"
