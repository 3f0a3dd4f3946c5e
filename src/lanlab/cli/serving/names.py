"""Names in `lanlab serve`: address, server, share and user."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lanlab.errors import UsageError

if TYPE_CHECKING:
    import ipaddress

    from lanlab.services import Service

#: Longest NetBIOS name (RFC 1001, section 5.2), and longest share name in lists of old clients
#: ([MS-RAP] 2.5.6.3), in characters.
_MOST_OF_SERVER, _MOST_OF_SHARE = 15, 12
#: Allowed characters, which exclude separators ([MS-FSCC] 2.1.6).
_NAME = re.compile(r"[A-Za-z0-9_!@#$%^&()'{}~.-]+")
_PIPES = "IPC$"


def only_for(option: str, service: str, *services: str) -> UsageError:
    """The error for an option that applies only to other services."""
    named = " or ".join(f"`{one}`" for one in services)
    return UsageError(
        f"{option} works only with service {named}; found service `{service}`",
        hint=f"omit it, or serve with `--service {services[0]}`",
    )


def server_name(offered: Service, name: str | None) -> str | None:
    """
    The server's name, in upper case like all NetBIOS names; `None` for the default name.

    Raises:
        UsageError: The service has no name, or the name is not allowed.
    """
    if name is None:
        return None
    if not offered.has_guests:
        raise only_for("--name", offered.name, "smb1", "ncp")
    if not _NAME.fullmatch(name) or len(name) > _MOST_OF_SERVER:
        raise UsageError(
            f"--name: found `{name}`; allowed: 1 to {_MOST_OF_SERVER} characters of ASCII, without "
            "blanks",
            hint="write e.g. `--name CNCFILES`",
        )
    return name.upper()


def share_name(offered: Service, name: str | None) -> str | None:
    """
    The name of the share or volume; `None` for the server's default.

    Raises:
        UsageError: The service has no shares, or the name is not allowed.
    """
    if name is None:
        return None
    named = ("share", "volume")
    if offered.share not in named:
        from lanlab.services import SERVICES

        rows = (one for one in SERVICES.values() if one.share in named and "+" not in one.name)
        raise only_for("--share", offered.name, *(one.name for one in rows))
    is_name = _NAME.fullmatch(name) and len(name) <= _MOST_OF_SHARE
    if not is_name or name.upper() == _PIPES:
        raise UsageError(
            f"--share: found `{name}`; allowed: 1 to {_MOST_OF_SHARE} characters of ASCII, without "
            "blanks",
            hint="write e.g. `--share DATA`; old clients do not support longer names",
        )
    return name


def check_user(offered: Service, user: str | None, *, guest: bool) -> None:
    """
    Refuse a user for a service without logins.

    Raises:
        UsageError: There are no logins, or the name is not allowed.
    """
    if user is None:
        return
    if guest or not offered.has_users:
        raise UsageError(
            "--user has no effect on a server without logins", hint="omit it, or omit --guest"
        )
    if not user.isascii() or not user.isprintable() or not 0 < len(user.strip()) <= 20:
        raise UsageError(
            f"--user: found `{user}`; allowed: 1 to 20 characters of ASCII",
            hint="write e.g. `--user cnc`",
        )


def served_address(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """
    An address of this machine.

    Raises:
        UsageError: The text is not an address, or names several.
    """
    import ipaddress

    from lanlab.addresses import is_of_one_link, zone_of

    try:
        wanted_address = ipaddress.ip_address(address)
    except ValueError:
        raise UsageError(
            f"--address: found `{address}`; allowed: an address of this machine"
        ) from None
    if wanted_address.is_unspecified or wanted_address.is_multicast:
        raise UsageError(
            f"--address: found `{address}`; allowed: one address of this machine",
            hint="give this machine's address on the network to serve",
        )
    if is_of_one_link(address) and not zone_of(address):
        raise UsageError(
            f"--address: found the link-local address `{address}`; allowed: the address with its "
            "interface",
            hint=f"write e.g. `{address}%eth1`; `ip -6 address` shows the interface",
        )
    return wanted_address
