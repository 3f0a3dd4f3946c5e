"""The interfaces that a trial uses, from the engines' facts on their hosts."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Sequence
from typing import cast

from lanlab.addresses import AddressFamily, bare, ip_family
from lanlab.testbeds.base import Host
from lanlab.trial_data import HostFacts, InterfaceSeen

#: Properties of an interface that change only by configuration.
_LASTING = (
    "mtu_bytes",
    "speed_bps",
    "full_duplex",
    "driver",
    "wireless",
    "supported_speed_bps",
    "power_saving",
    "ptp_clock",
)


def interface_of(facts: HostFacts, addresses: Collection[str]) -> str | None:
    """The interface that has one of some addresses; `None` if the engine reports none."""
    return next(
        (
            name
            for name, interface in (facts.get("interfaces") or {}).items()
            if not set(map(bare, addresses)).isdisjoint(interface["addresses"])
        ),
        None,
    )


def address_of(facts: HostFacts, addresses: Collection[str], family: AddressFamily) -> str | None:
    """
    The address of a family on the same interface as a host's other addresses.

    Returns:
        The first that every host of the network can reach; `None` if there is none.

    Examples:
        >>> seen = {"interfaces": {"eth0": {"addresses": ["10.0.0.2", "fe80::2", "fd00::2"]}}}
        >>> address_of(seen, ["10.0.0.2"], "ipv6"), address_of(seen, ["10.0.0.9"], "ipv6")
        ('fd00::2', None)
    """
    name = interface_of(facts, addresses)
    if name is None:
        return None
    known = (ipaddress.ip_address(text) for text in facts["interfaces"][name]["addresses"])
    return next(
        (str(one) for one in known if ip_family(one.version) == family and not one.is_link_local),
        None,
    )


def measured_interface(host: Host, hosts: Sequence[Host], facts: HostFacts) -> str | None:
    """
    The interface of a host to the measured network.

    Args:
        hosts: All hosts of the testbed: if it knows the interface of one, hosts without one carry
            no frames, for example this machine's loopback next to an interface without IP.
    """
    if any(one.interface for one in hosts):
        return host.interface
    return interface_of(facts, host.addresses.values())


def lasting_facts(facts: HostFacts, name: str) -> InterfaceSeen:
    interface = cast("dict[str, object]", facts["interfaces"][name])
    return cast("InterfaceSeen", {"name": name} | {key: interface[key] for key in _LASTING})


def counters_of(facts: HostFacts, name: str) -> dict[str, int]:
    return dict((facts.get("interfaces") or {}).get(name, {}).get("counters", {}))
