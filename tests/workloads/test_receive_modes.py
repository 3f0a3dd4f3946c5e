"""However an end waits, sends or is slowed down, it counts the same, and says how it did it."""

import os
from typing import Any

import pytest
from trial_running import Pair, module_pair

from lanlab.errors import EngineError

__all__ = ["module_pair"]


@pytest.mark.parametrize("flows", [1, 3, 20])
@pytest.mark.parametrize("receive", ["block", "poll", "spin"])
@pytest.mark.parametrize(
    ("transport", "io"), [("udp", "single"), ("udp", "batch"), ("tcp", "single"), ("tcp", "batch")]
)
def test_every_receive_mode_counts_every_message(
    pair: Pair, transport: str, io: str, receive: str, flows: int
) -> None:
    trial = pair.trial(
        "stream",
        transport=transport,
        io=io,
        receive=receive,
        flows=flows,
        message_size_bytes=500,
        messages=flows * 50,
        rate_messages_per_s=2000,
    )
    assert trial.metrics["received_ratio"] == 1
    assert trial.target["total_messages"] == flows * 50
    assert [flow["measured_messages"] for flow in trial.target["flows"]] == flows * [50]
    assert (trial.target["receive"], trial.target["receive_choice"]) == (receive, None)
    assert trial.source["io"] == io
    assert trial.source["io_choice"] is None
    assert trial.target["receive_calls"] > 0


@pytest.mark.parametrize("receive", ["block", "poll", "spin"])
@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_every_wait_mode_gets_its_replies(pair: Pair, transport: str, receive: str) -> None:
    trial = pair.trial("echo", transport=transport, receive=receive, requests=100)
    assert trial.metrics["replies"] == 100
    assert trial.source["receive"] == trial.target["receive"] == receive
    if receive == "poll":
        assert trial.metrics["rtt_p50_ns"] > 150_000


def test_spinning_keeps_a_processor_busy_and_blocking_does_not(pair: Pair) -> None:
    used = {}
    for receive in ("block", "spin"):
        trial = pair.trial("stream", receive=receive, rate_messages_per_s=10, time_s=0.5)
        assert trial.target["receive"] == receive
        used[receive] = trial.metrics["receiver_cpu_s"]
    # Of a busy machine it has what it gets.
    assert 0 < 5 * used["block"] < used["spin"]


@pytest.mark.parametrize(
    ("parameters", "modes", "reasons"),
    [
        ({"rate_messages_per_s": 1000}, ("single", "block"), ("gaps", "1000 messages/s are few")),
        ({}, ("batch", "poll"), ("many messages", "each poll reads many")),
        ({"receive_buffer_bytes": 8192}, ("batch", "block"), ("many messages", "8192 bytes")),
    ],
    ids=str,
)
def test_auto_follows_the_rule_and_gives_the_reason(
    pair: Pair, parameters: dict[str, Any], modes: tuple[str, str], reasons: tuple[str, str]
) -> None:
    trial = pair.trial("stream", messages=20, **parameters)
    assert (trial.source["io"], trial.target["receive"]) == modes
    choices = trial.source["io_choice"], trial.target["receive_choice"]
    for choice, reason in zip(choices, reasons, strict=True):
        assert reason in choice["reason"] and set(choice) == {"reason"}


@pytest.mark.parametrize("read_bytes", [1, 500, 100_000])
def test_reads_follow_the_condition(pair: Pair, read_bytes: int) -> None:
    trial = pair.trial(
        "stream", transport="tcp", message_size_bytes=2000, bytes=20_000, read_bytes=read_bytes
    )
    assert trial.target["read_bytes"] == read_bytes
    assert trial.target["total_bytes"] == 20_000
    assert trial.target["receive_calls"] >= 20_000 / read_bytes


def test_a_quota_limits_what_the_receiver_gets(pair: Pair) -> None:
    """A twentieth of a processor, and 0.2 ms of work on a message: a quarter of 1000/s."""
    trial = pair.trial(
        "stream",
        message_size_bytes=500,
        rate_messages_per_s=1000,
        time_s=0.5,
        warmup_s=0.2,
        receive_buffer_bytes=8192,
        receiver_quota_ratio=0.05,
        receiver_work_s=0.0002,
        io="single",
    )
    ratio = trial.metrics["received_ratio"]
    # A busy machine gives it less.
    assert 0 < ratio < 0.35, f"received {ratio:.2f}"


