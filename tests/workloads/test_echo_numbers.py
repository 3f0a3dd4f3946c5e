"""What an echo's results say: time-outs, late and repeated replies, stalls."""

import os
import signal
import threading
from typing import Any

import pytest
from datagram_relay import Way, relayed_trial
from trial_running import Pair, Trial, module_pair

from lanlab.workloads import Progress

__all__ = ["module_pair"]

STALL_S = 0.3


#: A closed loop goes on for a time, a schedule of 100 a second asks 150 times. Seven at a time are
#: numbered in the order in which they leave, which is that of a relay.
LOOPS: dict[str, dict[str, Any]] = {
    "closed loop": {"time_s": 3},
    "seven at a time": {"time_s": 3, "outstanding_requests": 7},
    "schedule": {"time_s": 1.5, "rate_requests_per_s": 100},
}


@pytest.mark.parametrize("loop", LOOPS)
def test_each_path_event_has_its_own_counter(pair: Pair, loop: str) -> None:
    there = Way(lose=frozenset({5}), repeat=frozenset({7}))
    back = Way(lose=frozenset({10, 11}), repeat=frozenset({15}), delay_s={20: 0.75})
    trial = relayed_trial(pair, "echo", there, back, timeout_s=0.5, **LOOPS[loop])
    assert (trial.metrics["timeouts"], trial.metrics["late_replies"]) == (4, 1)
    assert trial.metrics["duplicate_replies"] == 2
    assert trial.metrics["replies"] == trial.metrics["requests"] - 4
    assert trial.source["round_trip"]["samples"] == trial.metrics["replies"]
    assert trial.metrics["rtt_max_ns"] <= 500_000_000
    # One request was lost, and one came twice.
    assert trial.target["answered_messages"] == trial.metrics["requests"]
    assert (trial.source["ended_by"], trial.target["ended_by"]) == ("finished", "finished")


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_echo_warm_up_is_not_counted(pair: Pair, transport: str) -> None:
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
    assert closed.target["answered_messages"] >= 50
    many = pair.trial(
        "echo", transport=transport, warmup_s=0.05, requests=50, outstanding_requests=16
    )
    assert many.metrics["replies"] == many.metrics["requests"] == 50
    assert many.target["answered_messages"] >= 50


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
def test_a_schedule_shows_a_stall_in_every_delayed_request(pair: Pair, transport: str) -> None:
    """200 a second for a second: of 200 requests, 60 wait, the first of them all of the stall."""
    trial = stalled(pair, transport=transport, time_s=1, rate_requests_per_s=200)
    # A stall of 0.9 s, on a busy machine, makes the sender pause.
    assert 100 < trial.metrics["requests"] <= 200
    assert trial.metrics["replies"] == trial.metrics["requests"]
    stall_ns = 1e9 * STALL_S
    # The stall is at least as long as asked for; a busy machine may make it longer.
    assert trial.metrics["rtt_max_ns"] > 0.9 * stall_ns
    assert trial.metrics["rtt_p99_ns"] > 0.8 * stall_ns
    assert trial.metrics["rtt_p90_ns"] > 0.3 * stall_ns
    # Those before and after it do not know of it, as long as the machine stands still no more.
    assert trial.metrics["rtt_min_ns"] < 0.1 * stall_ns


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_closed_loop_shows_a_stall_once(pair: Pair) -> None:
    trial = stalled(pair, time_s=1)
    stall_ns = 1e9 * STALL_S
    assert trial.metrics["rtt_max_ns"] > 0.9 * stall_ns
    assert trial.metrics["replies"] > 20
    assert trial.metrics["rtt_p90_ns"] < 0.3 * stall_ns
