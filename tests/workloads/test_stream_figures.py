"""The figures of a stream, worked out by hand from counts that are all different."""

from typing import Any

import pytest
from made_up_ends import distribution, flow_received, host_window, stream_received, stream_sent
from test_stream_results import metrics

from lanlab.workloads import CounterChanges
from lanlab.workloads.stream.fairness import jain_index
from lanlab.workloads.stream.losses import LOST_ON_THE_WAY, lost_by_place
from lanlab.workloads.stream.results import flow_goodputs_bps

#: In two seconds, of 500 bytes each: no two counts are alike.
SENT: dict[str, Any] = {
    "elapsed_ns": 2_000_000_000,
    "offered_messages": 2500,
    "sent_messages": 2000,
    "refused_messages": 310,
    "unsent_messages": 120,
    "skipped_messages": 70,
    "late_messages": 17,
    "max_lateness_ns": 23_000,
    "start_skew_ns": 1_900,
    "burst_messages": 4,
    "blocked_ns": 500_000_000,
    "back_to_back_messages": 33,
    "total_messages": 2400,
}
#: In 1.6 s of the same.
RECEIVED: dict[str, Any] = {
    "window_ns": 1_600_000_000,
    "window_messages": 1440,
    "window_bytes": 720_000,
    "measured_messages": 1500,
    "receive_calls": 987,
    "duplicate_messages": 3,
    "reordered_messages": 5,
    "stale_messages": 7,
    "foreign_datagrams": 11,
    "total_messages": 1800,
    "total_bytes": 900_000,
}


def test_each_count_and_rate_has_its_own_name() -> None:
    found = metrics(stream_sent(**SENT), stream_received(**RECEIVED))
    expected = {
        "offered_messages": 2500,
        "offered_bytes": 1_250_000,
        "sent_messages": 2000,
        "sent_bytes": 1_000_000,
        "refused_messages": 310,
        "unsent_messages": 120,
        "skipped_messages": 70,
        "late_messages": 17,
        "max_lateness_ns": 23_000,
        "start_skew_ns": 1_900,
        "burst_messages": 4,
        "receive_calls": 987,
        "back_to_back_messages": 33,
        "duplicate_messages": 3,
        "reordered_messages": 5,
        "stale_messages": 7,
        "foreign_datagrams": 11,
        # 1,250,000 and 1,000,000 bytes in 2 s; 720,000 bytes and 1,440 messages in 1.6 s.
        "offered_bps": 5_000_000,
        "sent_bps": 4_000_000,
        "goodput_bps": 3_600_000,
        "received_messages_per_s": 900,
        "goodput_ratio": 0.72,
        # Half a second of two.
        "blocked_ratio": 0.25,
        "received_messages": 1500,
        "received_bytes": 750_000,
        "lost_messages": 500,
        "loss_ratio": 0.25,
        "received_ratio": 0.6,
    }
    assert {key: found[key] for key in expected} == pytest.approx(expected)


def test_over_tcp_everything_sent_must_arrive_including_warm_up() -> None:
    found = metrics(stream_sent(**SENT), stream_received(**RECEIVED), transport="tcp")
    expected = {
        "received_messages": 1440,
        "received_bytes": 720_000,
        "lost_messages": 600,
        # 900,000 of 2400 x 500 bytes.
        "received_ratio": 0.75,
        "loss_ratio": 0.25,
    }
    assert {key: found[key] for key in expected} == pytest.approx(expected)
    assert not found.keys() & {"duplicate_messages", "retransmitted_segments"}
    nothing = metrics(stream_sent(total_messages=0), stream_received(), transport="tcp")
    assert not nothing.keys() & {"received_ratio", "loss_ratio"}
    one = metrics(stream_sent(total_messages=1), stream_received(total_bytes=250), transport="tcp")
    assert (one["received_ratio"], one["loss_ratio"]) == (0.5, 0.5)
    byte = metrics(
        stream_sent(total_messages=1),
        stream_received(total_bytes=1),
        transport="tcp",
        message_size_bytes=1,
    )
    assert (byte["received_ratio"], byte["loss_ratio"]) == (1, 0)


@pytest.mark.parametrize("segments", [0, 1])
def test_messages_for_each_segment_take_a_segment(segments: int) -> None:
    tcp = {"data_segments_sent": segments, "retransmitted_segments": 0}
    sent = stream_sent(flows=[{"local_port": 1, "tcp": tcp}])
    found = metrics(sent, transport="tcp")
    assert found["data_segments_sent"] == segments
    assert found.get("messages_per_segment") == (1200 if segments else None)
    assert found.get("bytes_per_segment") == (600_000 if segments else None)


