"""
Values of texts that others wrote: JSON and TOML, with finite numbers and bounded nesting.

Numbers that an engine reports have ranges of their own (`engine/contract.py`), those of an iperf3
peer in `crates/messages/src/peer_stream.rs`.
"""

from __future__ import annotations

import json
import math
from typing import Any

from lanlab.user_files import text_of

#: Larger than any count, rate or time in ns that is measured.
MOST = 2.0**63


class BadValue(ValueError):
    """What a text is that is none of these."""


def json_of(text: str | bytes) -> Any:
    """
    The value of a JSON text.

    Raises:
        BadValue: It is not JSON, is nested without end, or has a number that is not finite.

    Examples:
        >>> json_of('{"loss": 0.5}')
        {'loss': 0.5}
        >>> json_of("[" * 100_000)
        Traceback (most recent call last):
        lanlab.outside.BadValue: nested too deeply
    """
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_no_number)
    except BadValue:
        raise
    except RecursionError:
        raise BadValue("nested too deeply") from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise BadValue("not JSON") from None
    except ValueError:
        # Python reads whole numbers of a few thousand digits.
        raise BadValue("a whole number of thousands of digits") from None


def toml_of(content: bytes) -> dict[str, Any]:
    """
    The tables of a TOML file.

    Raises:
        UnicodeDecodeError: It is not UTF-8.
        ValueError: It is not TOML, or nested without end.
    """
    # Here: what is measured from the command line has no file.
    import tomllib

    try:
        return tomllib.loads(text_of(content))
    except RecursionError:
        raise BadValue("tables within tables without end") from None


def in_range(number: float) -> bool:
    """Whether a number can be a count, a rate or a time that somebody measured."""
    return 0 <= number <= MOST


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise BadValue("a number that is not finite")
    return value


def _no_number(name: str) -> Any:
    raise BadValue(f"{name}, which is no number")
