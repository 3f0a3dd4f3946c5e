"""What a stream's results say: amounts, warm-up, rates, flows and intervals."""

from typing import Any

import pytest
from trial_running import Pair, Trial, module_pair

from lanlab.workloads import workload
from lanlab.workloads.stream.parameters import StreamParameters

__all__ = ["module_pair"]


@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize(
    ("amount", "flows", "messages"),
    [
        ({"messages": 1}, 1, 1),
        ({"messages": 250}, 1, 250),
        ({"bytes": 50_000}, 1, 100),
        ({"bytes": 50_001}, 1, 101),
        # The same for each flow, rounded up.
        ({"messages": 250}, 4, 252),
        ({"bytes": 1}, 4, 4),
    ],
    ids=str,
)
def test_an_amount_is_exact(
    pair: Pair, transport: str, amount: dict[str, Any], flows: int, messages: int
) -> None:
    trial = pair.trial(
        "stream",
        transport=transport,
        message_size_bytes=500,
        flows=flows,
        rate_messages_per_s=5000,
        **amount,
    )
    assert trial.source["sent_messages"] == trial.source["total_messages"] == messages
    assert trial.target["total_messages"] == messages
    assert trial.target["total_bytes"] == 500 * messages
    assert trial.metrics["received_ratio"] == 1
    assert [flow["sent_messages"] for flow in trial.source["flows"]] == flows * [messages // flows]


@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize("flows", [1, 3])
@pytest.mark.parametrize("amount", [{"time_s": 0.2}, {"messages": 120}], ids=str)
def test_the_warm_up_is_kept_out(
    pair: Pair, transport: str, flows: int, amount: dict[str, Any]
) -> None:
    trial = pair.trial(
        "stream",
        transport=transport,
        flows=flows,
        message_size_bytes=500,
        warmup_s=0.1,
        rate_messages_per_s=600,
        **amount,
    )
    # 600 a second: 60 in 0.1 s of warm-up, 120 in the 0.2 s that are measured.
    first = [flow["first_measured"] for flow in trial.source["flows"]]
    # What a busy machine has not sent when the warm-up is over stays unsent.
    assert all(count <= 60 // flows for count in first)
    assert trial.source["offered_messages"] == 120
    assert trial.source["sent_messages"] + trial.source["unsent_messages"] == 120
    assert trial.source["total_messages"] == sum(first) + trial.source["sent_messages"]
    assert trial.target["total_messages"] == trial.source["total_messages"]
    assert sum(trial.target["intervals"]["bytes"]) == trial.target["total_bytes"]
    if transport == "udp":
        assert trial.target["mark_seen"]
        assert trial.target["measured_messages"] == trial.source["sent_messages"]
        # Pairs of measured messages: a flow's first one has none before it.
        assert trial.target["delay_variation"]["samples"] == trial.source["sent_messages"] - flows
    if "time_s" in amount:
        assert trial.target["window_ns"] == 200_000_000
        # Not the 300 ms of warm-up and measured part.
        late_ns = trial.source["max_lateness_ns"]
        assert 190_000_000 < trial.source["elapsed_ns"] < 290_000_000 + late_ns


@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize(
    ("rate", "flows", "time_s", "offered"),
    [
        (10, 4, 0.1, 1),
        (1000, 3, 0.25, 250),
        (999.5, 7, 0.3, 300),
        (100_000, 1, 0.2, 20_000),
        (100_000, 2, 0.2, 20_000),
    ],
)
def test_a_schedule_offers_only_due_messages(
    pair: Pair, transport: str, rate: float, flows: int, time_s: float, offered: int
) -> None:
    # A busy receiver may read nothing in so short a time: no result, but what was sent.
    exchange = pair.exchange(
        "stream",
        transport=transport,
        message_size_bytes=64,
        flows=flows,
        rate_messages_per_s=rate,
        time_s=time_s,
        io="auto",
    )
    sent = exchange.results["sender"]
    assert sent["offered_messages"] == offered
    assert sent["offered_messages"] == (
        sent["sent_messages"] + sent["refused_messages"] + sent["unsent_messages"]
    )
    assert sent["total_messages"] == sent["sent_messages"]
    if rate < 10_000:
        assert sent["burst_messages"] == 1


@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize("flows", [2, 5])
def test_flows_share_the_rate(pair: Pair, transport: str, flows: int) -> None:
    trial = pair.trial(
        "stream",
        transport=transport,
        flows=flows,
        message_size_bytes=500,
        rate_bps=4_000_000,
        time_s=0.3,
    )
    sent = [flow["sent_messages"] for flow in trial.source["flows"]]
    # On a busy machine the turn of some had not come when the time was over.
    unsent = trial.source["unsent_messages"]
    assert sum(sent) == trial.source["sent_messages"] == 300 - unsent
    assert all(abs(count - 300 / flows) <= 1 + unsent for count in sent)
    received = trial.target["flows"]
    assert len(received) == flows
    for name in ("window_bytes", "measured_messages"):
        assert sum(flow[name] for flow in received) == trial.target[name]
    assert len({flow["local_port"] for flow in trial.source["flows"]}) == flows


@pytest.mark.parametrize("rated", [True, False])
@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_the_maximum_number_of_flows_works(pair: Pair, transport: str, rated: bool) -> None:
    trial = pair.trial(
        "stream",
        transport=transport,
        flows=1000,
        threads=2,
        message_size_bytes=100,
        messages=3000,
        **({"rate_messages_per_s": 10_000} if rated else {}),
    )
    assert [flow["sent_messages"] for flow in trial.source["flows"]] == 1000 * [3]
    assert [flow["measured_messages"] for flow in trial.target["flows"]] == 1000 * [3]
    assert trial.source["threads"] == trial.target["threads"] == 2


@pytest.mark.figures
def test_pacing_is_even(pair: Pair) -> None:
    """1000 messages a second: every tenth of a second within 10 %, the whole within 1 %."""
    trial = pair.trial(
        "stream",
        message_size_bytes=500,
        rate_messages_per_s=1000,
        time_s=2,
        interval_s=0.1,
    )
    assert trial.source["offered_messages"] == 2000
    assert trial.source["burst_messages"] == 1
    assert trial.source["io"] == "single"
    received = trial.target
    assert sum(received["intervals"]["messages"]) == received["total_messages"]
    assert [500 * n for n in received["intervals"]["messages"]] == (received["intervals"]["bytes"])
    assert received["intervals"]["interval_ns"] == 100_000_000
    assert abs(received["total_messages"] - 2000) <= 20
    assert trial.metrics["offered_bps"] == pytest.approx(4_000_000, rel=0.01)
    assert trial.metrics["goodput_bps"] == pytest.approx(4_000_000, rel=0.01)
    # Beyond the last bin there may be one for what was on its way at the end.
    bins = received["intervals"]["messages"]
    assert len(bins) in (20, 21)
    assert all(90 <= count <= 110 for count in bins[:20]), bins


@pytest.mark.parametrize(("rate_bps", "size"), [(20_000, 125), (100_000_000, 1408)])
@pytest.mark.figures
def test_pacing_keeps_its_rate_from_slow_to_fast(pair: Pair, rate_bps: int, size: int) -> None:
    trial = pair.trial("stream", message_size_bytes=size, rate_bps=rate_bps, time_s=0.5)
    assert trial.metrics["sent_bps"] == pytest.approx(rate_bps, rel=0.01)
    assert trial.source["burst_messages"] == 1
    assert trial.source["unsent_messages"] == 0


def test_a_fast_rate_states_its_burst(pair: Pair) -> None:
    trial = pair.trial("stream", message_size_bytes=64, rate_messages_per_s=200_000, time_s=0.2)
    assert trial.source["io"] in ("batch", "single")
    if trial.source["io"] == "batch":
        assert trial.source["burst_messages"] == 4
    assert trial.source["offered_messages"] == 40_000


def test_a_number_of_16_bits_is_restored(pair: Pair) -> None:
    """70,000 messages of 2 octets: their numbers begin anew after 65,536."""
    trial = pair.trial("stream", message_size_bytes=2, messages=70_000, rate_messages_per_s=35_000)
    received = trial.target
    assert trial.source["sent_messages"] == 70_000
    # A busy machine may lose some, which must be seen as lost and as nothing else.
    assert trial.metrics["lost_messages"] == 70_000 - received["total_messages"]
    assert trial.metrics["lost_messages"] >= 0
    for kind in ("duplicate", "reordered", "stale"):
        assert received[f"{kind}_messages"] == 0


@pytest.mark.parametrize("messages", [10, 100])
@pytest.mark.figures
def test_few_messages_are_not_too_fast(pair: Pair, messages: int) -> None:
    trial = pair.trial("stream", message_size_bytes=500, messages=messages, rate_messages_per_s=500)
    assert trial.metrics["offered_bps"] == pytest.approx(2_000_000, rel=0.03)
    assert trial.metrics["goodput_bps"] == pytest.approx(2_000_000, rel=0.03)


def test_tcp_counts_received_and_not_written_bytes(pair: Pair) -> None:
    trial: Trial = pair.trial(
        "stream", transport="tcp", message_size_bytes=65_536, warmup_s=0.1, time_s=1
    )
    received = trial.target
    assert received["total_bytes"] == 65_536 * trial.source["total_messages"]
    assert received["window_bytes"] < received["total_bytes"]
    assert received["window_ns"] == 1_000_000_000
    assert trial.metrics["goodput_bps"] == 8e9 * received["window_bytes"] / 1_000_000_000
    assert sum(received["intervals"]["bytes"]) == received["total_bytes"]
    assert trial.metrics["lost_messages"] == 0
    assert trial.metrics["received_ratio"] == 1


@pytest.mark.parametrize(
    ("parameters", "seconds"),
    [
        ({"time_s": 2, "warmup_s": 0.5}, 2.5),
        ({"messages": 100, "rate_messages_per_s": 50, "warmup_s": 0}, 2),
        ({"bytes": 1_000_000, "rate_bps": 8_000_000, "message_size_bytes": 1000, "warmup_s": 0}, 1),
        ({"messages": 1, "warmup_s": 0.2}, 1.2),
    ],
)
def test_the_duration_of_a_trial_is_known_in_advance(
    parameters: dict[str, Any], seconds: float
) -> None:
    condition = StreamParameters.model_validate(parameters)
    assert workload("stream").expected_time_s(condition) == pytest.approx(seconds)
