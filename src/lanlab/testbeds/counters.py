"""Interface counters of the Linux kernel."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from lanlab.messages import HostInterface

_COLUMNS = {
    "rx_bytes": 0,
    "rx_packets": 1,
    "rx_errors": 2,
    "rx_drops": 3,
    "tx_bytes": 8,
    "tx_packets": 9,
    "tx_errors": 10,
    "tx_drops": 11,
}
_QUEUE_COUNTERS = ("bytes", "packets", "drops", "overlimits", "backlog_bytes")


def read_interfaces(table: Path) -> dict[str, dict[str, int]]:
    """Counters of each interface from a table in the form of /proc/net/dev; empty without one.

    /proc/PID/net/dev shows the counters of that process's network namespace without starting a
    process.
    """
    try:
        lines = table.read_text().splitlines()[2:]
    except OSError:
        return {}
    counters = {}
    for line in lines:
        device, _, values = line.partition(":")
        numbers = values.split()
        counters[device.strip()] = {name: int(numbers[at]) for name, at in _COLUMNS.items()}
    return counters


def queue_counters(interface: HostInterface) -> dict[str, int]:
    """The counters of an interface's queue, as read by an engine, by lanlab's names."""
    queue = interface["queue"] or {}
    counts = cast("dict[str, int]", queue)
    return {f"qdisc_{name}": counts[name] for name in _QUEUE_COUNTERS if name in counts}
