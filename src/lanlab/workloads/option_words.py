"""Parameters by the names of their options, for JSON output."""

from __future__ import annotations

from collections.abc import Mapping

from lanlab.workloads.definitions import definitions
from lanlab.workloads.peers import without_meaning
from lanlab.workloads.registry import workload


def by_option(workload_name: str, parameters: Mapping[str, object]) -> dict[str, object]:
    """
    Parameters by the names of their options, in the same units: bytes, bit/s, seconds.

    Args:
        workload_name: The workload of the parameters.
        parameters: By their keys. A parameter without an option, or of another version, keeps its
            key; a meaningless one is omitted, such as the transport of ICMP.

    Examples:
        >>> by_option("stream", {"message_size_bytes": 500, "rate_bps": 1000, "driver": "lanlab"})
        {'size': 500, 'rate': 1000, 'tool': 'lanlab'}
    """
    known = definitions(workload(workload_name).Parameters)
    named = {}
    unmeant = without_meaning(parameters) if workload_name == "echo" else ()
    for key, value in parameters.items():
        if key in unmeant:
            continue
        option = known[key].option if key in known else None
        named[key if option is None else option.removeprefix("--").replace("-", "_")] = value
    return named
