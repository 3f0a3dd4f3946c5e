"""Kinds of addresses that hosts have."""

from __future__ import annotations

from typing import Literal

#: Of a network's addresses. An address is text, as its family writes it.
AddressFamily = Literal["ipv4", "ipv6", "mac", "ipx"]


def ip_family(version: int) -> AddressFamily:
    """
    The family of the addresses of a version of IP.

    Args:
        version: 4 or 6.
    """
    return "ipv4" if version == 4 else "ipv6"
