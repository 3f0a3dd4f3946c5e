"""Display names for the metrics and factors in the text of a finding's comparison."""

from __future__ import annotations

import re

from lanlab.figures.wording import level_text, quantity
from lanlab.studies import Study

#: A factor with its levels in lanlab's units, or a metric.
_KEY = re.compile(
    r"\b(ip_version|[a-z][a-z0-9_]*_(?:bps|ns|bytes|ratio|per_s|s))\b"
    r"(?: (\d[\d.e+]*(?:(?: \| | to )\d[\d.e+]*)*))?"
)
_LEVEL = re.compile(r"\d[\d.e+]*")


def readable(text: str, study: Study | None) -> str:
    """
    The text with display names in place of keys.

    Examples:
        >>> readable("(ip_version 4) / (ip_version 6) at os xp, message_size_bytes 384", None)
        '(IPv4) / (IPv6) at os xp, message size 384 B'
        >>> readable("no goodput_bps is printed at message_size_bytes 2 | 500", None)
        'no goodput is printed at message size 2 B or 500 B'
        >>> readable("elapsed_wall_ns / elapsed_ns at test speedtest", None)
        'elapsed wall / elapsed time at test speedtest'
    """
    return _KEY.sub(lambda found: _named(found[1], found[2], study), text)


def _named(key: str, levels: str | None, study: Study | None) -> str:
    name = quantity(study, key).name
    if levels is None:
        return name
    shown = _LEVEL.sub(lambda one: _level(key, one[0], study), levels).replace(" | ", " or ")
    return shown if key == "ip_version" else f"{name} {shown}"


def _level(key: str, level: str, study: Study | None) -> str:
    if key == "ip_version":
        return f"IPv{level}"
    number = float(level)
    if study is not None:
        return level_text(study, key, number)
    shown = quantity(None, key)
    return f"{shown.shown(number):g} {shown.unit}".strip()
