"""
Programs that others wrote measure the same link and find the same.

They are skipped where they are not installed; with LANLAB_REQUIRE_PEERS=1 that is a failure.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from peer_finding import peer_program
from quiet_machine import figure_test
from trial_running import Pair, opened_pair

from lanlab.testbeds.base import Host

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the virtual LAN is Linux only")

PATIENCE_S = 20.0


@pytest.fixture(scope="module")
def lan() -> Iterator[Pair]:
    """Two hosts on a cable of 10 Mbit/s."""
    with opened_pair("virtual", "10M") as pair:
        yield pair


class Lines:
    """A program on a host, line by line."""

    def __init__(self, host: Host, *command: str) -> None:
        self.process = subprocess.Popen(
            [*host.command_prefix, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.strip())
        self._lines.put(None)

    def until(self, wanted: str) -> list[str]:
        """Every line up to the one that contains `wanted`, which is left out."""
        found: list[str] = []
        while True:
            line = self._lines.get(timeout=PATIENCE_S)
            assert line is not None, f"ended with: {found}"
            if wanted in line:
                return found
            found.append(line)


@contextmanager
def running(host: Host, *command: str) -> Iterator[Lines]:
    """A program that is ended afterwards."""
    lines = Lines(host, *command)
    try:
        yield lines
    finally:
        # Not killed: some have children of their own to end.
        lines.process.terminate()
        lines.process.wait(PATIENCE_S)


def fastest(lan: Pair, size: int) -> float:
    """Goodput of UDP as fast as the link takes it, nothing of it lost."""
    trial = lan.trial("stream", message_size_bytes=size, warmup_s=0.3, time_s=0.8)
    assert trial.metrics["received_ratio"] == 1
    return trial.metrics["goodput_bps"]


@pytest.mark.parametrize("size", [18, 1408])
@figure_test
def test_goodput_is_the_limit_of_the_ethernet(lan: Pair, size: int) -> None:
    """By arithmetic: beside the payload a datagram takes UDP 8, IPv4 20, Ethernet 38 octets."""
    limit_bps = 10e6 * size / (size + 66)
    found_bps = fastest(lan, size)
    assert found_bps == pytest.approx(limit_bps, rel=0.01), f"{found_bps:.0f}"


@figure_test
def test_iperf3_finds_the_same_limit(lan: Pair) -> None:
    """One after the other: within 2 %."""
    iperf3 = peer_program("iperf3")
    size = 500
    source, target = lan.bed.hosts
    address = target.addresses["ipv4"]
    ours_bps = fastest(lan, size)
    with running(target, iperf3, "-s", "-1", "-B", address, "--forceflush") as server:
        server.until("Server listening")
        done = subprocess.run(
            [
                *(*source.command_prefix, iperf3, "-c", address, "-u", "-b", "0"),
                *("-l", str(size), "-O", "1", "-t", "1", "-J"),
            ],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
    theirs = json.loads(done.stdout)["end"]["sum_received"]
    theirs_bps = 8 * theirs["bytes"] / theirs["seconds"]
    near = ours_bps == pytest.approx(theirs_bps, rel=0.02)
    assert near, f"ours {ours_bps:.0f}, iperf3's {theirs_bps:.0f} bit/s"


#: Sends a datagram of a length to a port where nobody listens, for each line of its input.
MARKER = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    for line in sys.stdin:
        try:
            s.sendto(bytes(int(line)), (sys.argv[1], 9))
        except OSError:
            pass
"""


def test_tshark_sees_every_datagram_once(lan: Pair) -> None:
    """A paced trial of 300 messages in 3 flows, on the wire: 300 datagrams of that length."""
    flows = 3
    tshark = peer_program("tshark")
    source, target = lan.bed.hosts
    # The length field of UDP counts its 8 octets of header.
    data, before, after = 508, 507, 506
    lengths = " or ".join(f"udp[4:2] = {length}" for length in (data, before, after))
    with (
        running(
            target,
            *(tshark, "-i", "eth0", "-n", "-l", "-Q", "-f", lengths),
            *("-T", "fields", "-e", "udp.length", "-e", "udp.dstport"),
        ) as capture,
        running(source, sys.executable, "-c", MARKER, target.addresses["ipv4"]) as marker,
    ):

        def mark(length: int) -> None:
            assert marker.process.stdin is not None
            marker.process.stdin.write(f"{length - 8}\n")
            marker.process.stdin.flush()

        # A capture takes its time to begin: it has when it has seen one of these.
        begun = threading.Event()

        def keep_marking() -> None:
            while not begun.wait(0.05):
                mark(before)

        marking = threading.Thread(target=keep_marking)
        marking.start()
        try:
            capture.until(f"{before}\t9")
        finally:
            begun.set()
            marking.join()
        trial = lan.trial(
            "stream", message_size_bytes=500, messages=300, rate_messages_per_s=1000, flows=flows
        )
        mark(after)
        seen = [line.split("\t") for line in capture.until(f"{after}\t9")]
    ports = [port for length, port in seen if length == str(data)]
    assert len(ports) == trial.source["sent_messages"] == trial.target["total_messages"] == 300
    assert len(set(ports)) == flows
    assert all(ports.count(port) == 300 // flows for port in ports)


@pytest.mark.parametrize("ip_version", [4, 6])
def test_the_queue_of_the_link_counts_the_same(lan: Pair, ip_version: int) -> None:
    """The interface and its shaper: the stream and its session, octet by octet of the frames."""
    before = lan.bed.counters()
    trial = lan.trial(
        "stream",
        ip_version=ip_version,
        message_size_bytes=500,
        messages=300,
        rate_messages_per_s=1000,
    )
    after = lan.bed.counters()
    change = {
        name: after["host0/eth0"][name] - before["host0/eth0"][name] for name in after["host0/eth0"]
    }
    assert trial.target["total_messages"] == 300
    assert change["qdisc_drops"] == change["tx_drops"] == 0
    assert change["tx_packets"] == change["qdisc_packets"]
    beside = change["tx_packets"] - 300
    assert 3 <= beside <= 40
    # Ethernet 14, IP 20 or 40, UDP 8; a word of the session has 64, the least frame fewer.
    frame = 14 + (20 if ip_version == 4 else 40) + 8 + 500
    rest = change["tx_bytes"] - 300 * frame
    assert 42 * beside <= rest <= (frame - 436) * beside
