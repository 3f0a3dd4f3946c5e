"""
Whether the hosts of a virtual LAN are still as they were made.

A link that is taken down and up again looks well, but has lost what was set beforehand: Linux drops
the neighbours of an interface that goes down, and its IPv6 addresses. What is measured on it from
then on is another network. So what a host had is noted once and compared; and how often its link
has lost or found its carrier, as when a cable is pulled and put back.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Found(NamedTuple):
    devices: frozenset[str]
    up: frozenset[str]
    #: Interface of each address, route and neighbour, and how the kernel's table names the latter.
    entries: frozenset[tuple[str, str]]


def found_on(pid: int) -> Found:
    """What the network namespace of a process has, read without starting one; nothing once the
    process is gone."""
    net = Path(f"/proc/{pid}/net")
    # Below two lines of headings (net/core/net-procfs.c in Linux).
    devices = [line.partition(":")[0].strip() for line in _lines(net / "dev")[2:]]
    # Every interface that is up is in the group of all hosts (RFC 1112, section 7.1); one
    # that is down is not in the table.
    up = [line.split()[1] for line in _lines(net / "igmp")[1:] if line[:1].isdigit()]
    entries = []
    for line in _lines(net / "if_inet6"):
        address, _, prefix, *_, device = line.split()
        entries.append((device, f"address {address}/{int(prefix, 16)}"))
    if not entries:
        # With IPv4 alone, only neighbours show that an interface was down. Otherwise they are not
        # read: for each host the kernel goes through those of all.
        for line in _lines(net / "arp")[1:]:
            address, _, _, hardware, _, device = line.split()
            entries.append((device, f"neighbour {address} at {hardware}"))
    for line in _lines(net / "route")[1:]:
        device, target, _, _, _, _, _, mask, *_ = line.split()
        entries.append((device, f"route {target}/{mask}"))
    return Found(frozenset(devices), frozenset(up), frozenset(entries))


def _lines(table: Path) -> list[str]:
    try:
        return table.read_text().splitlines()
    except OSError:
        return []


def interruption_of(
    made: Mapping[str, Mapping[str, int]], now: Mapping[str, Mapping[str, int]]
) -> str | None:
    """Which link was interrupted, as `damage_of` says it, from how often the carrier of each had
    changed when it was made and now."""
    for place, before in made.items():
        for device, changes in before.items():
            more = now[place].get(device, changes) - changes
            if more:
                times = "once" if more == 1 else f"{more} times"
                return (
                    f"{place}: the link of {device} was interrupted (its carrier changed {times})"
                )
    return None


def damage_of(made: Mapping[str, Found], now: Mapping[str, Found | None]) -> str | None:
    """
    What is missing, in words.

    Args:
        made: What each host had when it was made.
        now: The same now; `None` for a host whose holder has ended.

    Returns:
        A sentence without a full stop about the first host that is not whole; `None` if all are.
    """
    # With a host that is gone, the others' cables to it are gone, too.
    ended = next((place for place in made if now[place] is None), None)
    if ended is not None:
        return f"{ended}: the process that held its network has ended"
    for place, before in made.items():
        after = now[place]
        assert after is not None
        gone = sorted(before.devices - after.devices)
        if gone:
            return f"{place}: the interface {gone[0]} is gone"
        down = sorted(before.up - after.up)
        if down:
            return f"{place}: the interface {down[0]} is down"
        lost = sorted(before.entries - after.entries)
        if lost:
            device, entry = lost[0]
            return (
                f"{place}: the interface {device} has lost {len(lost)} of its addresses, routes "
                f"and neighbours, as when it was down ({entry})"
            )
    return None
