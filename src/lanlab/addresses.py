"""Kinds of addresses that hosts have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

#: Of a network's addresses. An address is text, as its family writes it.
AddressFamily = Literal["ipv4", "ipv6", "mac", "ipx"]

#: The families, for people.
FAMILY_NAMES: Mapping[AddressFamily, str] = {
    "ipv4": "IPv4",
    "ipv6": "IPv6",
    "mac": "Ethernet",
    "ipx": "IPX",
}


def ip_family(version: int) -> AddressFamily:
    """
    The family of the addresses of a version of IP.

    Args:
        version: 4 or 6.
    """
    return "ipv4" if version == 4 else "ipv6"
