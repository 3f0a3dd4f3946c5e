"""What an echo's results say: time-outs, late and repeated replies, stalls."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from datagram_relay import Way, relayed_trial
from trial_running import Pair, Trial, opened_pair

from lanlab.workloads import Progress

STALL_S = 0.3


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Two engines on this machine."""
    with opened_pair() as opened:
        yield opened


#: A closed loop goes on for a time, a schedule of 100 a second asks 40 times.
LOOPS: dict[str, dict[str, Any]] = {
    "closed loop": {"time_s": 0.4},
    "schedule": {"time_s": 0.4, "rate_requests_per_s": 100},
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("size", [2, 500])
def test_a_reply_after_its_time_out_is_late(pair: Pair, loop: str, size: int) -> None:
    """It is a time-out, and a late reply, and in no round-trip time."""
    back = Way(delay_s={10: 0.15})
    trial = relayed_trial(
        pair, "echo", Way(), back, message_size_bytes=size, timeout_s=0.1, **LOOPS[loop]
    )
    assert (trial.metrics["timeouts"], trial.metrics["late_replies"]) == (1, 1)
    assert trial.metrics["replies"] == trial.metrics["requests"] - 1
    assert trial.source["round_trip"]["samples"] == trial.metrics["replies"]
    assert trial.metrics["rtt_max_ns"] <= 100_000_000
    assert trial.metrics["duplicate_replies"] == 0
    assert trial.target["answered_messages"] == trial.metrics["requests"]


@pytest.mark.parametrize("loop", LOOPS)
def test_a_lost_message_is_a_time_out(pair: Pair, loop: str) -> None:
    """Request or reply: nobody can tell which."""
    there, back = Way(lose=frozenset({5})), Way(lose=frozenset({10, 11}))
    trial = relayed_trial(pair, "echo", there, back, timeout_s=0.05, **LOOPS[loop])
    assert (trial.metrics["timeouts"], trial.metrics["late_replies"]) == (3, 0)
    assert trial.metrics["replies"] == trial.metrics["requests"] - 3
    assert trial.target["answered_messages"] == trial.metrics["requests"] - 1


@pytest.mark.parametrize("loop", LOOPS)
def test_a_repeated_reply_is_counted_apart(pair: Pair, loop: str) -> None:
    """And a repeated request brings one."""
    there, back = Way(repeat=frozenset({5})), Way(repeat=frozenset({20, 21}))
    trial = relayed_trial(pair, "echo", there, back, timeout_s=1, **LOOPS[loop])
    assert trial.metrics["duplicate_replies"] == 3
    assert trial.metrics["timeouts"] == 0
    assert trial.metrics["replies"] == trial.metrics["requests"]


def test_lost_words_of_the_session_do_not_hurt(pair: Pair) -> None:
    """The end is said again; what the responder says to it is not needed."""
    there = Way(lose_session={"hello": 1, "prove": 1, "finish": 2})
    back = Way(lose_session={"challenge": 1, "accept": 1, "finished": 2})
    trial = relayed_trial(pair, "echo", there, back, requests=20)
    assert trial.metrics["replies"] == 20
    assert trial.target["ended_by"] == "finished"
    assert trial.source["ended_by"] in ("finished", "unconfirmed")


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_the_warm_up_of_an_echo_is_kept_out(pair: Pair, transport: str) -> None:
    """It is answered, and in no figure."""
    trial = pair.trial(
        "echo",
        transport=transport,
        message_size_bytes=100,
        warmup_s=0.1,
        time_s=0.2,
        rate_requests_per_s=200,
    )
    for key in ("offered_requests", "requests", "replies"):
        assert trial.metrics[key] == 40, key
    assert trial.target["answered_messages"] == 60
    closed = pair.trial("echo", transport=transport, warmup_s=0.05, requests=50)
    assert closed.metrics["replies"] == 50
    assert closed.target["answered_messages"] > 50


def stalled(pair: Pair, **parameters: Any) -> Trial:
    """An echo whose responder stands still for `STALL_S`, soon after its first progress."""
    pid = pair.engines[1].pid
    begun = threading.Event()

    def on_progress(_: Progress) -> None:
        if not begun.is_set():
            begun.set()
            os.kill(pid, signal.SIGSTOP)
            threading.Timer(STALL_S, os.kill, [pid, signal.SIGCONT]).start()

    trial = pair.trial("echo", on_progress, timeout_s=5, **parameters)
    assert begun.is_set()
    return trial


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_a_schedule_shows_a_stall_in_all_that_it_delays(pair: Pair, transport: str) -> None:
    """200 a second for a second: of 200 requests, 60 wait, the first of them all of the stall."""
    trial = stalled(pair, transport=transport, time_s=1, rate_requests_per_s=200)
    assert trial.metrics["replies"] == trial.metrics["requests"] == 200
    stall_ns = 1e9 * STALL_S
    # The stall is at least as long as asked for; a busy machine may make it longer.
    assert trial.metrics["rtt_max_ns"] > 0.9 * stall_ns
    assert trial.metrics["rtt_p99_ns"] > 0.8 * stall_ns
    assert trial.metrics["rtt_p90_ns"] > 0.3 * stall_ns
    # Those before and after it do not know of it, as long as the machine stands still no more.
    assert trial.metrics["rtt_min_ns"] < 0.1 * stall_ns


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_closed_loop_shows_a_stall_once(pair: Pair) -> None:
    """That is what a closed loop leaves out; the same stall, in one round trip of thousands."""
    trial = stalled(pair, time_s=1)
    stall_ns = 1e9 * STALL_S
    assert trial.metrics["rtt_max_ns"] > 0.9 * stall_ns
    assert trial.metrics["replies"] > 500
    assert trial.metrics["rtt_p99_ns"] < 0.3 * stall_ns


def test_a_requester_that_is_late_counts_from_the_intended_time(pair: Pair) -> None:
    """Its own stall is no excuse: the schedule goes on."""
    if os.name != "posix":
        pytest.skip("needs signals")
    pid = pair.engines[0].pid
    begun = threading.Event()

    def on_progress(_: Progress) -> None:
        if not begun.is_set():
            begun.set()
            os.kill(pid, signal.SIGSTOP)
            threading.Timer(STALL_S, os.kill, [pid, signal.SIGCONT]).start()

    trial = pair.trial("echo", on_progress, timeout_s=5, time_s=1, rate_requests_per_s=200)
    assert trial.metrics["replies"] == 200
    assert trial.metrics["rtt_max_ns"] > 0.8e9 * STALL_S
    assert trial.metrics["rtt_p90_ns"] > 0.1e9 * STALL_S