def test_shares_and_rates_need_at_least_one_message_and_nanosecond() -> None:
    one = metrics(
        stream_sent(elapsed_ns=1, offered_messages=1, sent_messages=1, blocked_ns=3),
        stream_received(window_ns=1, window_bytes=500, window_messages=1, measured_messages=1),
    )
    expected = {
        "offered_bps": 4e12,
        "goodput_bps": 4e12,
        "received_messages_per_s": 1e9,
        "loss_ratio": 0,
        "received_ratio": 1,
        # It cannot have waited for longer than it took.
        "blocked_ratio": 1,
    }
    assert {key: one[key] for key in expected} == pytest.approx(expected)
    none = metrics(
        stream_sent(elapsed_ns=0, offered_messages=0, sent_messages=0),
        stream_received(window_ns=0, window_bytes=0, window_messages=0, measured_messages=0),
        transport="tcp",
    )
    assert not none.keys() & {"offered_bps", "sent_bps", "goodput_bps", "goodput_ratio"}
    assert "received_messages_per_s" not in none
    idle = metrics(stream_sent(offered_messages=0, sent_messages=0), transport="tcp")
    assert idle["offered_bps"] == 0
    assert "goodput_ratio" not in idle
    # An engine may say so.
    assert "received_ratio" not in metrics(stream_sent(offered_messages=0, sent_messages=1))


def test_gaps_need_two_messages_and_percentiles_need_more() -> None:
    unseen = metrics(stream_sent(gap=distribution(samples=0)))
    assert not [key for key in unseen if key.startswith("gap_")]
    of_two = metrics(stream_sent(gap=distribution(samples=1)))
    assert [key for key in of_two if key.startswith("gap_")] == ["gap_p50_ns"]
    assert metrics(stream_sent(gap=distribution(samples=100)))["gap_p99_ns"] == 1_005_000


