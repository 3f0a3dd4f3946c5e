"""
How commands are grouped in `--help`, and the options of those that measure: what to send, where,
when to stop, trials, output, and how.

Loads nothing, as every command reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

#: What `--help` lists below each title: a command, and the module of `lanlab.cli` that has the
#: function of its name.
COMMANDS_BY_TITLE: Mapping[str, Mapping[str, str]] = {
    "Measure": {
        "stream": "stream",
        "echo": "echo",
        "load": "load",
        "saturation": "saturation",
        "copy": "copy",
        "stations": "stations",
    },
    "Studies": {
        "tour": "tour",
        "studies": "studies",
        "run": "run_study",
        "findings": "findings",
        "predict": "predict",
    },
    "Results": {
        "runs": "runs",
        "show": "show",
        "report": "report",
        "compare": "compare",
        "web": "web",
        "delete": "delete",
    },
    "Other": {"serve": "serve", "listen": "listen", "doctor": "doctor"},
}
_HOW = "How"
#: By the names of options. Those of a workload's parameters that stand nowhere are about how.
_GROUPS: Mapping[str, tuple[str, ...]] = {
    "What to send": (
        *("transport", "message_size_bytes", "rate_bps", "flow_rate", "rate_messages_per_s"),
        *("rate_requests_per_s", "outstanding_requests", "rate_operations_per_s", "flows"),
        *("traffic_direction", "load", "echo_transport", "echo_size_bytes"),
        "echo_rate_requests_per_s",
        *("service", "server", "download", "parallel_files", "stations", "read", "write"),
        *("read_ratio", "access", "file_bytes"),
    ),
    "Where": (
        *("testbed", "link", "to_host", "from_host", "to_address", "from_address", "ip_version"),
        *("port", "client_hosts", "engines", "remove_engine", "password_file"),
    ),
    "When to stop": (
        *("time_s", "bytes", "messages", "requests", "warmup_s", "drain_s", "longest_s"),
        *("limit", "statistic"),
    ),
    _HOW: (),
    "Trials": ("trials", "seed", "setup", "prepare", "cleanup", "command_timeout", "driver"),
    "Output": (
        *("interval", "live", "as_json", "verbose", "store", "pcap"),
        *("export_markdown", "export_csv", "export_json", "export_openmetrics", "export_intervals"),
        "help",
    ),
}
#: Behind the name of a parameter: an option that stands for one of its values.
_FLAG = "_flag_"
#: A command with this option has enough of them to be grouped.
_SIGN = "export_csv"


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """
    The options of a command by group; none: it has too few to be grouped.

    Args:
        names: Names of its options, in order, which they keep within each group.
    """
    own = list(names)
    if _SIGN not in own:
        return {}
    group_of = {name: group for group, members in _GROUPS.items() for name in members}
    found: dict[str, list[str]] = {group: [] for group in _GROUPS}
    for name in own:
        found[group_of.get(name.partition(_FLAG)[0], _HOW)].append(name)
    return found
