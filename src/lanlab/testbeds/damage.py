"""
Detects changes of a virtual LAN's hosts since they were set up.

A link that was taken down and up again looks intact but has lost its settings: Linux drops the
neighbours and the IPv6 addresses of an interface that goes down. Later results would describe
another network. So the state of each host is recorded once and compared, including how often its
link lost or regained its carrier, as when a cable is pulled and plugged in again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Found(NamedTuple):
    devices: frozenset[str]
    up: frozenset[str]
    #: Interface of each address, route and neighbour, and the kernel's names for a neighbour's
    #: state.
    entries: frozenset[tuple[str, str]]


def found_on(pid: int) -> Found:
    """The state of a process's network namespace, read without starting one; empty once the process
    is gone.
    """
    net = Path(f"/proc/{pid}/net")
    # The table has two header lines (net/core/net-procfs.c in Linux).
    devices = [line.partition(":")[0].strip() for line in _lines(net / "dev")[2:]]
    # Every interface that is up is in the group of all hosts (RFC 1112, section 7.1); one
    # that is down is not in the table.
    up = [line.split()[1] for line in _lines(net / "igmp")[1:] if line[:1].isdigit()]
    entries = []
    for line in _lines(net / "if_inet6"):
        address, _, prefix, *_, device = line.split()
        entries.append((device, f"address {address}/{int(prefix, 16)}"))
    if not entries:
        # With IPv4 alone, only neighbours show that an interface was down. Otherwise skip them: for
        # each host the kernel walks through the neighbours of all hosts.
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
    """Which link was interrupted, in the words of `damage_of`, from the number of carrier changes
    at set-up and now.
    """
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
    The change of a testbed since its set-up, in words.

    Args:
        made: The state of each host at set-up.
        now: The current state; `None` for a host whose holder has ended.

    Returns:
        A sentence without a full stop about the first changed host; `None` if there is none.
    """
    # If a host is gone, the others have lost their cables to it.
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
