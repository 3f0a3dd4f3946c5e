"""Kinds of addresses that hosts have."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Literal

#: Address family of a network. Addresses are text in the notation of the family.
AddressFamily = Literal["ipv4", "ipv6", "mac", "ipx"]

FAMILY_NAMES: Mapping[AddressFamily, str] = {
    "ipv4": "IPv4",
    "ipv6": "IPv6",
    "mac": "Ethernet",
    "ipx": "IPX",
}


def ip_family(version: int) -> AddressFamily:
    """
    The address family of an IP version.

    Args:
        version: 4 or 6.
    """
    return "ipv4" if version == 4 else "ipv6"


def bare(address: str) -> str:
    """
    An address without its zone, as packets and kernel tables contain it.

    Examples:
        >>> bare("fe80::1%eth0"), bare("10.0.0.1")
        ('fe80::1', '10.0.0.1')
    """
    return address.partition("%")[0]


def zone_of(address: str) -> str:
    """The zone of an address, the interface after `%`; empty if there is none."""
    return address.partition("%")[2]


def is_of_one_link(address: str | None) -> bool:
    """
    Whether an address is link-local (`fe80::/10`). Such an address needs a zone: the interface of
    the host that uses it (RFC 4007, section 11). False for text that is not an address.

    Examples:
        >>> is_of_one_link("fe80::1%eth0"), is_of_one_link("fd00::1"), is_of_one_link("169.254.0.1")
        (True, False, False)
    """
    try:
        found = ipaddress.ip_address(address or "")
    except ValueError:
        return False
    return found.version == 6 and found.is_link_local


def seen_from(own: str, other: str) -> str:
    """
    Another host's address with the zone of `own` in place of its own: a zone is valid on one host
    only.

    Examples:
        >>> seen_from("fe80::1%eth0", "fe80::2%enp3s0")
        'fe80::2%eth0'
        >>> seen_from("10.0.0.1", "10.0.0.2")
        '10.0.0.2'
    """
    zone = zone_of(own)
    return f"{bare(other)}%{zone}" if zone and is_of_one_link(other) else other


def in_url(address: str) -> str:
    """
    An address as the host of a URL (RFC 3986, section 3.2.2; RFC 6874, section 2).

    Examples:
        >>> in_url("10.0.0.1"), in_url("fe80::1%eth0")
        ('10.0.0.1', '[fe80::1%25eth0]')
    """
    return f"[{address.replace('%', '%25')}]" if ":" in address else address


def socket_address(
    address: str, port: int
) -> tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]:
    """
    An address as Python's sockets need it. They ignore the zone in an address given as text.

    Raises:
        OSError: The interface does not exist.
    """
    # A stream socket accepts the text form.
    import socket

    return socket.getaddrinfo(address, port, flags=socket.AI_NUMERICHOST)[0][4]
