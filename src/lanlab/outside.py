"""
Reads JSON and TOML from outside, with finite numbers and bounded nesting.

Numbers from an engine (`engine/contract.py`) and from an iperf3 peer
(`crates/messages/src/peer_stream.rs`) have other ranges.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from lanlab.user_files import text_of

#: A dotted key of TOML with more than 40 parts.
_DEEP_KEY = re.compile(
    r"""(?<![\w"'-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){40}"""
)

#: Larger than any count, rate or time in ns that can be measured.
MOST = 2.0**63


class BadValue(ValueError):
    """A text that is not valid."""


def json_of(text: str | bytes) -> Any:
    """
    The value of a JSON text.

    Raises:
        BadValue: It is not JSON, is nested too deeply, or contains a number that is not finite.

    Examples:
        >>> json_of('{"loss": 0.5}')
        {'loss': 0.5}
        >>> json_of("[" * 100_000)
        Traceback (most recent call last):
        lanlab.outside.BadValue: nested too deeply
    """
    try:
        if isinstance(text, bytes):
            text = text.decode(json.detect_encoding(text), "surrogatepass")
        return _DECODER.decode(text)
    except BadValue:
        raise
    except RecursionError:
        raise BadValue("nested too deeply") from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise BadValue("not JSON") from None
    except ValueError:
        # Python limits the digits of an integer that it parses.
        raise BadValue("a whole number of thousands of digits") from None


def toml_of(content: bytes) -> dict[str, Any]:
    """
    The tables of a TOML file.

    Raises:
        UnicodeDecodeError: It is not UTF-8.
        ValueError: It is not TOML, or is nested too deeply.
    """
    # Imported here, because most commands that measure read no TOML file.
    import tomllib

    text = text_of(content)
    try:
        # Python's parser takes the square of a key's parts, or more.
        if _DEEP_KEY.search(text) is None:
            return tomllib.loads(text)
    except RecursionError:
        pass
    raise BadValue("tables within tables without end")


def in_range(number: float) -> bool:
    """Whether a number can be a measured count, rate or time."""
    return 0 <= number <= MOST


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise BadValue("a number that is not finite")
    return value


def _no_number(name: str) -> NoReturn:
    raise BadValue(f"{name}, which is no number")


#: A shared decoder, because creating one takes longer than decoding a short text.
_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_no_number)
