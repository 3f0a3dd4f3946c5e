"""Loss, duplicates and reordering are named exactly, and the session survives them too."""

import itertools
import shlex
import subprocess
from typing import Any

import pytest
from datagram_relay import Way, relayed_exchange, relayed_trial
from trial_running import Pair, module_pair, opened_pair

from lanlab.errors import EngineError
from lanlab.performers import conductor
from lanlab.testbeds.tools import tool
from lanlab.workloads import Progress

__all__ = ["module_pair"]

MESSAGES = 300
RATE = 2000


def neighbours(way: Way) -> int:
    """Pairs of messages that follow upon each other, as sent and as they arrive new."""
    order = [n for n in range(MESSAGES) if n not in way.lose]
    for number in sorted(way.swap):
        at = order.index(number)
        order[at], order[at + 1] = order[at + 1], order[at]
    return sum(b == a + 1 for a, b in itertools.pairwise(order))


#: 1-byte messages number to 256, so that these lie about where their numbers begin anew.
IMPAIRED = Way(
    lose=frozenset({0, 10, 11, 254, 255, 256, 299}),
    repeat=frozenset({20, 21, 258}),
    swap=frozenset({30, 70, 260}),
)


@pytest.mark.parametrize("size", [1, 2, 4, 12, 24, 500])
def test_events_in_the_network_are_counted(pair: Pair, size: int) -> None:
    way = Way(lose=IMPAIRED.lose, repeat=IMPAIRED.repeat, swap=IMPAIRED.swap)
    trial = relayed_trial(
        pair,
        "stream",
        way,
        message_size_bytes=size,
        messages=MESSAGES,
        rate_messages_per_s=RATE,
    )
    assert trial.metrics["sent_messages"] == MESSAGES
    assert trial.metrics["received_messages"] == MESSAGES - len(way.lose)
    assert trial.metrics["lost_messages"] == len(way.lose)
    assert trial.metrics["loss_ratio"] == pytest.approx(len(way.lose) / MESSAGES)
    assert trial.metrics["received_ratio"] == pytest.approx(1 - len(way.lose) / MESSAGES)
    assert trial.metrics["duplicate_messages"] == len(way.repeat)
    assert trial.metrics["reordered_messages"] == len(way.swap)
    assert trial.metrics["stale_messages"] == 0
    assert trial.metrics["foreign_datagrams"] == 0
    assert trial.target["total_bytes"] == (MESSAGES - len(way.lose)) * size
    if size >= 24:
        assert trial.target["delay_variation"]["samples"] == neighbours(way)


