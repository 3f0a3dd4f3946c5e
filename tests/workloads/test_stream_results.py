"""What is made of the counts of a stream's ends, whatever these may be."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from made_up_ends import (
    distribution,
    exchange_of,
    flow_received,
    host_window,
    stream_received,
    stream_sent,
)
from made_up_peers import peer_results

from lanlab.roles import REVERSE_PREFIX
from lanlab.workloads import CounterChanges, workload
from lanlab.workloads.stream.losses import LOST_IN_THE_MEDIUM, NOT_RECEIVED
from lanlab.workloads.stream.parameters import StreamParameters
from lanlab.workloads.stream.workload import Stream

COUNTED = CounterChanges({"sender": {"qdisc_drops": 0}, "receiver": {"rx_drops": 0}})


def metrics(
    sent: dict[str, Any] | None = None,
    received: dict[str, Any] | None = None,
    changes: CounterChanges = COUNTED,
    how: dict[str, Any] | None = None,
    **parameters: Any,
) -> dict[str, float | int]:
    condition = {"message_size_bytes": 500, "time_s": 1, "rate_messages_per_s": 1000, **parameters}
    exchange = exchange_of(sent or stream_sent(), received or stream_received(), **(how or {}))
    checked = StreamParameters.model_validate(condition)
    return workload("stream").summarise(checked, exchange, changes)


def medium_counts(adapter: int, chance: int, collisions: int, switch: int) -> dict[str, int]:
    """What the medium counted of the sending host, and the host of its adapter."""
    return {
        "tx_drops": adapter,
        "medium_frames": 10_000,
        "medium_lost_chance": chance,
        "medium_lost_excessive_collisions": collisions,
        "medium_lost_switch_queue": switch,
    }


count = st.integers(0, 5000)


@given(
    received=count,
    lost=count,
    refused=count,
    unsent=count,
    skipped=count,
    overdue=count,
    socket_dropped=st.none() | count,
    softnet_dropped=st.none() | count,
    rx_drops=st.none() | count,
    qdisc_drops=st.none() | count,
    more_refused=count,
    medium=st.none() | st.tuples(count, count, count, count),
    burst=st.integers(1, 64),
    io=st.sampled_from(["single", "batch", "segment"]),
)
def test_received_and_lost_messages_add_up_to_the_offered_ones(
    received: int,
    lost: int,
    refused: int,
    unsent: int,
    skipped: int,
    overdue: int,
    socket_dropped: int | None,
    softnet_dropped: int | None,
    rx_drops: int | None,
    qdisc_drops: int | None,
    more_refused: int,
    medium: tuple[int, int, int, int] | None,
    burst: int,
    io: str,
) -> None:
    # A stream that sent nothing has failed.
    assume(received + lost > 0)
    sent_messages = received + lost
    found = metrics(
        stream_sent(
            offered_messages=sent_messages + refused + unsent + skipped,
            sent_messages=sent_messages,
            refused_messages=refused,
            total_refused=refused + more_refused,
            unsent_messages=unsent,
            skipped_messages=skipped,
            burst_messages=burst,
        ),
        stream_received(
            io=io,
            measured_messages=received,
            overdue_messages=min(overdue, lost),
            socket_dropped_datagrams=socket_dropped,
            host=None if softnet_dropped is None else host_window(softnet_dropped=softnet_dropped),
        ),
        CounterChanges(
            {
                "sender": ({} if qdisc_drops is None else {"qdisc_drops": qdisc_drops})
                | ({} if medium is None else medium_counts(*medium)),
                "receiver": {} if rx_drops is None else {"rx_drops": rx_drops},
            }
        ),
    )
    parts = [found.get(key, 0) for key in (*NOT_RECEIVED, *LOST_IN_THE_MEDIUM)]
    assert sum(parts) == found["offered_messages"] - found["received_messages"]
    assert min(parts) >= 0


@pytest.mark.parametrize("place", range(4))
def test_a_loss_in_the_medium_is_named_by_its_cause(place: int) -> None:
    counts = [7 if place == each else 0 for each in range(4)]
    found = metrics(
        received=stream_received(measured_messages=993),
        changes=CounterChanges({"sender": medium_counts(*counts), "receiver": {"rx_drops": 0}}),
    )
    assert [found[key] for key in LOST_IN_THE_MEDIUM] == counts
    assert found["lost_link_messages"] == 0


def test_losses_in_the_medium_are_divided_among_its_places() -> None:
    """200 lost by chance and 100 at the switch since the counters were read; 30 were measured."""
    found = metrics(
        received=stream_received(measured_messages=970),
        changes=CounterChanges({"sender": medium_counts(0, 200, 0, 100), "receiver": {}}),
    )
    assert [found[key] for key in LOST_IN_THE_MEDIUM] == [0, 20, 0, 10]
    assert found["lost_link_messages"] == 0


def test_a_link_without_a_medium_has_no_places_of_one() -> None:
    assert not metrics().keys() & set(LOST_IN_THE_MEDIUM)


def test_without_the_mark_of_the_warm_up_no_loss_is_claimed() -> None:
    found = metrics(received=stream_received(mark_seen=False))
    claimed = {"received_messages", "lost_messages", "received_ratio", "sender_cpu_ns_per_message"}
    assert not found.keys() & (claimed | {key for key in NOT_RECEIVED if "lost" in key})
    assert found["goodput_bps"] == 4_000_000


def test_cpu_time_is_counted_for_each_message_and_gigabyte_that_arrived() -> None:
    found = metrics(received=stream_received(measured_messages=800))
    assert found["sender_cpu_s"] == 0.004
    assert (found["sender_cpu_user_s"], found["sender_cpu_system_s"]) == (0.001, 0.003)
    assert found["sender_cpu_ns_per_message"] == pytest.approx(4e6 / 800)
    assert found["receiver_cpu_ns_per_message"] == pytest.approx(8e6 / 800)
    assert found["receiver_cpu_s_per_gb"] == pytest.approx(0.008 / (800 * 500 / 1e9))


def test_an_engine_without_cpu_times_reports_none() -> None:
    found = metrics(how={"capabilities": {"thread_usage": False}})
    assert not [key for key in found if "cpu" in key and key != "interrupt_cpu_s"]


def test_costs_are_empty_if_nothing_arrived() -> None:
    lost = stream_received(measured_messages=0, window_messages=0, window_bytes=0)
    found = metrics(received=lost)
    assert found["sender_cpu_s"] == 0.004
    assert not [key for key in found if key.endswith(("_per_message", "_per_gb"))]


def test_interrupts_of_one_kernel_count_once_and_of_two_kernels_add_up() -> None:
    assert metrics()["interrupt_cpu_s"] == pytest.approx(0.04)
    assert metrics(how={"same_kernel": False})["interrupt_cpu_s"] == pytest.approx(0.08)
    one_silent = stream_received(host=None)
    assert metrics(received=one_silent)["interrupt_cpu_s"] == pytest.approx(0.04)
    unknown = metrics(received=one_silent, how={"same_kernel": False})
    assert "interrupt_cpu_s" not in unknown


def test_gaps_are_reported_if_a_rate_is_set() -> None:
    paced = metrics()
    gaps = [paced[f"gap_{name}_ns"] for name in ("p1", "p50", "p99")]
    assert gaps == [995_000, 1_000_000, 1_005_000]
    assert paced["back_to_back_messages"] == 0
    unpaced = metrics(stream_sent(gap=None), rate_messages_per_s=None)
    assert not [key for key in unpaced if key.startswith(("gap_", "back_to_back"))]


def test_one_way_delays_come_with_the_error_of_the_clocks() -> None:
    delayed = stream_received(one_way_delay=distribution())
    found = metrics(received=delayed, how={"bound_ns": 12_000})
    assert found["one_way_delay_min_ns"] == 990_000
    assert found["clock_error_ns"] == 12_000
    none = metrics(
        received=stream_received(one_way_delay=distribution(samples=0)), how={"bound_ns": 1}
    )
    for without in (metrics(), none):
        assert not [key for key in without if key.startswith(("one_way", "clock_error"))]


def test_blocked_time_is_a_share_of_the_senders_time() -> None:
    assert metrics()["blocked_ratio"] == 0.25
    assert metrics(flows=5)["blocked_ratio"] == 0.05
    assert metrics()["received_messages_per_s"] == 1000


def test_a_single_flow_shares_with_nobody() -> None:
    assert not metrics().keys() & {"jain_index", "first_control_share_ratio"}
    starved = stream_received(flows=[flow_received(0), flow_received(0)])
    assert "jain_index" not in metrics(received=starved, flows=2)


def test_messages_and_bytes_per_segment_are_reported() -> None:
    tcp = {"data_segments_sent": 24, "retransmitted_segments": 3}
    flow = {"local_port": 1, "tcp": tcp}
    found = metrics(stream_sent(flows=[flow, flow]), transport="tcp", flows=1)
    assert found["messages_per_segment"] == 25
    assert found["bytes_per_segment"] == 12_500
    assert found["retransmitted_segments"] == 6
    assert not [key for key in found if key.startswith("lost_") and key != "lost_messages"]


def test_every_metric_that_a_study_can_name_is_computed() -> None:
    tcp_flow = {"local_port": 1, "tcp": {"data_segments_sent": 24, "retransmitted_segments": 3}}
    flows = [flow_received(300_000), flow_received(100_000)]
    names = ("mean_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "smoothed_ns")
    variation = {"samples": 100, **dict.fromkeys(names, 1)}
    udp = metrics(
        received=stream_received(
            flows=flows, one_way_delay=distribution(), delay_variation=variation
        ),
        how={"bound_ns": 0},
        changes=CounterChanges(
            {"sender": {"qdisc_drops": 0, **medium_counts(0, 0, 0, 0)}, "receiver": {"rx_drops": 0}}
        ),
        flows=2,
    )
    tcp = metrics(
        stream_sent(flows=[tcp_flow, tcp_flow]),
        stream_received(flows=flows),
        transport="tcp",
        flows=2,
        congestion_control="cubic,reno",
    )
    # Those of a second direction are the same, behind a prefix.
    of_one_direction = {key for key in Stream.metrics if not key.startswith(REVERSE_PREFIX)}
    peer = {key.removeprefix(REVERSE_PREFIX) for key in peer_results(transport="udp")}
    assert of_one_direction <= udp.keys() | tcp.keys() | peer


def test_peer_reports_are_kept_with_local_counts() -> None:
    """Of its second and a half this end waited 0.3 s."""
    found = peer_results(transport="udp")

    assert (found["acknowledged_bps"], found["acknowledged_bytes"]) == (4_800_000, 300_000)
    assert (found["total_acknowledged_bytes"], found["returned_bytes"]) == (440_000, 12)
    assert (found["peer_received_bytes"], found["peer_goodput_bps"]) == (450_000, 3_000_000)
    assert (found["peer_received_messages"], found["peer_lost_messages"]) == (900, 100)
    assert found["peer_jitter_ns"] == 2_000
    # Of the second direction: what the peer sent, and what of it arrived here.
    assert (found["reverse_peer_sent_bytes"], found["reverse_peer_sent_messages"]) == (
        500_000,
        1000,
    )
    assert found["reverse_total_received_bytes"] == 475_000
    assert (found["reverse_lost_messages"], found["reverse_loss_ratio"]) == (50, 0.05)
    assert found["reverse_peer_retransmitted_segments"] == 7


def test_each_end_is_checked_for_its_own_capabilities() -> None:
    exchange = exchange_of(stream_sent(), stream_received())
    exchange.setup["capabilities"] = {
        "sender": {"thread_usage": True},
        "receiver": {"thread_usage": False},
    }
    condition = {"message_size_bytes": 500, "time_s": 1, "rate_messages_per_s": 1000}
    checked = StreamParameters.model_validate(condition)
    found = workload("stream").summarise(checked, exchange, COUNTED)
    assert "sender_cpu_s" in found and "receiver_cpu_s" not in found
