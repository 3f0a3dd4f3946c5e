"""Round trips beside streams: what a trial says of both, and what a full queue adds by theory."""

import contextlib
import copy
import os
import signal
import statistics
import threading
from typing import Any

import pytest
from pydantic import ValidationError
from trial_running import Pair, module_pair, opened_pair

from lanlab.errors import EngineError, LabError
from lanlab.testbeds.shaping import HOST_QUEUE_BYTES
from lanlab.workloads import WORKLOADS, CounterChanges, Progress, TrialOutcome
from lanlab.workloads.load.workload import flow_goodputs

__all__ = ["module_pair"]

#: Half a second of requests beside two streams that no machine is too slow for.
SMALL: dict[str, Any] = {
    "transport": "udp",
    "rate_bps": "1M",
    "message_size_bytes": 256,
    "flows": 2,
    "time_s": 0.5,
    "warmup_s": 0.1,
}

UNHELD = "lanlab.workloads.load.workload._check_held"


@pytest.mark.parametrize("load", ["none", "up", "down", "both"])
def test_each_loaded_direction_has_its_results(
    pair: Pair, load: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine may hold no load for a part of the time.
    monkeypatch.setattr(UNHELD, lambda *_: None)
    told: list[Progress] = []
    trial = pair.trial("load", told.append, load=load, **SMALL)

    metrics, results = trial.metrics, trial.exchange.results
    up, down = load in ("up", "both"), load in ("down", "both")
    assert ("sender" in results, "reverse_sender" in results) == (up, down)
    assert ("goodput_bps" in metrics, "reverse_goodput_bps" in metrics) == (up, down)
    assert metrics["offered_requests"] == 50
    assert metrics["replies"] + metrics["timeouts"] == metrics["requests"]
    assert metrics["echo_loss_ratio"] == 1 - metrics["replies"] / 50
    per_minute = metrics["echo_round_trips_per_minute"]
    assert per_minute == pytest.approx(60e9 / metrics["rtt_mean_ns"])
    flows = flow_goodputs(results)
    assert {way: len(each) for way, each in flows.items()} == {
        way: 2 for way, is_there in (("up", up), ("down", down)) if is_there
    }
    # The streams outlast the last request, and lose nothing at such a rate.
    for prefix in [""] * up + ["reverse_"] * down:
        assert metrics[f"{prefix}received_messages"] == metrics[f"{prefix}sent_messages"]
        window_ns = results[f"{prefix}receiver"]["window_ns"]
        assert window_ns > 0.9e9
    assert ("load_idle_ratio" in metrics) == (up or down)
    assert (told[-1].reverse is not None) == (load == "both")


def test_streams_over_tcp_and_the_echo_start_at_one_moment(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(UNHELD, lambda *_: None)
    small = SMALL | {"transport": "tcp", "message_size_bytes": 1448}
    trial = pair.trial("load", load="both", **small)

    setup = trial.exchange.setup
    assert len(setup["start"]["margins_ns"]) == 6
    assert set(setup["requests"]) == set(trial.exchange.results)
    first, *_, last = setup["hosts"]
    assert (first, last) == ("receiver", "sender")
    assert trial.metrics["retransmitted_segments"] >= 0
    only_down = pair.trial("load", load="down", **small).exchange.setup["hosts"]
    assert (next(iter(only_down)), list(only_down)[-1]) == ("reverse_receiver", "reverse_sender")


@pytest.fixture(scope="module")
def loaded_both_ways(pair: Pair) -> TrialOutcome:
    outcome = pair.exchange("load", **SMALL, load="both")
    assert outcome.error is None
    return outcome


@pytest.mark.parametrize(
    ("parts", "is_held"), [([], True), ([2, 5], True), ([2, 5, 6], False), ([9], False)]
)
def test_a_stalled_load_fails_the_trial(
    loaded_both_ways: TrialOutcome, parts: list[int], is_held: bool
) -> None:
    parameters = {**SMALL, "load": "both"}
    outcome = copy.copy(loaded_both_ways)
    for way, idle in (("", []), ("reverse_", parts)):
        told = outcome.results[f"{way}receiver"]["intervals"]
        assert told["interval_ns"] == 50_000_000
        # After the warm-up of two steps each part is a step.
        octets = [0 if number - 2 in idle else 1 for number in range(12)]
        receiver = outcome.results[f"{way}receiver"] | {"intervals": told | {"bytes": octets}}
        outcome.results = outcome.results | {f"{way}receiver": receiver}
    kind = WORKLOADS["load"]
    condition = kind.Parameters.model_validate(parameters)
    if is_held:
        found = kind.summarise(condition, outcome, CounterChanges())
        assert found["load_idle_ratio"] == pytest.approx(len(parts) / 10)
        return
    with pytest.raises(EngineError, match="the streams down delivered nothing in") as refused:
        kind.summarise(condition, outcome, CounterChanges())
    assert refused.value.code == "load.not_held"


def test_udp_without_a_rate_is_refused() -> None:
    with pytest.raises(ValidationError, match="transport udp needs a rate"):
        WORKLOADS["load"].Parameters.model_validate({"transport": "udp"})


def test_invalid_echo_sizes_are_refused() -> None:
    with pytest.raises(ValidationError, match="above the largest UDP message"):
        WORKLOADS["load"].Parameters.model_validate({"echo_size_bytes": 70_000})


@pytest.mark.figures
def test_a_full_queue_adds_its_length_over_the_rate() -> None:
    """A token bucket of 10 Mbit/s with room for B octets on the wire. Sixteen senders have more in
    their sockets' buffers than it takes, so that it is full: a request waits B / R."""
    rate_bps = 10_000_000
    with opened_pair("virtual", "10M:cable+tbf") as pair:
        trial = pair.trial(
            "load",
            load="up",
            transport="udp",
            rate_bps="40M",
            message_size_bytes=1472,
            flows=16,
            warmup_s=1,
            time_s=1,
            timeout_s=3,
        )
    longest_ns = 8e9 * HOST_QUEUE_BYTES / rate_bps
    # The queue is full but for moments in which no sender had its turn. Beside it there is the way
    # back, and the time to be woken.
    assert 0.98 * longest_ns <= trial.metrics["rtt_p50_ns"] <= 1.01 * longest_ns


@pytest.mark.figures
@pytest.mark.long
def test_the_kernels_own_round_trips_of_the_streams_judge_the_echo() -> None:
    """Segments of TCP and requests wait in one queue: what TCP_INFO smooths over the same time is
    about the median of the echo, which is far from that of an empty link."""
    with opened_pair("virtual", "10M:cable+tbf") as pair:
        trial = pair.trial(
            "load",
            load="up",
            message_size_bytes=1448,
            congestion_control="reno",
            flows=32,
            warmup_s=1,
            time_s=1.5,
        )
    samples = trial.exchange.results["sender"]["tcp_samples"]
    counted = [
        round_trip
        for at, round_trip in zip(samples["at_ns"], samples["round_trip_ns"], strict=True)
        if 1e9 <= at <= 2.5e9
    ]
    # 32 streams of two segments each are 79 ms of the link.
    assert statistics.median(counted) > 50e6
    assert trial.metrics["rtt_p50_ns"] == pytest.approx(statistics.median(counted), rel=0.25)


def test_a_stalled_peer_ends_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanlab.performers.engine_host.CANCEL_S", 0.5)
    with opened_pair() as pair:
        pid, begun = pair.engines[1].pid, threading.Event()

        def stop(_: Progress) -> None:
            if not begun.is_set():
                begun.set()
                os.kill(pid, signal.SIGSTOP)

        try:
            outcome = pair.exchange(
                "load", stop, **SMALL | {"load": "both", "time_s": 5, "silence_s": 0.5}
            )
        finally:
            # An engine that does not answer is ended.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
    assert begun.is_set()
    assert isinstance(outcome.error, LabError)
