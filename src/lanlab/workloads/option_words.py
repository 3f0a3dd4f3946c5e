"""Parameters by the names of their options, for JSON output."""

from __future__ import annotations

from collections.abc import Mapping

from lanlab.workloads.definitions import definitions
from lanlab.workloads.peers.peer import without_meaning
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
    unmeant = without_meaning(parameters) if workload_name == "echo" else ()
    return {
        option_word(workload_name, key).replace("-", "_"): value
        for key, value in parameters.items()
        if key not in unmeant
    }


def option_word(workload_name: str, key: str) -> str:
    """
    The name of a parameter's option without its hyphens, or the key of one without an option.

    Examples:
        >>> option_word("stream", "message_size_bytes"), option_word("stream", "os")
        ('size', 'os')
    """
    known = definitions(workload(workload_name).Parameters)
    option = known[key].option if key in known else None
    return key if option is None else option.removeprefix("--")
