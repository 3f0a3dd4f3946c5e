"""
The metrics of every workload, one row each: key, unit, name, direction, format. Tables, figures,
comparisons and study files use them.

Imports nothing, because every command needs the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, cast

from lanlab.frozen import dataclass
from lanlab.roles import REVERSE_PREFIX

Direction = Literal["more", "less"]


@dataclass(frozen=True)
class Metric:
    key: str
    unit: str
    #: Displayed name; empty: the key in words.
    name: str = ""
    #: `None`: a setting, or neither better nor worse by itself.
    better: Direction | None = None
    #: Displayed unit, and its size in `unit`; `None`: the usual one.
    shown: tuple[str, float] | None = None


def _table(*rows: Metric | Iterable[Metric]) -> Mapping[str, Metric]:
    flat = [one for row in rows for one in ([row] if isinstance(row, Metric) else row)]
    return {metric.key: metric for metric in flat}


def _counts(better: Direction | None, unit: str, keys: str) -> list[Metric]:
    return [Metric(key, unit, better=better) for key in keys.split()]


_WORDS = {
    "mean": "mean",
    "sd": "standard deviation",
    "min": "minimum",
    "p1": "1st percentile",
    "p50": "median",
    "p90": "90th percentile",
    "p99": "99th percentile",
    "p999": "99.9th percentile",
    "max": "maximum",
}


def _times(key: str, name: str, statistics: str, unit: str = "ns") -> list[Metric]:
    return [
        Metric(f"{key}_{each}_{unit}", unit, f"{name}, {_WORDS[each]}", "less")
        for each in statistics.split()
    ]


def _cpu(role: str, name: str) -> list[Metric]:
    return [
        Metric(f"{role}_cpu_s", "s", f"{name} CPU time", "less"),
        Metric(f"{role}_cpu_user_s", "s", f"{name} CPU time, user", "less"),
        Metric(f"{role}_cpu_system_s", "s", f"{name} CPU time, system", "less"),
    ]


_GOODPUT = Metric("goodput_bps", "bit/s", "goodput", "more")
_START_SKEW = Metric("start_skew_ns", "ns", "start skew", "less")
_INTERRUPTS = Metric("interrupt_cpu_s", "s", "time in interrupts", "less")
_STACK_HELD = Metric("stack_held_bytes", "B", "most memory that the small stack held", "less")
_RETRIES = Metric("retries", "retries", "retries", "less")
_ELAPSED = Metric("elapsed_s", "s", "elapsed time", "less")
_JAIN = Metric("jain_index", "ratio", "Jain's index", "more", ("", 1.0))
ROUND_TRIP_STATISTICS = ("mean", "sd", "min", "p1", "p50", "p90", "p99", "p999", "max")
FILE_STATISTICS = ("mean", "p50", "p90", "p99", "max")
FILE_CALLS = ("open", "read", "write", "sync", "close")
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
#: Fewest values for which a percentile is given: with fewer it is just the minimum or maximum.
LEAST_SAMPLES = {"p1": 100, "p90": 10, "p99": 100, "p999": 1000}


def time_metrics(
    prefix: str, times: Mapping[str, object] | None, statistics: Sequence[str], unit: str = "ns"
) -> dict[str, float | int]:
    """Statistics of an engine's distribution, without percentiles for which it has too few values;
    empty for an empty one.
    """
    known = cast("Mapping[str, float | int]", times or {"samples": 0})
    found = {
        name: known[f"{name}_ns"]
        for name in statistics
        if known["samples"] and known["samples"] >= LEAST_SAMPLES.get(name, 1)
    }
    return {
        f"{prefix}_{name}_{unit}": value / 1e9 if unit == "s" else value
        for name, value in found.items()
    }


_ONE_WAY_STREAM = _table(
    _GOODPUT,
    Metric("received_ratio", "ratio", "received", "more"),
    Metric("goodput_ratio", "ratio", "received in time", "more"),
    Metric("loss_ratio", "ratio", better="less"),
    Metric("offered_bps", "bit/s", "offered load"),
    Metric("sent_bps", "bit/s", "sent"),
    _counts(None, "messages", "offered_messages sent_messages"),
    _counts("more", "messages", "received_messages"),
    _counts("less", "messages", "lost_messages lost_sender_queue_messages lost_link_messages"),
    _counts("less", "messages", "lost_backlog_messages lost_socket_buffer_messages"),
    _counts("less", "messages", "lost_adapter_queue_messages lost_chance_messages"),
    _counts("less", "messages", "lost_collisions_messages lost_switch_queue_messages"),
    _counts("less", "messages", "lost_late_messages duplicate_messages reordered_messages"),
    _counts("less", "messages", "refused_messages unsent_messages skipped_messages"),
    _counts("less", "messages", "late_messages"),
    _counts(None, "messages", "back_to_back_messages"),
    Metric("blocked_ratio", "ratio", better="less"),
    _counts(None, "ns", "gap_p1_ns gap_p50_ns gap_p99_ns"),
    _times("one_way_delay", "one-way delay", "min p50 p99"),
    Metric("clock_error_ns", "ns", better="less"),
    _times("delay_variation", "delay variation", "mean p99"),
    _cpu("sender", "sender's"),
    _cpu("receiver", "receiver's"),
    Metric("sender_cpu_ns_per_message", "ns/message", "sending CPU time", "less"),
    Metric("receiver_cpu_ns_per_message", "ns/message", "receiving CPU time", "less"),
    Metric("sender_cpu_s_per_gb", "s/GB", "sending CPU time", "less"),
    Metric("receiver_cpu_s_per_gb", "s/GB", "receiving CPU time", "less"),
    _INTERRUPTS,
    Metric("received_messages_per_s", "messages/s", "messages received", "more"),
    Metric("receive_calls", "calls"),
    _JAIN,
    Metric("first_control_share_ratio", "ratio", "share of the first congestion control"),
    Metric("flow_goodput_min_bps", "bit/s", "goodput, least flow", "more"),
    Metric("flow_goodput_max_bps", "bit/s", "goodput, greatest flow"),
    Metric("retransmitted_segments", "segments", better="less"),
    Metric("messages_per_segment", "messages/segment"),
    Metric("bytes_per_segment", "B/segment"),
    Metric("outage_ns", "ns", "longest outage", "less"),
    Metric("outage_from_ns", "ns", "time of the outage, from the start"),
    Metric("rate_outside_outage_bps", "bit/s", "rate outside the outage"),
    Metric("acknowledged_bps", "bit/s", "rate acknowledged by the peer's TCP", "more"),
    Metric("acknowledged_bytes", "B", "acknowledged by the peer's TCP", "more"),
    Metric("total_acknowledged_bytes", "B", "acknowledged, warm-up included"),
    Metric("total_received_bytes", "B", "received, warm-up included"),
    Metric("returned_bytes", "B", "sent back by the peer"),
    _STACK_HELD,
    Metric("peer_goodput_bps", "bit/s", "goodput by the peer's report", "more"),
    Metric("peer_received_bytes", "B", "received by the peer's report", "more"),
    Metric("peer_sent_bytes", "B", "sent by the peer's report"),
    _counts(None, "messages", "total_sent_messages total_received_messages peer_sent_messages"),
    _counts("more", "messages", "peer_received_messages"),
    _counts("less", "messages", "peer_lost_messages"),
    Metric("peer_jitter_ns", "ns", "jitter by the peer's report", "less"),
    Metric("peer_retransmitted_segments", "segments", better="less"),
    _START_SKEW,
)

#: Results of the second direction of a bidirectional stream, named after the first's.
REVERSE_STREAM = _table(
    Metric(
        f"{REVERSE_PREFIX}{one.key}",
        one.unit,
        f"{one.name}, reverse" if one.name else "",
        one.better,
        one.shown,
    )
    for one in _ONE_WAY_STREAM.values()
    if one is not _INTERRUPTS
)
STREAM = {**_ONE_WAY_STREAM, **REVERSE_STREAM}

ECHO = _table(
    Metric("rtt_mean_ns", "ns", "round-trip time", "less"),
    _times("rtt", "round-trip time", " ".join(ROUND_TRIP_STATISTICS[1:])),
    _times("kernel_rtt", "round-trip time by the kernel", " ".join(ROUND_TRIP_STATISTICS)),
    Metric("requests", "requests"),
    Metric("replies", "replies", better="more"),
    Metric("timeouts", "requests", "time-outs", "less"),
    _counts("less", "replies", "late_replies duplicate_replies"),
    Metric("replies_per_s", "1/s", "replies a second", "more"),
    _cpu("requester", "requester's"),
    _cpu("responder", "responder's"),
    _INTERRUPTS,
    _START_SKEW,
)

#: Metrics of an echo during streams: the echo's, and for each direction the streams', except counts
#: at a host that both share.
_BESIDE_ECHO = (
    *("goodput_bps", "offered_bps", "sent_bps", "sent_messages", "received_messages"),
    *("lost_messages", "loss_ratio", "jain_index", "flow_goodput_min_bps"),
    *("flow_goodput_max_bps", "retransmitted_segments"),
)
LOAD = {
    **ECHO,
    **_table(
        Metric("echo_loss_ratio", "ratio", "requests without a reply", "less"),
        Metric("echo_round_trips_per_minute", "1/min", "echo round trips per minute", "more"),
        Metric("load_idle_ratio", "ratio", "time without load", "less"),
    ),
    **{key: STREAM[key] for one in _BESIDE_ECHO for key in (one, f"{REVERSE_PREFIX}{one}")},
}


def _explained(prefix: str = "", what: str = "") -> list[Metric]:
    rows = (
        ("waits", "round trips", "round trips that a client waited for"),
        ("response_mean_s", "s", "mean response time of small requests"),
        ("waiting_s", "s", "round trips, each of mean response time"),
        ("moving_s", "s", "time in which requests moved data"),
        ("explained_ratio", "ratio", "time that round trips and data explain"),
    )
    return [
        Metric(f"{prefix}{key}", unit, f"{name}{what}", None if unit == "ratio" else "less")
        for key, unit, name in rows
    ]


_FRAMES = [
    *_counts(None, "frames", "frames_sent frames_received"),
    *_counts("less", "frames", "frames_sent_again frames_discarded frames_lost_here rejects"),
    *_counts("less", "timers", "t1_expiries"),
]

COPY = _table(
    _GOODPUT,
    _ELAPSED,
    Metric("elapsed_ns", "ns", "elapsed time", "less"),
    Metric("files_per_s", "1/s", "files a second", "more"),
    Metric("exchanges_per_file", "exchanges", "requests and answers for each file", "less"),
    _explained(),
    _times("first_byte", "time to the first byte", "p50 max", "s"),
    _times("file_time", "time of a file", " ".join(FILE_STATISTICS), "s"),
    *(_times(call, f"time of a call: {call}", "p50 p99", "s") for call in FILE_CALLS),
    Metric("connect_s", "s", "connecting and logging in, mean", "less"),
    _RETRIES,
    Metric("faults", "faults", "faults", "less"),
    _FRAMES,
    Metric("wire_frames", "frames", "frames on the medium", "less"),
    Metric("wire_bytes", "B", "bytes on the medium", "less"),
    Metric("wire_frames_per_kb", "frames/kB", "frames on the medium for each kB", "less"),
    Metric("wire_bytes_per_byte", "B/B", "bytes on the medium for each byte", "less"),
    _STACK_HELD,
    Metric("stall_ratio", "ratio", "share of time in stalled calls", "less"),
    _cpu("client", "client's"),
    Metric("client_cpu_s_per_gb", "s/GB", "client's CPU time", "less"),
    Metric("server_cpu_s", "s", "server's CPU time", "less"),
    Metric("server_cpu_s_per_gb", "s/GB", "server's CPU time", "less"),
    _INTERRUPTS,
    Metric("copied_files", "files", "files copied"),
    Metric("copied_bytes", "B", "bytes copied"),
    _START_SKEW,
)

STATIONS = _table(
    Metric("stations", "stations"),
    Metric("operations_per_s", "1/s", "throughput", "more", ("operations/s", 1.0)),
    _GOODPUT,
    Metric("response_mean_ns", "ns", "mean response time", "less"),
    _times("response", "response time", "sd p50 p90 p99 max"),
    # Over all stations: standard deviation divided by mean.
    Metric("response_cv_ratio", "ratio", better="less"),
    # Over the stations' mean response times: standard deviation divided by mean.
    Metric("response_stations_cv_ratio", "ratio", better="less"),
    _JAIN,
    Metric("station_operations_min_per_s", "1/s", better="more"),
    Metric("station_operations_max_per_s", "1/s"),
    Metric("station_operations_sd_per_s", "1/s", better="less"),
    _counts("less", "ns", "response_station_min_ns response_station_max_ns"),
    Metric("readings", "readings"),
    Metric("errors", "errors", better="less"),
    Metric("error_ratio", "ratio", better="less"),
    _RETRIES,
    Metric("wrong_data", "readings", better="less"),
    _counts(None, "ns", "steady_start_ns steady_end_ns"),
    Metric("steady_ratio", "ratio"),
    Metric("little_ratio", "ratio", "Little's law, X (R + Z) / N"),
    _START_SKEW,
    Metric("reconnects", "reconnects", better="less"),
    Metric("ended_stations", "stations", better="less"),
    Metric("unstarted_operations", "operations", better="less"),
    Metric("setup_errors", "errors", better="less"),
    _times("connect", "connecting and logging in", "p50 max", "s"),
    _times("own_lateness", "own lateness", "p99"),
    Metric("busiest_thread_ratio", "ratio"),
    _FRAMES,
    _cpu("client", "client's"),
    _INTERRUPTS,
    _ELAPSED,
)

#: Operations of `metadata` in order, with their names.
OPERATIONS: Mapping[str, str] = {
    "make_directory": "mkdir",
    "create": "create",
    "stat": "stat",
    "list": "list",
    "open": "open",
    "rename": "rename",
    "remove": "remove",
    "remove_directory": "rmdir",
}
METADATA = _table(
    Metric("files_created_and_removed_per_s", "1/s", "files created and removed a second", "more"),
    *(
        Metric(f"{operation}_per_s", "1/s", f"{words} operations a second", "more")
        for operation, words in OPERATIONS.items()
    ),
    *(
        _times(f"{operation}_time", f"response time: {words}", "p50 p99 max", "s")
        for operation, words in OPERATIONS.items()
    ),
    *(
        Metric(f"{operation}_exchanges", "exchanges", f"requests and answers: {words}", "less")
        for operation, words in OPERATIONS.items()
    ),
    *(_explained(f"{operation}_", f": {words}") for operation, words in OPERATIONS.items()),
    Metric("connect_s", "s", "connecting and logging in, mean", "less"),
    _FRAMES,
    Metric("verified_names", "names", "names compared with listings"),
    _cpu("client", "client's"),
    Metric("server_cpu_s", "s", "server's CPU time", "less"),
    _INTERRUPTS,
    _ELAPSED,
    _START_SKEW,
)

METRICS: Mapping[str, Metric] = {**STREAM, **ECHO, **LOAD, **COPY, **STATIONS, **METADATA}
_LESS_FORMS = re.compile(r"^(rtt|elapsed|response|connect|file_time)_|_cpu_")


def metric_direction(key: str) -> Direction | None:
    """
    Whether more or less of a metric is better: more for rates and arrivals; less for times, losses
    and processor time; `None` for settings and neutral metrics, such as an offered load.

    Args:
        key: Key of a trial's results.

    Examples:
        >>> metric_direction("goodput_bps"), metric_direction("rtt_p99_ns")
        ('more', 'less')
        >>> metric_direction("receiver_cpu_s_per_gb"), metric_direction("offered_bps")
        ('less', None)
    """
    if key in METRICS:
        return METRICS[key].better
    return "less" if _LESS_FORMS.search(key) else None
