"""Which way a metric is better, so that a comparison can say it."""

from __future__ import annotations

import re
from typing import Literal

#: Whether more of a metric is better, or less.
Direction = Literal["more", "less"]

_MORE = frozenset(
    {
        "goodput_bps",
        "flow_goodput_min_bps",
        "received_ratio",
        "goodput_ratio",
        "received_messages",
        "received_messages_per_s",
        "jain_index",
        "replies",
        "replies_per_s",
        "files_per_s",
        "operations_per_s",
        "station_operations_min_per_s",
    }
)
#: Losses, disorder, time-outs and their like, beside every time and all use of processors.
_LESS = frozenset(
    {
        "loss_ratio",
        "blocked_ratio",
        "lost_messages",
        "lost_sender_queue_messages",
        "lost_link_messages",
        "lost_backlog_messages",
        "lost_socket_buffer_messages",
        "lost_late_messages",
        "duplicate_messages",
        "reordered_messages",
        "refused_messages",
        "unsent_messages",
        "skipped_messages",
        "late_messages",
        "retransmitted_segments",
        "timeouts",
        "late_replies",
        "duplicate_replies",
        "clock_error_ns",
        "connect_s",
        "faults",
        "stall_ratio",
        "start_skew_ns",
        "errors",
        "error_ratio",
        "retries",
        "wrong_data",
        "reconnects",
        "ended_stations",
        "unstarted_operations",
        "setup_errors",
        "station_operations_sd_per_s",
    }
)
_LESS_FORMS = re.compile(
    r"^(kernel_)?rtt_|^elapsed_|^response_|^connect_|^own_lateness_|^one_way_delay_"
    r"|^(open|read|write|sync|close|file_time|first_byte)_|^delay_variation_|_cpu_"
)


def metric_direction(metric: str) -> Direction | None:
    """
    Whether more or less of a metric is better: rates and what arrives up; times, losses and
    processor time down; `None` for what was asked for or is neither, such as an offered load.

    Args:
        metric: Key of a trial's results.

    Examples:
        >>> metric_direction("goodput_bps"), metric_direction("rtt_p99_ns")
        ('more', 'less')
        >>> metric_direction("receiver_cpu_s_per_gb"), metric_direction("offered_bps")
        ('less', None)
    """
    if metric in _MORE:
        return "more"
    if metric in _LESS or _LESS_FORMS.search(metric):
        return "less"
    return None
