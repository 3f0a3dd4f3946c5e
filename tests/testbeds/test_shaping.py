"""A shaped link carries what a real Ethernet of its speed carries."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest
from missing import missing
from quiet_machine import figure_test
from testbed_opening import Open, opening

from lanlab.addresses import ip_family
from lanlab.testbeds import shaping
from lanlab.testbeds.base import Testbed as Bed


@pytest.fixture
def open_bed() -> Iterator[Open]:
    """Open testbeds, or skip; they are closed after the test."""
    with opening() as open_or_skip:
        yield open_or_skip


def features(bed: Bed, host: int, device: str = "eth0") -> dict[str, bool]:
    """Offload features of a host's interface, as ethtool sees them."""
    ethtool = shutil.which("ethtool", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if ethtool is None:
        missing("need `ethtool` to look at offloads independently; apt install ethtool")
    shown = subprocess.run(
        [*bed.hosts[host].command_prefix, ethtool, "-k", device],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = {}
    for line in shown.splitlines()[1:]:
        key, _, value = line.strip().partition(":")
        found[key] = value.strip().startswith("on")
    return found


def test_a_shaped_link_has_no_offloads(open_bed: Open) -> None:
    """They would show the shaper packets that no wire carries."""
    names = (
        "tx-tcp-segmentation",
        "tx-tcp6-segmentation",
        "generic-segmentation-offload",
        "generic-receive-offload",
        "scatter-gather",
        "tx-checksumming",
        "rx-checksumming",
        "tx-udp-segmentation",
    )
    for link, on in (("unshaped", True), ("10M", False)):
        bed = open_bed("virtual", 2, link)
        assert bed.link.offloads == ("on" if on else "off")
        for host in (0, 1):
            found = features(bed, host)
            assert found["tx-tcp-segmentation"] == on
            if not on:
                assert not [name for name in names if found[name]]


#: Sends as fast as it may for a time; prints how many.
BLAST = """
import socket, sys, time
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
s.connect((sys.argv[1], 7))
payload, sent, end = bytes(int(sys.argv[2])), 0, time.monotonic() + float(sys.argv[3])
while time.monotonic() < end:
    s.send(payload)
    sent += 1
print(sent)
"""
#: Counts until a pause; prints how many came, and the goodput between the first and the last.
SINK = """
import socket, sys, time
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 7))
s.settimeout(5)
print("ready", flush=True)
count, first = 0, 0
try:
    while True:
        size = len(s.recv(65536))
        last = time.monotonic()
        first = first or last
        count += 1
        s.settimeout(1.5)
except TimeoutError:
    print(count, (count - 1) * size * 8 / (last - first))
"""


def check_speed(found_bps: float, theory_bps: float) -> None:
    """Within 1 %. A busy machine wakes the shaper late: the link is then slower, never faster."""
    assert found_bps == pytest.approx(theory_bps, rel=0.01)


def blasted_bps(bed: Bed, version: int, size: int) -> float:
    """Goodput of a sender that never pauses; sender, interfaces and receiver count the same."""
    sender, receiver = bed.hosts
    address = receiver.addresses[ip_family(version)]
    sink = subprocess.Popen(
        [*receiver.command_prefix, sys.executable, "-c", SINK, address],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert sink.stdout is not None
    sink.stdout.readline()
    before = bed.counters()
    blast = subprocess.run(
        [*sender.command_prefix, sys.executable, "-c", BLAST, address, str(size), "0.8"],
        capture_output=True,
        text=True,
        check=True,
    )
    count, goodput_bps = sink.communicate()[0].split()
    after = bed.counters()

    sent = int(blast.stdout)
    assert int(count) == sent
    # Beside the datagrams at most some reports of IPv6 multicast groups.
    assert 0 <= after["host0/eth0"]["tx_packets"] - before["host0/eth0"]["tx_packets"] - sent <= 6
    assert 0 <= after["host1/eth0"]["rx_packets"] - before["host1/eth0"]["rx_packets"] - sent <= 6
    assert all(values["qdisc_drops"] == 0 for values in after.values())
    return float(goodput_bps)


@pytest.mark.parametrize(
    ("link", "version", "size", "wire_bytes"),
    [
        # IEEE 802.3: header 14, check sequence 4, preamble 8 and gap 12 are 38; at least 84.
        ("10M", 4, 1408, 1408 + 28 + 38),
        ("10M", 6, 1408, 1408 + 48 + 38),
        ("10M", 4, 500, 500 + 28 + 38),
        ("10M:switch", 4, 1408, 1408 + 28 + 38),
        # Four bytes of small frames are 3 to 5 %.
        ("2M", 4, 2, 84),
        ("2M", 4, 18, 84),
        ("2M", 4, 22, 88),
        ("2M", 4, 64, 130),
    ],
)
@figure_test
def test_goodput_is_that_of_real_ethernet(
    open_bed: Open, link: str, version: int, size: int, wire_bytes: int
) -> None:
    """Within 1 % of frame and gap arithmetic."""
    bed = open_bed("virtual", 2, link)
    if ip_family(version) not in bed.hosts[1].addresses:
        pytest.skip("this machine has no IPv6")
    rate_bps = 2_000_000 if link == "2M" else 10_000_000
    check_speed(blasted_bps(bed, version, size), rate_bps * size / wire_bytes)


def test_a_frame_costs_38_bytes_beside_its_packet_and_84_at_least(open_bed: Open) -> None:
    """What the kernel is told, and what is recorded of the link."""
    assert "overhead 24 mpu 84 " in shaping.shaping_batch(["eth0"], 10_000_000, 1_000_000)
    assert shaping.FULL_FRAME_WIRE_BYTES == 1538
    assert open_bed("virtual", 2, "10M").link.overhead_bytes == 38


#: Sends as fast as it may for a time.
TCP_SENDER = """
import socket, sys, time
payload, end = bytes(65536), time.monotonic() + float(sys.argv[2])
with socket.create_connection((sys.argv[1], 7)) as s:
    while time.monotonic() < end:
        s.sendall(payload)
"""
#: Prints the goodput from 0.3 s after the first octets to the last.
TCP_SINK = """
import socket, sys, time
with socket.create_server((sys.argv[1], 7)) as server:
    print("ready", flush=True)
    connection, _ = server.accept()
    start, first, octets = time.monotonic(), 0, 0
    while size := len(connection.recv(65536)):
        now = time.monotonic()
        if first:
            octets, last = octets + size, now
        elif now > start + 0.3:
            first = now
print(octets * 8 / (last - first))
"""


def tcp_bps(bed: Bed) -> float:
    """Goodput of a TCP sender that never pauses."""
    address = bed.hosts[1].addresses["ipv4"]
    sink = subprocess.Popen(
        [*bed.hosts[1].command_prefix, sys.executable, "-c", TCP_SINK, address],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert sink.stdout is not None
    sink.stdout.readline()
    subprocess.run(
        [*bed.hosts[0].command_prefix, sys.executable, "-c", TCP_SENDER, address, "1.3"], check=True
    )
    return float(sink.communicate()[0])


@figure_test
def test_tcp_goodput_is_that_of_real_ethernet(open_bed: Open) -> None:
    """Within 1 %: TCP's packets of many segments are not taken for one frame."""
    bed = open_bed("virtual", 2, "10M")
    # 1500 less the IP and TCP headers of 20 each and 12 of time stamps (RFC 7323).
    theory_bps = 10_000_000 * 1448 / 1538
    check_speed(tcp_bps(bed), theory_bps)


def test_bursts_grow_with_the_speed_and_queues_hold_a_send_buffer() -> None:
    """The numbers that the measured exactness stands on."""
    assert [shaping.burst_bytes(r) for r in (1_000, 10**7, 2 * 10**7, 10**8, 10**9)] == [
        1600,
        1600,
        5000,
        25_000,
        250_000,
    ]
    # A full frame takes 2304 octets of the send buffer: 512 of bookkeeping are in that.
    assert shaping.HOST_QUEUE_BYTES > 212_992 // 2304 * shaping.FULL_FRAME_WIRE_BYTES
