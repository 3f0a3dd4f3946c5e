"""The table of metrics: unit, name and which way is better, for each metric of a workload."""

import pytest

from lanlab.figures.wording import quantity
from lanlab.roles import REVERSE_PREFIX
from lanlab.studies.load import parse_study
from lanlab.workloads import WORKLOADS
from lanlab.workloads.metrics import ECHO, METRICS, OPERATIONS, Metric, metric_direction

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
    "outage_from_ns",
    "rate_outside_outage_bps",
    "requests",
    # Of a stream with a peer: what either end counted, to be compared with the other.
    "returned_bytes",
    "total_acknowledged_bytes",
    "total_received_bytes",
    "total_received_messages",
    "total_sent_messages",
    "peer_sent_bytes",
    "peer_sent_messages",
    # Of files: how many there were, and parts of the times that are judged.
    "copied_files",
    "copied_bytes",
    "verified_names",
    # Of a carrier on Ethernet: how many there were; those that were lost are judged.
    "frames_sent",
    "frames_received",
    # How far the time is understood.
    "explained_ratio",
    *(f"{operation}_explained_ratio" for operation in OPERATIONS),
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_metric_is_up_or_down_or_knowingly_neither(name: str) -> None:
    metrics = WORKLOADS[name].metrics
    without = {
        metric.removeprefix(REVERSE_PREFIX)
        for metric in metrics
        if metric_direction(metric) is None
    }
    assert without <= NEITHER
    assert not {metric for metric in NEITHER if metric_direction(metric) is not None}


def test_higher_throughput_and_lower_times_losses_and_cpu_are_better() -> None:
    assert metric_direction("received_messages_per_s") == "more"
    for metric in ("rtt_p999_ns", "lost_messages", "loss_ratio", "sender_cpu_s", "timeouts"):
        assert metric_direction(metric) == "less"


def test_a_key_means_the_same_in_every_workload() -> None:
    for kind in WORKLOADS.values():
        assert all(METRICS[key] == metric for key, metric in kind.metrics.items())


def test_a_new_metric_needs_only_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Metric("jitter_ns", "ns", "jitter", "less", ("µs", 1e3))
    for table in (ECHO, METRICS):
        monkeypatch.setitem(table, "jitter_ns", row)  # type: ignore[misc]

    study = parse_study(
        {
            "schema": 1,
            "id": "jitter",
            "title": "Jitter",
            "testbed": {"hosts": 2},
            "experiment": [
                {
                    "id": "one",
                    "title": "One",
                    "workload": "echo",
                    "metrics": ["jitter_ns"],
                    "parameters": {"time_s": 1},
                }
            ],
            "scale": {"quick": {"trials": {"min": 1, "max": 1}}},
        },
        "jitter.toml",
    )

    assert study.experiment[0].metrics == ("jitter_ns",)
    assert metric_direction("jitter_ns") == "less"
    shown = quantity(study, "jitter_ns")
    assert (shown.name, shown.text(2500.0)) == ("jitter", "2.500 µs")
