"""Interface counters as the Linux kernel shows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

#: Columns of /proc/net/dev (net/core/net-procfs.c in Linux) that are kept, by position.
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
#: Queue counters (key of `tc -s -j qdisc`) and our name of each.
_QDISC_KEYS = {
    "bytes": "qdisc_bytes",
    "packets": "qdisc_packets",
    "drops": "qdisc_drops",
    "overlimits": "qdisc_overlimits",
    "backlog": "qdisc_backlog_bytes",
}


def read_interfaces(table: Path) -> dict[str, dict[str, int]]:
    """Counters of each interface in a table of the form of /proc/net/dev; none if there is none.

    Reading /proc/PID/net/dev shows those of that process's network namespace, without a process.
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


def root_queues(qdisc_json: str) -> dict[str, dict[str, Any]]:
    """The root queue of each interface, from the output of `tc -s -j qdisc show`."""
    return {entry["dev"]: entry for entry in json.loads(qdisc_json or "[]") if entry.get("root")}


def queue_counters(queue: dict[str, Any]) -> dict[str, int]:
    """The counters of one entry of `root_queues`, by our names."""
    return {ours: int(queue[theirs]) for theirs, ours in _QDISC_KEYS.items() if theirs in queue}
