"""
Interfaces, addresses and neighbours of a virtual LAN: cables and a switch as lines for `ip -batch`
and `bridge -batch`, the hosts' settings as a request to an engine.

Everything that a real LAN finds out by protocols (ARP, neighbour discovery, learning of addresses,
duplicate-address detection) is set in advance. A measurement sees only its own frames and, in the
first second or two, some short IPv6 multicast reports, which cannot be turned off.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from lanlab.addresses import AddressFamily
from lanlab.testbeds.shaping import MTU_BYTES

HOST_DEVICE = "eth0"
_BRIDGE = "br0"

_IPV4_NETWORK = ipaddress.IPv4Network("10.77.0.0/16")
_IPV6_NETWORK = ipaddress.IPv6Network("fd77::/64")
#: Linux's usual length; only the sender on an unshaped link ever notices it.
_TRANSMIT_QUEUE_FRAMES = 1000


def port(host: int) -> str:
    return f"port{host}"


def addresses(host: int, ipv6: bool) -> dict[AddressFamily, str]:
    """The addresses of a host, by family.

    Examples:
        >>> addresses(0, ipv6=True)
        {'mac': '02:77:00:00:00:01', 'ipv4': '10.77.0.1', 'ipv6': 'fd77::1'}
        >>> addresses(255, ipv6=False)
        {'mac': '02:77:00:00:01:00', 'ipv4': '10.77.1.0'}
    """
    found: dict[AddressFamily, str] = {"mac": mac(host), "ipv4": str(_IPV4_NETWORK[host + 1])}
    return found | {"ipv6": str(_IPV6_NETWORK[host + 1])} if ipv6 else found


def spare_address() -> str:
    """An unused IPv4 address of the network.

    Examples:
        >>> spare_address()
        '10.77.255.254'
    """
    return str(_IPV4_NETWORK[-2])


def mac(host: int) -> str:
    """Hardware address of a host, from the range for private use.

    Examples:
        >>> mac(255)
        '02:77:00:00:01:00'
    """
    number = host + 1
    return f"02:77:00:00:{number >> 8:02x}:{number & 0xFF:02x}"


def cable_batch(other_pid: int) -> str:
    """Lines for host 0: a cable to host 1, given by a process in its network namespace."""
    return (
        f"link add {HOST_DEVICE} address {mac(0)} type veth "
        f"peer name {HOST_DEVICE} address {mac(1)} netns {other_pid}\n"
    )


def switch_batch(pids: Sequence[int], ipv6: bool) -> str:
    """Lines for the switch: itself, and a cable from a port to each host, given by process id."""
    lines = [
        # Spanning tree would block a port for 30 s; snooping would drop multicast.
        f"link add {_BRIDGE} type bridge stp_state 0 mcast_snooping 0",
        f"link set {_BRIDGE} mtu {MTU_BYTES} up",
    ]
    for host, pid in enumerate(pids):
        lines.append(
            f"link add {port(host)} type veth "
            f"peer name {HOST_DEVICE} address {mac(host)} netns {pid}"
        )
        lines += _up(port(host), ipv6, f"master {_BRIDGE}")
    if ipv6:
        lines.insert(1, f"link set {_BRIDGE} addrgenmode none")
    return "\n".join(lines) + "\n"


def forwarding_batch(hosts: int) -> str:
    """Lines for the switch: the port of each host, so that it never floods."""
    return "".join(f"fdb replace {mac(i)} dev {port(i)} master static\n" for i in range(hosts))


def hosts_request(pids: Sequence[int], ipv6: bool, shaped: bool) -> dict[str, object]:
    """The request to an engine to set up the hosts, each given by a process in its namespace: its
    interface, addresses and all its neighbours.
    """
    prefixes = {"ipv4": _IPV4_NETWORK.prefixlen, "ipv6": _IPV6_NETWORK.prefixlen}
    return {
        "type": "set_up_hosts",
        "hosts": [
            {
                "namespace_pid": pid,
                "interface": HOST_DEVICE,
                "mac": mac(host),
                "addresses": [
                    {"address": address, "prefix_bits": prefixes[family]}
                    for family, address in addresses(host, ipv6).items()
                    if family in prefixes
                ],
            }
            for host, pid in enumerate(pids)
        ],
        "mtu_bytes": MTU_BYTES,
        "queue_frames": _TRANSMIT_QUEUE_FRAMES,
        # TCP passes down packets of many segments with any setting of offloads. The shaper charges
        # such a packet for one frame: 1.5 % too fast at 10 Mbit/s, 6 % at 1 Gbit/s.
        "segments": 1 if shaped else None,
    }


def _up(device: str, ipv6: bool, more: str) -> list[str]:
    # Without a link-local address it sends no router solicitations.
    quiet = [f"link set {device} addrgenmode none"] if ipv6 else []
    queue = f"txqueuelen {_TRANSMIT_QUEUE_FRAMES}"
    return [*quiet, f"link set {device} mtu {MTU_BYTES} {queue} {more} up"]
