"""Properties of real hosts and their interfaces that can surprise a user."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from lanlab.trial_data import InterfaceSeen
from lanlab.units import format_rate

#: The first Linux release with epoll_pwait2(2).
_EXACT_WAITS = (5, 11)


def cautions(
    interfaces: Mapping[str, InterfaceSeen], kernels: Mapping[str, str | None] | None = None
) -> list[str]:
    """
    Sentences without a full stop, shown before a run.

    Args:
        interfaces: By host.
        kernels: By host, its release.

    Examples:
        >>> cautions({"nas": {"name": "eth0", "full_duplex": False, "wireless": False}})
        ['nas: eth0 is half duplex: both ends cannot send at the same time']
    """
    said = [
        f"{host}: {caution}"
        for host, kernel in (kernels or {}).items()
        if (caution := kernel_caution(kernel)) is not None
    ]
    for host, one in interfaces.items():
        if one.get("wireless"):
            said.append(f"{host}: {one['name']} is a wireless interface: its speed varies")
        if one.get("power_saving"):
            kind = "power save" if one.get("wireless") else "Energy-Efficient Ethernet"
            said.append(
                f"{host}: {one['name']} saves power between packets ({kind}): "
                "single ones take longer"
            )
        speed_bps, most_bps = one.get("speed_bps"), one.get("supported_speed_bps")
        if speed_bps and most_bps and speed_bps < most_bps:
            said.append(
                f"{host}: {one['name']} goes at {format_rate(speed_bps)} and supports "
                f"{format_rate(most_bps)}: see cable and switch"
            )
        if one.get("full_duplex") is False:
            said.append(
                f"{host}: {one['name']} is half duplex: both ends cannot send at the same time"
            )
    for key, name, shown in (("speed_bps", "speed", format_rate), ("mtu_bytes", "MTU", _octets)):
        known = cast("Mapping[str, Mapping[str, float]]", interfaces)
        values = {host: one[key] for host, one in known.items() if one.get(key)}
        if len(set(values.values())) > 1:
            each = ", ".join(f"{host} {shown(value)}" for host, value in values.items())
            said.append(f"the interfaces differ in {name}: {each}")
    return said


def kernel_caution(kernel: str | None) -> str | None:
    """
    Why a kernel gives less precise figures than newer ones; `None` if it does not.

    Examples:
        >>> kernel_caution("5.4.0-200-generic")
        'Linux 5.4 waits to the millisecond; 5.11 and newer to the nanosecond'
    """
    found = re.match(r"(\d+)\.(\d+)", kernel or "")
    if found is None or (int(found[1]), int(found[2])) >= _EXACT_WAITS:
        return None
    needed = ".".join(map(str, _EXACT_WAITS))
    return f"Linux {found[0]} waits to the millisecond; {needed} and newer to the nanosecond"


def _octets(count: float) -> str:
    return f"{count:g} B"
