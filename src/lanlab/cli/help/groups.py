"""
The groups of commands in `--help`. For commands with many options, also which options are on plain
`--help`, and which on the pages of topics.

This module imports nothing at its start, because every command reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

#: The commands under each title of `--help`, with the first sentence of their own help. Each is a
#: function in the module of its name.
COMMANDS_BY_TITLE: Mapping[str, Mapping[str, str]] = {
    "Measure": {
        "stream": "Send messages from one host to another and count what arrives.",
        "echo": "Send requests that come back and time them.",
        "load": "Measure latency under load: round trips alone and with streams.",
        "saturation": "Search for the highest load that loses no more than a goal.",
        "copy": "Time copies of files over file services, and rank the services.",
        "nas": "Find the fastest protocol of a file server, and for what.",
        "stations": "Find how many stations (clients) a file service can serve.",
        "metadata": "Time operations on names at file services, and rank the services.",
    },
    "Studies": {
        "tour": "Measure and simulate two published studies, and check their findings.",
        "studies": "List the studies that come with lanlab.",
        "run": "Run a study, continue a run, or alternate runs to compare.",
        "findings": "Check the findings of a study, with the numbers of each verdict.",
        "predict": "Simulate a study with changed machine parameters.",
    },
    "Results": {
        "runs": "List the runs in the store: what each measured, and its result.",
        "show": "Show a study, or the results of a run.",
        "report": "Write a report of runs: one HTML page, figures and tables.",
        "compare": "Compare runs of one study, condition by condition.",
        "web": "Show the runs of a store in a browser, until Ctrl-C.",
        "delete": "Delete runs with their trials and series.",
    },
    "Other": {
        "serve": "Serve a directory until Ctrl-C.",
        "peer": "Serve clients of iperf3, nc and other programs, until Ctrl-C.",
        "listen": "List the protocols and stations on a network segment; sends nothing.",
        "doctor": "Check what this machine supports, and how to install the rest.",
    },
}
_HOW = "how"
#: Titles of groups of options by topic, as in `--help where`.
TITLES: Mapping[str, str] = {
    "what": "What",
    "where": "Where",
    "stop": "When to stop",
    _HOW: "How",
    "smb1": "SMB 1",
    "ipx": "IPX and NetWare",
    "stack": "Small TCP",
    "trials": "Trials",
    "output": "Output",
}
#: Names of options by topic, besides those of one service. All other options belong to the topic
#: "how".
_GROUPS: Mapping[str, tuple[str, ...]] = {
    "what": (
        *("transport", "message_size_bytes", "rate_bps", "flow_rate", "rate_messages_per_s"),
        *("rate_requests_per_s", "outstanding_requests", "rate_operations_per_s", "flows"),
        *("traffic_direction", "load", "echo_transport", "echo_size_bytes"),
        *("echo_rate_requests_per_s", "goals", "low", "high", "curve"),
        *("service", "server", "download", "parallel_files", "stations", "read", "write"),
        *("read_ratio", "access", "file_size_bytes", "name", "share", "user", "guest"),
        *("client_count", "files", "tree_width", "tree_depth"),
    ),
    "where": (
        *("testbed", "link", "peer", "to_host", "from_host", "to_address", "from_address"),
        *("address", "ip_version", "port", "client_hosts", "engines", "remove_engine"),
        *("password_file", "interface", "allow_default_route", "machines"),
    ),
    "stop": (
        *("time_s", "time", "bytes", "messages", "requests", "readings_per_station"),
        *("interval_ratio", "width", "warmup_s", "drain_s", "longest_s", "longest"),
        *("limit", "statistic"),
    ),
    _HOW: (),
    "smb1": ("carrier", "require_signing"),
    "ipx": ("ipx_framing", "ipx_network"),
    "stack": ("stack", "stack_address", "stack_profile", "stack_memory", "stack_memory_bytes"),
    "trials": ("trials", "driver", "seed", "setup", "prepare", "cleanup", "command_timeout"),
    "output": (
        *("as_json", "verbose", "quiet", "store", "pcap", "interval", "live"),
        *("export_markdown", "export_csv", "export_json", "export_openmetrics", "export_intervals"),
        "help",
    ),
}
#: Options that plain `--help` shows.
_COMMON = {
    *("transport", "message_size_bytes", "rate_bps", "rate_requests_per_s", "flows", "load"),
    *("outstanding_requests", "goals", "low", "high", "curve", "width"),
    *("service", "server", "download", "parallel_files", "stations", "read", "write"),
    *("client_count", "files", "read_ratio", "name", "share", "user", "guest", "testbed"),
    *("link", "peer"),
    *("to_host", "from_host", "address", "port", "password_file", "time_s", "time"),
    *("bytes", "requests", "limit", "trials", "driver", "as_json", "verbose", "help"),
}
#: In names of options that set a parameter to one value, separates parameter and value.
_FLAG = "_flag_"
#: Commands with more options have topics, because their full help does not fit on a screen.
_MOST = 20


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """The options of a command by topic, in order; empty if there are too few for topics."""
    own = list(names)
    if len(own) <= _MOST:
        return {}
    from lanlab.service_options import OPTIONS

    topic_of = {name: topic for topic, members in _GROUPS.items() for name in members}
    topic_of |= {key: row.topic for key, row in OPTIONS.items()}
    found: dict[str, list[str]] = {topic: [] for topic in TITLES}
    for name in own:
        found[topic_of.get(name.partition(_FLAG)[0], _HOW)].append(name)
    return {topic: members for topic, members in found.items() if members}


def is_common(name: str) -> bool:
    """Whether plain `--help` shows an option."""
    key, flag, _ = name.partition(_FLAG)
    # Of such options only `--reverse` is common, because it is shorter than `--direction reverse`.
    return key == "traffic_direction" if flag else key in _COMMON
