"""Which way each metric is better is decided for each metric that a workload has."""

from __future__ import annotations

import pytest

from lanlab.workloads import WORKLOADS
from lanlab.workloads.directions import metric_direction

#: What was asked for, or what is neither better nor worse by itself.
NEITHER = {
    # Of stations: how many, what of the trial counts, and whether it is one.
    "stations",
    "station_operations_max_per_s",
    "readings",
    "steady_start_ns",
    "steady_end_ns",
    "steady_ratio",
    "little_ratio",
    "busiest_thread_ratio",
    "offered_bps",
    "sent_bps",
    "offered_messages",
    "sent_messages",
    "back_to_back_messages",
    "gap_p1_ns",
    "gap_p50_ns",
    "gap_p99_ns",
    "receive_calls",
    "first_control_share_ratio",
    "flow_goodput_max_bps",
    "messages_per_segment",
    "bytes_per_segment",
    "requests",
    # Of files: how many there were, and parts of the times that are judged.
    "copied_files",
    "copied_bytes",
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_metric_is_up_or_down_or_knowingly_neither(name: str) -> None:
    metrics = WORKLOADS[name].metrics
    without = {metric for metric in metrics if metric_direction(metric) is None}
    assert without <= NEITHER
    assert not {metric for metric in NEITHER if metric_direction(metric) is not None}


def test_throughput_is_better_up_and_times_losses_and_processors_down() -> None:
    assert metric_direction("received_messages_per_s") == "more"
    for metric in ("rtt_p999_ns", "lost_messages", "loss_ratio", "sender_cpu_s", "timeouts"):
        assert metric_direction(metric) == "less"
