"""
A datagram can be lost in seven places. Each is made to lose some here, by means that the engine
knows nothing of, and what is lost must be named after the place.
"""

import os
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from programs import ran
from trial_running import Pair, Trial, opened_pair

from lanlab.testbeds.tools import tool
from lanlab.workloads.stream.losses import LOST_IN_THE_MEDIUM, LOST_ON_THE_WAY, NOT_RECEIVED

#: Of the whole kernel: packets that wait for the protocols of each processor at most.
BACKLOG = Path("/proc/sys/net/core/netdev_max_backlog")


@pytest.fixture
def lan() -> Iterator[Pair]:
    """Two hosts on a cable of 10 Mbit/s, whose queue each test replaces: a token bucket, since the
    medium steers its own."""
    with opened_pair("virtual", "10M+tbf") as pair:
        yield pair


def tc(pair: Pair, *arguments: str, host: int = 0) -> None:
    prefix = pair.bed.hosts[host].command_prefix
    command = [*prefix, tool("tc"), "qdisc", *arguments]
    ran(command, check=True)


def places(trial: Trial) -> dict[str, int]:
    found = {name: int(trial.metrics[name]) for name in NOT_RECEIVED}
    if "lost_chance_messages" in trial.metrics:
        found |= {name: int(trial.metrics[name]) for name in LOST_IN_THE_MEDIUM}
    missing = trial.metrics["offered_messages"] - trial.metrics["received_messages"]
    assert sum(found.values()) == missing
    assert trial.metrics["lost_messages"] == sum(
        found.get(name, 0) for name in (*LOST_ON_THE_WAY, *LOST_IN_THE_MEDIUM)
    )
    return found


def only(trial: Trial, place: str, beside: str = "") -> int:
    """How many were lost at `place`, which must be where nearly all were, but for `beside`."""
    found = places(trial)
    others = sum(n for name, n in found.items() if name not in (place, beside))
    assert found[place] > 0, found
    assert others <= 0.02 * found[place], found
    return found[place]


def check_excess(trial: Trial, lost: int, link_bps: float) -> None:
    """Nearly everything sent beyond the link's capacity was lost. A busy sender may pause, which
    leaves the link idle, and then send a burst, of which more is lost."""
    sent = trial.metrics["offered_messages"] - trial.source["unsent_messages"]
    carried = link_bps / 8 / (500 + 66) * trial.source["elapsed_ns"] / 1e9
    assert lost >= 0.85 * (sent - carried)


def test_a_full_sending_queue_refuses_messages(lan: Pair) -> None:
    tc(lan, *shlex.split("replace dev eth0 root tbf rate 10mbit burst 1600 limit 1200"))
    trial = lan.trial("stream", message_size_bytes=500, rate_bps="20M", time_s=0.5)
    assert trial.metrics["lost_messages"] == 0
    refused = only(trial, "refused_messages", beside="unsent_messages")
    check_excess(trial, refused, 10e6)


def test_drops_after_queueing_count_for_the_senders_queue(lan: Pair) -> None:
    tc(lan, *shlex.split("replace dev eth0 root handle 1: tbf rate 10mbit burst 1600 limit 60000"))
    tc(lan, *shlex.split("replace dev eth0 parent 1:1 pfifo_head_drop limit 4"))
    trial = lan.trial("stream", message_size_bytes=500, rate_bps="20M", time_s=0.5)
    assert trial.metrics["refused_messages"] == 0
    dropped = only(trial, "lost_sender_queue_messages", beside="unsent_messages")
    check_excess(trial, dropped, 10e6)


def test_drops_of_a_switch_count_as_link_losses() -> None:
    with opened_pair("virtual", "10M:switch+tbf") as pair:
        switch = [name for name in pair.bed.counters() if name.startswith("switch/")]
        device = sorted(switch)[1].partition("/")[2]
        namespace = pair.bed._places["switch"]  # type: ignore[attr-defined]
        subprocess.run(
            [
                *(*namespace.command_prefix, tool("tc"), "qdisc", "replace", "dev", device),
                *shlex.split("root tbf rate 5mbit burst 1600 limit 3000"),
            ],
            check=True,
        )
        trial = pair.trial(
            "stream", message_size_bytes=500, rate_bps="8M", messages=1000, warmup_s=0.1
        )
    check_excess(trial, only(trial, "lost_link_messages", beside="unsent_messages"), 5e6)