def test_delay_variation_is_reported_as_measured() -> None:
    names = ("mean_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "smoothed_ns")
    variation = {name: 100 + place for place, name in enumerate(names)}
    given = {"samples": 1000, **variation}
    found = metrics(received=stream_received(delay_variation=given))
    assert {name: found[f"delay_variation_{name}"] for name in names} == variation
    assert not [key for key in metrics() if key.startswith("delay_variation")]


def lost(received: dict[str, Any], source: dict[str, int], target: dict[str, int],
         **sent: Any) -> list[int]:  # fmt: skip
    """Of a hundred, in the order of the way: queue, link, backlog, socket buffer, late."""
    counted = lost_by_place(
        stream_sent(**sent),
        stream_received(measured_messages=900, **received),
        CounterChanges({"sender": source, "receiver": target}),
    )
    assert tuple(counted) == LOST_ON_THE_WAY
    return list(counted.values())


def test_the_most_certain_cause_explains_a_loss_first() -> None:
    """100 lost: 40 late, then 30 of the socket, then 20 of the queue, then 10 of 50 of the
    backlog, and none on the link."""
    received = {
        "overdue_messages": 40,
        "socket_dropped_datagrams": 30,
        "host": host_window(softnet_dropped=50),
    }
    assert lost(received, {"qdisc_drops": 20}, {"rx_drops": 60}) == [20, 0, 10, 30, 40]
    received["overdue_messages"] = 90
    assert lost(received, {"qdisc_drops": 20}, {"rx_drops": 60}) == [0, 0, 0, 10, 90]
    received["overdue_messages"] = 250
    assert lost(received, {"qdisc_drops": 20}, {"rx_drops": 60}) == [0, 0, 0, 0, 100]


def test_joined_messages_are_dropped_together() -> None:
    dropped = {"socket_dropped_datagrams": 3}
    assert lost({**dropped, "io": "segment"}, {}, {}, burst_messages=16) == [0, 52, 0, 48, 0]
    assert lost({**dropped, "io": "batch"}, {}, {}, burst_messages=16) == [0, 97, 0, 3, 0]
    assert lost({"socket_dropped_datagrams": None}, {}, {}) == [0, 100, 0, 0, 0]


def test_reported_queue_drops_are_not_counted_as_sent() -> None:
    assert lost({}, {"qdisc_drops": 30}, {}, total_refused=12) == [18, 82, 0, 0, 0]
    assert lost({}, {"qdisc_drops": 12}, {}, total_refused=30) == [0, 100, 0, 0, 0]
    assert lost({}, {}, {}, total_refused=30) == [0, 100, 0, 0, 0]


def test_the_smaller_of_two_backlog_counts_is_used() -> None:
    host = {"host": host_window(softnet_dropped=9)}
    assert lost(host, {}, {"rx_drops": 4})[2] == 4
    assert lost(host, {}, {"rx_drops": 11})[2] == 9
    assert lost(host, {}, {})[2] == 9
    assert lost({"host": None}, {}, {"rx_drops": 4})[2] == 4
    assert lost({"host": None}, {}, {})[2] == 0


@pytest.mark.parametrize(
    ("received", "changes", "how", "unseen"),
    [
        ({}, CounterChanges({"sender": {"qdisc_drops": 0}, "receiver": {}}), {}, set()),
        (
            {"host": None},
            CounterChanges({"sender": {"qdisc_drops": 0}, "receiver": {"rx_drops": 0}}),
            {},
            set(),
        ),
        (
            {"host": None},
            CounterChanges({"sender": {"qdisc_drops": 0}, "receiver": {}}),
            {},
            {"backlog"},
        ),
        ({}, CounterChanges(), {}, {"sender_queue"}),
        ({}, CounterChanges(), {"capabilities": {"local_drop_reports": True}}, set()),
        (
            {"socket_dropped_datagrams": None},
            CounterChanges({"sender": {"qdisc_drops": 0}, "receiver": {}}),
            {},
            {"socket_buffer"},
        ),
    ],
)
def test_an_uncounted_place_has_no_loss_count(
    received: dict[str, Any], changes: CounterChanges, how: dict[str, Any], unseen: set[str]
) -> None:
    found = metrics(received=stream_received(**received), changes=changes, how=how)
    assert set(LOST_ON_THE_WAY) - found.keys() == {f"lost_{place}_messages" for place in unseen}


def test_each_flow_has_its_own_goodput_which_is_zero_if_nothing_arrived() -> None:
    flows = [
        {**flow_received(500), "window_ns": 2_000},
        {**flow_received(500), "window_ns": 0},
        {**flow_received(500), "window_ns": 1},
    ]
    assert flow_goodputs_bps(flows) == pytest.approx([2e9, 0, 4e12])
    received = stream_received(flows=[flow_received(300_000), flow_received(100_000)])
    shared = metrics(received=received, flows=2)
    assert shared["jain_index"] == pytest.approx(0.8)
    assert (shared["flow_goodput_min_bps"], shared["flow_goodput_max_bps"]) == (800_000, 2_400_000)
    # One that got nothing beside one that got everything has its share, of 0.
    idle = stream_received(flows=[flow_received(300_000), flow_received(0)])
    found = metrics(received=idle, flows=2)
    assert (found["jain_index"], found["flow_goodput_min_bps"]) == (0.5, 0)
    assert found["flow_goodput_max_bps"] > 0
    # One control for all is shared by nobody.
    alike = metrics(received=received, transport="tcp", flows=2, congestion_control="cubic,cubic")
    assert "first_control_share_ratio" not in alike
    tiny = stream_received(flows=[{**flow_received(1), "window_ns": 10**10}] * 2)
    assert metrics(received=tiny, flows=2)["jain_index"] == 1


def test_the_share_of_the_first_control_covers_all_its_flows() -> None:
    """Three controls in turn over five flows: the first has flows 1 and 4."""
    flows = [flow_received(octets * 1000) for octets in (10, 20, 30, 15, 25)]
    found = metrics(
        received=stream_received(flows=flows),
        transport="tcp",
        flows=5,
        congestion_control="cubic,reno,bbr",
    )
    assert found["first_control_share_ratio"] == pytest.approx(0.25)


def test_jains_index_is_the_share_of_equally_served_flows() -> None:
    for served, flows in ((1, 2), (3, 4), (7, 10), (2, 1000)):
        goodputs = [5e6] * served + [0.0] * (flows - served)
        assert jain_index(goodputs) == pytest.approx(served / flows)
    assert jain_index([1, 2, 3]) == pytest.approx(36 / 42)
    assert jain_index([1e-300, 2e-300, 3e-300]) == pytest.approx(36 / 42)
    assert jain_index([1e300, 2e300, 3e300]) == pytest.approx(36 / 42)
    # Never above 1, by however little.
    assert all(jain_index([value] * 3) <= 1 for value in (0.1, 0.7, 1 / 3))
    assert jain_index([1.0, 1.0 - 2.0**-53]) == 1
    for wrong in ([], [0.0, 0.0], [-1.0, 2.0], [float("nan"), 1.0], [float("inf"), 1.0]):
        with pytest.raises(ValueError, match="goodput_bps"):
            jain_index(wrong)