@pytest.mark.figures
@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="processors are bound on Linux")
def test_rivals_take_the_receivers_processor(pair: Pair) -> None:
    """With three threads that never rest beside it, of 0.5 ms of work on each of 1500/s a part
    is left undone."""
    processor = max(os.sched_getaffinity(0))
    parameters: dict[str, Any] = {
        "message_size_bytes": 500,
        "rate_messages_per_s": 1500,
        "time_s": 0.5,
        "warmup_s": 0.2,
        "receive_buffer_bytes": 8192,
        "receiver_work_s": 0.0005,
        "receiver_processor": processor,
        "io": "single",
    }
    alone = pair.trial("stream", **parameters).metrics["received_ratio"]
    beside = pair.trial("stream", receiver_rivals=3, **parameters).metrics["received_ratio"]
    assert beside < 0.7 * alone, f"{alone:.2f} alone, {beside:.2f} beside"


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"receiver_processor": 1023}, "processor 1023"),
        ({"sender_processor": 1023}, "processor 1023"),
    ],
    ids=str,
)
def test_invalid_receive_options_are_refused(
    pair: Pair, parameters: dict[str, Any], says: str
) -> None:
    exchange = pair.exchange("stream", messages=10, **parameters)
    assert isinstance(exchange.error, EngineError)
    assert says in exchange.error.message
    assert exchange.error.code == "processor.unusable"


@pytest.mark.figures
def test_the_kernels_stamps_see_through_a_slow_receiver(pair: Pair) -> None:
    """A receiver that sleeps between looks: by its own clock messages of one look arrive together,
    by the kernel's as they were sent."""
    variation = {}
    for timestamps in ("program", "kernel"):
        trial = pair.trial(
            "stream",
            message_size_bytes=100,
            rate_messages_per_s=10_000,
            time_s=0.4,
            receive="poll",
            timestamps=timestamps,
        )
        assert trial.target["timestamps"] == timestamps
        variation[timestamps] = trial.target["delay_variation"]["p90_ns"]
    assert variation["kernel"] < 0.5 * variation["program"], variation


def test_the_kernels_round_trip_is_within_the_programs(pair: Pair) -> None:
    trial = pair.trial("echo", requests=200, timestamps="kernel")
    ours, theirs = trial.source["round_trip"], trial.source["kernel_round_trip"]
    assert theirs["samples"] == ours["samples"] == 200
    assert 0 < theirs["min_ns"] <= theirs["mean_ns"] < ours["mean_ns"]
    assert pair.trial("echo", requests=10).source["kernel_round_trip"] is None


@pytest.mark.figures
def test_gaps_match_the_schedule(pair: Pair) -> None:
    trial = pair.trial("stream", message_size_bytes=500, rate_messages_per_s=1000, time_s=0.5)
    gap = trial.source["gap"]
    assert gap["samples"] == trial.source["sent_messages"] - 1
    assert gap["p50_ns"] == pytest.approx(1_000_000, rel=0.05)
    # Late or not, it never sends faster than at twice the rate.
    assert gap["min_ns"] >= 500_000
    assert trial.source["back_to_back_messages"] == 0
    assert pair.trial("stream", message_size_bytes=500, messages=100).source["gap"] is None


@pytest.mark.figures
def test_the_host_window_covers_the_measured_part(pair: Pair) -> None:
    trial = pair.trial(
        "stream", message_size_bytes=500, rate_messages_per_s=1000, time_s=0.5, warmup_s=0.2
    )
    host = trial.source["host"]
    assert host["elapsed_ns"] == pytest.approx(0.5e9, rel=0.2)
    busy_and_idle = sum(host["processors"].values())
    processors = os.cpu_count() or 1
    # A kernel may learn only now of what the host under it has taken before, and of how long a
    # processor without a tick has slept before.
    stolen, idle = host["processors"]["steal_ns"], host["processors"]["idle_ns"]
    assert busy_and_idle >= 0.75 * processors * host["elapsed_ns"]
    assert busy_and_idle - stolen - idle <= 1.25 * processors * host["elapsed_ns"]
    assert idle <= processors * (host["elapsed_ns"] + 1e9)
    assert 0 < host["engine_cpu_ns"] < busy_and_idle
    # What others do on this machine's loopback is counted as well.
    assert host["udp_counters"]["UdpInDatagrams"] >= 440
    assert abs(host["clock_step_ns"]) < 10_000_000
