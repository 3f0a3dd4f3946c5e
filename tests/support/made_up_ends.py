"""What two engines could have told of a trial that never was: every field, plausible defaults."""

from typing import Any

from lanlab.roles import ROLES
from lanlab.workloads import TrialOutcome

SECOND_NS = 1_000_000_000
CAPABLE = {"thread_usage": True, "socket_drop_reports": True, "local_drop_reports": False}


def distribution(**changes: int) -> dict[str, Any]:
    return {
        "samples": 100,
        "mean_ns": 1_000_000,
        "sd_ns": 1_000,
        "min_ns": 990_000,
        "p1_ns": 995_000,
        "p50_ns": 1_000_000,
        "p90_ns": 1_004_000,
        "p99_ns": 1_005_000,
        "p999_ns": 1_009_000,
        "max_ns": 1_010_000,
        "histogram": "",
        **changes,
    }


def host_window(**changes: Any) -> dict[str, Any]:
    return {
        "elapsed_ns": SECOND_NS,
        "processors": {
            "user_ns": 500_000_000,
            "system_ns": 600_000_000,
            "interrupt_ns": 10_000_000,
            "soft_interrupt_ns": 30_000_000,
            "steal_ns": 0,
            "idle_ns": 860_000_000,
        },
        "engine_cpu_ns": 400_000_000,
        "softnet_processed": 2000,
        "softnet_dropped": 0,
        "softnet_squeezed": 0,
        "udp_counters": {},
        "clock_step_ns": 0,
        **changes,
    }


def cpu(user_ns: int, system_ns: int) -> dict[str, int]:
    return {
        "user_ns": user_ns,
        "system_ns": system_ns,
        "voluntary_switches": 5,
        "involuntary_switches": 1,
    }


def stream_sent(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "stream_sent",
        "ended_by": "finished",
        "io": "single",
        "io_choice": {"reason": "single messages can follow this rate"},
        "threads": 1,
        "burst_messages": 1,
        "start_skew_ns": 2_000,
        "elapsed_ns": SECOND_NS,
        "offered_messages": 1000,
        "sent_messages": 1000,
        "refused_messages": 0,
        "refused_retried": 0,
        "total_refused": 0,
        "unsent_messages": 0,
        "skipped_messages": 0,
        "late_messages": 0,
        "max_lateness_ns": 20_000,
        "back_to_back_messages": 0,
        "gap": distribution(),
        "blocked_ns": 250_000_000,
        "total_messages": 1200,
        "send_buffer_bytes": 212_992,
        "cpu": cpu(1_000_000, 3_000_000),
        "host": host_window(),
        "flows": [{"local_port": 1, "first_measured": 200, "offered_messages": 1000,
                   "sent_messages": 1000, "tcp": None}],
        **changes,
    }  # fmt: skip


def stream_received(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "stream_received",
        "ended_by": "finished",
        "io": "single",
        "receive": "poll",
        "receive_choice": {"reason": "it took the most of three"},
        "threads": 1,
        "timestamps": "program",
        "read_bytes": 501,
        "window_ns": SECOND_NS,
        "window_messages": 1000,
        "window_bytes": 500_000,
        "measured_messages": 1000,
        "overdue_messages": 0,
        "socket_dropped_datagrams": 0,
        "receive_calls": 900,
        "mark_seen": True,
        "duplicate_messages": 0,
        "reordered_messages": 0,
        "stale_messages": 0,
        "foreign_datagrams": 0,
        "total_messages": 1200,
        "total_bytes": 600_000,
        "delay_variation": None,
        "one_way_delay": None,
        "intervals": {"interval_ns": 100_000_000, "messages": [], "bytes": []},
        "receive_buffer_bytes": 212_992,
        "cpu": cpu(2_000_000, 6_000_000),
        "host": host_window(elapsed_ns=SECOND_NS + 1),
        "flows": [flow_received(500_000)],
        **changes,
    }


def flow_received(window_bytes: int) -> dict[str, Any]:
    return {
        "window_bytes": window_bytes,
        "window_ns": SECOND_NS,
        "measured_messages": window_bytes // 500,
        "tcp": None,
    }


def exchange_of(
    sent: dict[str, Any],
    received: dict[str, Any],
    *,
    same_kernel: bool = True,
    capabilities: dict[str, bool] = CAPABLE,
    bound_ns: int = 0,
) -> TrialOutcome:
    roles = ROLES["stream" if "offered_messages" in sent else "echo"]
    return TrialOutcome(
        dict(zip(roles, (sent, received), strict=True)),
        setup={
            "capabilities": dict.fromkeys(roles, capabilities),
            "clocks": {"same_kernel": same_kernel, "bound_ns": bound_ns},
        },
    )
