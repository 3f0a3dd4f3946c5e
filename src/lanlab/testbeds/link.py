"""
What a user may ask of a link: a speed, and how the hosts are joined.

Written `SPEED` or `SPEED:TOPOLOGY`, as in `10M`, `unshaped` and `100M:switch`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast, get_args

from lanlab.errors import UsageError
from lanlab.units import format_rate, parse_rate_bps

JoinedBy = Literal["cable", "switch"]

#: Below, one full frame takes more than 12 s; above, no machine keeps up.
MIN_RATE_BPS = 1_000
MAX_RATE_BPS = 10_000_000_000


@dataclass(frozen=True)
class LinkRequest:
    """A link as asked for."""

    #: `None` for unshaped.
    rate_bps: int | None
    #: `None` for whatever fits the number of hosts.
    topology: JoinedBy | None = None


def parse_link(text: str) -> LinkRequest:
    """Read a link.

    Raises:
        UsageError: Not a speed between `MIN_RATE_BPS` and `MAX_RATE_BPS` or `unshaped`, or
            a topology other than `cable` and `switch`.

    Examples:
        >>> parse_link("10M")
        LinkRequest(rate_bps=10000000, topology=None)
        >>> parse_link("unshaped:switch")
        LinkRequest(rate_bps=None, topology='switch')
    """
    speed, separator, topology = text.partition(":")
    if separator and topology not in get_args(JoinedBy):
        raise UsageError(
            f"link: no topology named `{topology}`; allowed: {', '.join(get_args(JoinedBy))}",
            hint="write it as in `10M:switch`",
        )
    joined_by = cast(JoinedBy, topology) if separator else None
    if speed.strip() == "unshaped":
        return LinkRequest(None, joined_by)
    try:
        rate_bps = parse_rate_bps(speed)
    except UsageError as error:
        raise UsageError(
            f"link: {error.message.removeprefix('rate: ')}",
            hint=error.hint
            if (error.hint or "").startswith("did you mean")
            else "write it as in `10M`, `unshaped` or `100M:switch`",
        ) from None
    if not MIN_RATE_BPS <= rate_bps <= MAX_RATE_BPS:
        raise UsageError(
            f"link: {format_rate(rate_bps)} cannot be shaped; allowed: "
            f"{format_rate(MIN_RATE_BPS)} to {format_rate(MAX_RATE_BPS)}, or `unshaped`",
            hint="the studies' speeds are 10M, 100M and 1G",
        )
    return LinkRequest(rate_bps, joined_by)