def test_a_start_that_came_too_late_is_made_again_through_another_relay(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = conductor._TimedRun._start_together
    leads_s: list[float] = []

    def late_once(run: conductor._TimedRun, lead_s: float, round_trip_ns: int) -> dict[str, Any]:
        leads_s.append(lead_s)
        return start(run, lead_s if len(leads_s) > 1 else -1.0, round_trip_ns)

    monkeypatch.setattr(conductor._TimedRun, "_start_together", late_once)
    way = Way(lose=frozenset({0, 10}))
    trial = relayed_trial(pair, "stream", way, messages=20, rate_messages_per_s=RATE)
    assert trial.exchange.setup["start_attempts"] == len(leads_s) > 1
    assert trial.metrics["lost_messages"] == 2
    assert way.seen["hello"] >= 1


@pytest.mark.parametrize(
    ("there", "back"),
    [
        ({"hello": 2}, {}),
        ({"prove": 2}, {}),
        ({"mark": 4}, {}),
        ({"mark": 1_000_000}, {}),
        ({"finish": 4}, {}),
        ({}, {"challenge": 2}),
        ({}, {"accept": 2}),
        ({}, {"marked": 4}),
        # A receiver that has heard nothing for 20 ms leaves: another program may take as long.
        pytest.param({}, {"finished": 6}, marks=pytest.mark.figures),
        ({"hello": 1, "prove": 1, "mark": 1, "finish": 1}, {"challenge": 1, "finished": 1}),
    ],
    ids=str,
)
def test_lost_session_messages_are_resent(
    pair: Pair, there: dict[str, int], back: dict[str, int]
) -> None:
    ways = Way(lose_session=there), Way(lose_session=back)
    trial = relayed_trial(
        pair,
        "stream",
        *ways,
        # Too short for a session of its own: nothing but the mark tells the warm-up.
        message_size_bytes=2,
        warmup_s=0.05,
        messages=100,
        rate_messages_per_s=1000,
    )
    for way, lost in zip(ways, (there, back), strict=True):
        for kind, count in lost.items():
            assert way.seen[kind] > min(count, 2), (kind, way.seen)
    assert trial.target["mark_seen"]
    first_measured = trial.source["flows"][0]["first_measured"]
    assert first_measured <= 50
    assert trial.metrics["received_messages"] == trial.metrics["sent_messages"] == 100
    assert trial.target["total_messages"] == first_measured + 100
    assert trial.target["ended_by"] == trial.source["ended_by"] == "finished"


def test_a_flow_that_was_accepted_unheard_holds_up_no_other(pair: Pair) -> None:
    back = Way(lose_session={"accept": 1})

    trial = relayed_trial(
        pair, "stream", Way(), back, flows=2, messages=20, rate_messages_per_s=1000
    )

    assert back.seen["accept"] >= 3
    assert trial.metrics["received_messages"] == 20


def test_messages_of_the_warm_up_may_be_lost(pair: Pair) -> None:
    way = Way(lose=frozenset(range(0, 30, 3)) | {60})
    trial = relayed_trial(
        pair, "stream", way, warmup_s=0.05, messages=100, rate_messages_per_s=1000
    )
    # A busy machine sends fewer in the warm-up, or none.
    (flow,) = trial.source["flows"]
    lost = sum(number >= flow["first_measured"] for number in way.lose)
    assert trial.metrics["lost_messages"] == lost
    assert trial.metrics["received_messages"] == 100 - lost


def test_an_unheard_receiver_times_out(pair: Pair) -> None:
    never = Way(lose_session={"alive": 1_000_000})
    exchange = relayed_exchange(
        pair, "stream", Way(), never, time_s=10, silence_s=0.3, rate_messages_per_s=500
    )
    assert isinstance(exchange.error, EngineError)
    assert exchange.error.code == "peer.gone"
    assert exchange.results["sender"]["ended_by"] == "silence"
    # What the receiver had counted until it was cancelled is kept.
    assert exchange.results["receiver"]["total_messages"] > 0


# Another program that has the processor for so long is a silence, too.
@pytest.mark.figures
@pytest.mark.parametrize("silence_s", [0.1, 0.2])
def test_the_shortest_silence_is_not_a_false_alarm(pair: Pair, silence_s: float) -> None:
    trial = pair.trial("stream", time_s=0.6, silence_s=silence_s, rate_messages_per_s=20)
    assert trial.metrics["received_messages"] == trial.metrics["sent_messages"] == 12


@pytest.mark.parametrize("flows", [1, 3])
@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_counts_of_both_ends_survive_a_link_failure(transport: str, flows: int) -> None:
    with opened_pair("virtual", "100M") as pair:
        source = pair.bed.hosts[0]
        told: list[int] = []

        def pull(progress: Progress) -> None:
            if told or not progress.messages:
                return
            told.append(progress.messages)
            subprocess.run(
                [*source.command_prefix, tool("ip"), *shlex.split("link set dev eth0 down")],
                check=True,
            )

        exchange = pair.exchange(
            "stream",
            pull,
            transport=transport,
            flows=flows,
            message_size_bytes=500,
            rate_messages_per_s=1000,
            time_s=60,
            silence_s=0.5,
        )
    assert exchange.error is not None
    sent, received = (
        exchange.results["sender"]["total_messages"],
        exchange.results["receiver"]["total_messages"],
    )
    # At least what had been told of before the link went down.
    assert told[0] <= received <= sent < 60_000
