"""The form of host names: `here`, or `[USER@]HOST[:PORT]`, with the address to measure at."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lanlab import addresses
from lanlab.addresses import AddressFamily, ip_family
from lanlab.errors import UsageError
from lanlab.frozen import dataclass
from lanlab.outside import toml_of
from lanlab.roles import ROLES
from lanlab.user_files import read_user_file, user_path

HERE = "here"
PREFIX = "ssh:"
#: A name that begins with `-` would be an option of ssh; the other characters occur in no host name
#: (RFC 952, RFC 1123) and in no unquoted alias of ssh_config(5).
_DESTINATION = re.compile(
    r"(?:(?P<user>\w[\w.+$@\\-]{0,127})@)?"
    r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+(?:%[A-Za-z0-9_.-]+)?)\]|(?P<name>[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}))"
    r"(?::(?P<port>[0-9]{1,5}))?"
)
_MOST_FILE_BYTES = 65_536
_KEYS = frozenset({"ssh", "address", "interface", "roles"})


@dataclass(frozen=True)
class Destination:
    #: The destination for ssh, such as `alice@nas`; `None` for this machine.
    ssh: str | None
    port: int | None = None
    addresses: tuple[str, ...] = ()
    #: The interface with the addresses of the measured network; `None` if not given.
    interface: str | None = None

    @property
    def label(self) -> str:
        if self.ssh is None:
            return HERE
        return self.ssh if self.port is None else f"{self.ssh}:{self.port}"

    @property
    def by_family(self) -> dict[AddressFamily, str]:
        return {ip_family(ipaddress.ip_address(one).version): one for one in self.addresses}

    def __str__(self) -> str:
        bare = self.ssh or HERE
        user, at, host = bare.rpartition("@")
        bare = f"{user}{at}[{host}]" if ":" in host else bare
        if self.port is not None:
            bare += f":{self.port}"
        for place, one in enumerate(self.addresses, 1):
            # The interface after the last address is also its zone.
            is_last = place == len(self.addresses)
            bare += f"={addresses.bare(one) if is_last else one}"
        return f"{bare}%{self.interface}" if self.interface else bare


def parse_destination(text: str) -> Destination:
    """
    Read a host: `here` or `[USER@]HOST[:PORT]`; then either addresses of the measured network, each
    after a `=`, or its interface after a `%`. A link-local address (`fe80::/10`) needs its zone:
    within the brackets the interface of this machine, after a `=` that of the host itself.

    Raises:
        UsageError: The text is malformed.

    Examples:
        >>> parse_destination("alice@nas:2222=192.168.7.2").addresses
        ('192.168.7.2',)
        >>> str(parse_destination("here%eth1"))
        'here%eth1'
    """
    head, *given = text.split("=")
    if given:
        last, _, interface = given[-1].partition("%")
        given[-1] = last
        if interface and addresses.is_of_one_link(last):
            given[-1] = f"{last}%{interface}"
    else:
        # An address in brackets may have a zone.
        host, bracket, behind = head.rpartition("]")
        behind, _, interface = behind.partition("%")
        head = f"{host}{bracket}{behind}"
    found = _DESTINATION.fullmatch(head)
    if found is None:
        raise UsageError(
            f"host: found `{text}`; allowed: `{HERE}` or [USER@]HOST[:PORT]",
            hint="write e.g. `alice@nas` or `alice@nas:2222`, with IPv6 addresses in brackets",
        )
    for one in given:
        _check_address(one, text)
    if head == HERE:
        return Destination(None, None, tuple(given), interface or None)
    port = None if found["port"] is None else int(found["port"])
    if port is not None and not 1 <= port <= 65_535:
        raise UsageError(f"host: `{text}`: found port {port}; allowed: 1 to 65535")
    bare = found["ipv6"] or found["name"]
    ssh = bare if found["user"] is None else f"{found['user']}@{bare}"
    return Destination(ssh, port, tuple(given), interface or None)


def _check_address(address: str, text: str) -> None:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        raise UsageError(
            f"host: `{text}`: found address `{address}`; allowed: an IPv4 or IPv6 address"
        ) from None
    if found.is_multicast or found.is_unspecified:
        raise UsageError(f"host: `{text}`: `{address}` is not the address of a single host")
    if addresses.is_of_one_link(address) and not addresses.zone_of(address):
        raise UsageError(
            f"host: `{text}`: `{address}` is a link-local address without an interface",
            hint=f"add that host's interface, e.g. `{address}%eth0`",
        )


def read_destinations(text: str) -> list[Destination]:
    """
    The hosts of a testbed, from the part after `ssh:` in its name: a TOML file, or hosts separated
    by commas.

    Raises:
        UsageError: The file or a host in it is malformed.
    """
    if text.endswith(".toml"):
        return _read_file(user_path(text))
    found = [parse_destination(part.strip()) for part in text.split(",") if part.strip()]
    _check_hosts(found, f"{PREFIX}{text}")
    return _with_zones(found)


def _read_file(path: Path) -> list[Destination]:
    octets = read_user_file(path, "host file", _MOST_FILE_BYTES)
    try:
        table = toml_of(octets)
    except ValueError as error:
        raise UsageError(f"{path}: not TOML: {error}") from None
    hosts = table.get("host")
    if not isinstance(hosts, list) or set(table) != {"host"}:
        raise UsageError(
            f"{path}: found {', '.join(f'`{key}`' for key in table) or 'nothing'}; allowed: "
            "`[[host]]` tables",
            hint='a host is `[[host]]` with `ssh = "alice@nas"`; see docs/two-computers.md',
        )
    found = [_host(path, number, each) for number, each in enumerate(hosts)]
    _check_hosts([destination for _, destination in found], str(path))
    return _with_zones(_in_order(path, found))


def _in_order(path: Path, found: list[tuple[int | None, Destination]]) -> list[Destination]:
    free = [destination for place, destination in found if place is None]
    ends: list[list[Destination]] = []
    for each in (0, 1):
        named = [destination for place, destination in found if place == each]
        if not named and not free:
            roles = ", ".join(role for role, place in _PLACES.items() if place == each)
            raise UsageError(
                f"{path}: no host has a role of {roles}", hint="give a host one of these"
            )
        ends.append(named or [free.pop(0)])
    (first, *others), (second, *too_many) = ends
    if too_many:
        raise UsageError(
            f"{path}: {second.label} and {too_many[0].label} are both servers; allowed: one",
            hint="give the other hosts a client's role, e.g. `client`",
        )
    return [first, second, *others, *free]


#: The position of a host among the hosts of a testbed, by role.
_PLACES = {
    role: place for place, roles in enumerate(zip(*ROLES.values(), strict=True)) for role in roles
}


def _host(path: Path, number: int, table: Any) -> tuple[int | None, Destination]:
    """A host of a file, and its position; `None`: any."""
    where = f"{path}: host {number + 1}"
    if not isinstance(table, Mapping) or not set(table) <= _KEYS:
        found = ", ".join(f"`{key}`" for key in table if key not in _KEYS)
        allowed = ", ".join(f"`{key}`" for key in sorted(_KEYS))
        raise UsageError(f"{where}: found {found}; allowed: {allowed}")
    ssh, interface = table.get("ssh"), table.get("interface")
    addresses = table.get("address", [])
    addresses = [addresses] if isinstance(addresses, str) else addresses
    roles = table.get("roles", [])
    roles = [roles] if isinstance(roles, str) else roles
    texts = [ssh, *([] if interface is None else [interface]), *addresses, *roles]
    if not all(isinstance(each, str) for each in texts):
        raise UsageError(
            f'{where}: needs `ssh`, a text, e.g. "alice@nas" or "{HERE}"; `address`, `interface` '
            "and `roles` are texts, too"
        )
    unknown = [role for role in roles if role not in _PLACES]
    if unknown:
        raise UsageError(f"{where}: found role `{unknown[0]}`; allowed: {', '.join(_PLACES)}")
    places = {_PLACES[role] for role in roles}
    if len(places) > 1:
        raise UsageError(f"{where}: found the roles {', '.join(roles)}; allowed: roles of one end")
    suffix = "".join(f"={one}" for one in addresses) + (f"%{interface}" if interface else "")
    try:
        destination = parse_destination(f"{ssh}{suffix}")
    except UsageError as error:
        raise UsageError(f"{where}: {error.message}", hint=error.hint) from None
    return (places.pop() if places else None), destination


def _with_zones(found: list[Destination]) -> list[Destination]:
    """Add this machine's interface to hosts that ssh reaches by a link-local address: the one given
    there, else the one named for this machine.
    """
    own = next((one.interface for one in found if one.ssh is None), None)
    complete = []
    for one in found:
        user, at, host = (one.ssh or "").rpartition("@")
        if addresses.is_of_one_link(host) and not addresses.zone_of(host):
            if own is None:
                raise UsageError(
                    f"host: `{host}` is a link-local address without an interface",
                    hint=f"add this host's interface to it, e.g. `[{host}%eth0]`",
                )
            one = replace(one, ssh=f"{user}{at}{host}%{own}")
        complete.append(one)
    return complete


def _check_hosts(found: list[Destination], where: str) -> None:
    if len(found) < 2:
        raise UsageError(
            f"{where}: {len(found)} hosts; allowed: 2 or more",
            hint=f"name both ends; this machine is `{HERE}`",
        )