@contextmanager
def least_backlog() -> Iterator[None]:
    """Room for one packet in each processor's backlog, until the end. Of the whole machine."""
    before = BACKLOG.read_text()
    BACKLOG.write_text("0")
    try:
        yield
    finally:
        BACKLOG.write_text(before)


@pytest.mark.skipif(not os.access(BACKLOG, os.W_OK), reason="needs root of the whole machine")
@pytest.mark.figures
def test_a_full_backlog_of_the_receiving_host_is_named() -> None:
    with opened_pair("virtual", "unshaped") as pair:
        prefix = pair.bed.hosts[0].command_prefix
        cut = [*prefix, tool("ip"), *shlex.split("link set dev eth0 gso_max_segs 1")]
        subprocess.run(cut, check=True)
        with least_backlog():
            trial = pair.trial("stream", message_size_bytes=500, messages=64_000, io="segment")
    lost = only(trial, "lost_backlog_messages")
    assert lost >= 0.5 * trial.metrics["offered_messages"]


def test_a_small_socket_buffer_is_named() -> None:
    """A receiver that works 1 ms on each message, and has room for a few, gets them unpaced: a busy
    machine slows both alike."""
    with opened_pair() as pair:
        trial = pair.trial(
            "stream",
            message_size_bytes=500,
            messages=2000,
            receive_buffer_bytes=4096,
            receiver_work_s=0.001,
            receive="block",
        )
    lost = only(trial, "lost_socket_buffer_messages")
    assert lost >= 0.3 * trial.metrics["offered_messages"]


@pytest.mark.parametrize("warmup_s", [0.0, 0.5])
@pytest.mark.parametrize("io", ["single", "batch"])
def test_drops_of_the_warm_up_are_not_the_measured_parts(io: str, warmup_s: float) -> None:
    with opened_pair() as pair:
        trial = pair.trial(
            "stream",
            message_size_bytes=500,
            rate_messages_per_s=4000,
            time_s=0.3,
            warmup_s=warmup_s,
            io=io,
            receive_buffer_bytes=4096,
            receiver_work_s=0.0005,
            receive="block",
        )
    only(trial, "lost_socket_buffer_messages", beside="unsent_messages")
    # The session's own words are among those dropped, and are said again each time; the warm-up
    # alone lost some 1000, and a pause of the receiver at its end is not told from what follows.
    lost = trial.metrics["lost_messages"]
    assert lost - 5 <= trial.target["socket_dropped_datagrams"] <= lost + 600


@pytest.mark.figures
def test_messages_after_the_end_are_late(lan: Pair) -> None:
    parameters = {"message_size_bytes": 500, "rate_bps": "20M", "time_s": 0.4, "warmup_s": 0.1}
    trial = lan.trial("stream", drain_s=0.005, **parameters)
    late = only(trial, "lost_late_messages", beside="unsent_messages")
    assert late == trial.target["overdue_messages"]
    # The default send buffer holds about 90 messages of this size, 40 ms on this link.
    assert 20 <= late <= 160
    patient = lan.trial("stream", drain_s=0.5, **parameters)
    assert patient.metrics["lost_messages"] == 0


@pytest.mark.figures
def test_a_sender_that_skips_says_how_many(lan: Pair) -> None:
    trial = lan.trial(
        "stream",
        message_size_bytes=500,
        rate_bps="20M",
        time_s=0.5,
        warmup_s=0.1,
        when_late="skip",
        send_buffer_bytes=16_384,
    )
    skipped = only(trial, "skipped_messages", beside="unsent_messages")
    assert skipped == pytest.approx(0.55 * trial.metrics["offered_messages"], rel=0.3)
    # Its buffer fills as fast as it drains: it waits about half of the time.
    assert 0.25 < trial.source["blocked_ns"] / trial.source["elapsed_ns"] < 0.9
