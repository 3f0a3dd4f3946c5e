"""A shaped link carries what a real Ethernet of its speed carries."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import NamedTuple, Self

import pytest
from missing import missing
from programs import begun, ran
from testbed_opening import Open

from lanlab.addresses import ip_family
from lanlab.testbeds import shaping
from lanlab.testbeds.base import Testbed as Bed
from lanlab.testbeds.link import parse_link


def features(bed: Bed, host: int, device: str = "eth0") -> dict[str, bool]:
    ethtool = shutil.which("ethtool", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if ethtool is None:
        missing("need `ethtool` to look at offloads independently; apt install ethtool")
    shown = ran([*bed.hosts[host].command_prefix, ethtool, "-k", device], check=True).stdout
    found = {}
    for line in shown.splitlines()[1:]:
        key, _, value = line.strip().partition(":")
        found[key] = value.strip().startswith("on")
    return found


def test_a_shaped_link_has_no_offloads(open_bed: Open) -> None:
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
    for link, on in (("unshaped", True), ("10M+tbf", False)):
        bed = open_bed("virtual", 2, link)
        assert bed.link.offloads == ("on" if on else "off")
        for host in (0, 1):
            found = features(bed, host)
            assert found["tx-tcp-segmentation"] == on
            if not on:
                assert not [name for name in names if found[name]]


#: Sends as fast as it may for a time, and a datagram of one octet as its end; prints how many.
BLAST = """
import socket, sys, time
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
s.connect((sys.argv[1], 7))
payload, sent, end = bytes(int(sys.argv[2])), 0, time.monotonic() + float(sys.argv[3])
while time.monotonic() < end:
    s.send(payload)
    sent += 1
s.send(b"!")
print(sent)
"""
#: What both sinks print of what has come: the goodput from first to last, and that of the fastest
#: quarter of a second. `seen`: times, and the octets until then.
GOODPUTS = """
def goodputs(seen):
    rates, begin = [], seen[0]
    for at in seen:
        if at[0] - begin[0] >= 0.25:
            rates.append((at[1] - begin[1]) * 8 / (at[0] - begin[0]))
            begin = at
    whole = (seen[-1][1] - seen[0][1]) * 8 / (seen[-1][0] - seen[0][0])
    return f"{whole} {max(rates)}"
"""
#: Counts until the end or a pause; prints how many came, and the goodputs.
SINK = """
import socket, sys, time
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 7))
s.settimeout(5)
print("ready", flush=True)
seen, octets = [], 0
try:
    while (size := len(s.recv(65536))) > 1:
        octets += size
        seen.append((time.monotonic(), octets))
except TimeoutError:
    pass
print(len(seen), goodputs(seen))
"""


@dataclass(frozen=True)
class Goodput:
    whole_bps: float
    fastest_bps: float

    @classmethod
    def parse(cls, printed: str) -> Self:
        return cls(*map(float, printed.split()))


def check_speed(found: Goodput, theory_bps: float) -> None:
    """
    As fast within 1 % for a quarter of a second, and never faster.

    A machine whose processors are taken away wakes the kernel's shaper late, which does not make up
    for it: the link is slower as a whole then. Where the first datagram is read late, the link
    seems faster by that.
    """
    assert found.whole_bps <= 1.02 * theory_bps
    assert found.fastest_bps >= 0.99 * theory_bps


def check_goodput(bed: Bed, link: str, version: int, size: int, wire_bytes: int) -> None:
    """The goodput is that of messages of this size and time on the wire."""
    if ip_family(version) not in bed.hosts[1].addresses:
        pytest.skip("this machine has no IPv6")
    rate_bps = parse_link(link).rate_bps
    assert rate_bps is not None
    check_speed(blasted(bed, version, size), rate_bps * size / wire_bytes)


def blasted(bed: Bed, version: int, size: int) -> Goodput:
    """Goodput by UDP; sender, interfaces and receiver count the same."""
    sender, receiver = bed.hosts
    address = receiver.addresses[ip_family(version)]
    sink, _ = begun([*receiver.command_prefix, sys.executable, "-c", GOODPUTS + SINK, address])
    before = bed.counters()
    blast = ran(
        [*sender.command_prefix, sys.executable, "-c", BLAST, address, str(size), "0.8"], check=True
    )
    count, goodputs = sink.communicate()[0].split(maxsplit=1)
    after = bed.counters()

    sent = int(blast.stdout)
    assert int(count) == sent
    # Beside the datagrams their end, and at most some reports of IPv6 multicast groups.
    for host, packets in (("host0/eth0", "tx_packets"), ("host1/eth0", "rx_packets")):
        assert 1 <= after[host][packets] - before[host][packets] - sent <= 7
    assert all(values["qdisc_drops"] == 0 for values in after.values())
    return Goodput.parse(goodputs)


class Shape(NamedTuple):
    link: str
    version: int
    size: int
    # IEEE 802.3: header 14, check sequence 4, preamble 8 and gap 12 are 38; at least 84.
    wire_bytes: int


#: Each way to shape once, with a full and with a short frame.
SHAPES = [
    Shape("10M", 4, 1408, 1408 + 28 + 38),
    Shape("10M+tbf", 6, 1408, 1408 + 48 + 38),
    Shape("2M", 4, 18, 84),
    Shape("2M+tbf", 4, 22, 88),
]
MORE_SHAPES = [
    Shape("10M", 6, 1408, 1408 + 48 + 38),
    Shape("10M", 4, 500, 500 + 28 + 38),
    Shape("10M:switch", 4, 1408, 1408 + 28 + 38),
    Shape("10M:hub", 4, 1408, 1408 + 28 + 38),
    Shape("10M+tbf", 4, 1408, 1408 + 28 + 38),
    Shape("10M+tbf", 4, 500, 500 + 28 + 38),
    Shape("10M:switch+tbf", 4, 1408, 1408 + 28 + 38),
    # Four bytes of small frames are 3 to 5 %.
    Shape("2M", 4, 2, 84),
    Shape("2M", 4, 22, 88),
    Shape("2M", 4, 64, 130),
    Shape("2M+tbf", 4, 2, 84),
    Shape("2M+tbf", 4, 18, 84),
    Shape("2M+tbf", 4, 64, 130),
]


@pytest.mark.parametrize(
    "shape", [*SHAPES, *(pytest.param(more, marks=pytest.mark.long) for more in MORE_SHAPES)]
)
@pytest.mark.figures
def test_goodput_is_that_of_real_ethernet(open_bed: Open, shape: Shape) -> None:
    check_goodput(open_bed("virtual", 2, shape.link), *shape)


def test_a_frame_costs_38_bytes_more_than_its_packet_and_at_least_84(open_bed: Open) -> None:
    assert "overhead 24 mpu 84 " in shaping.shaping_batch(["eth0"], 10_000_000, 1_000_000)
    assert shaping.FULL_FRAME_WIRE_BYTES == 1538
    for link in ("10M", "10M+tbf"):
        assert open_bed("virtual", 2, link).link.overhead_bytes == 38


#: Sends as fast as it may for a time.
TCP_SENDER = """
import socket, sys, time
payload, end = bytes(65536), time.monotonic() + float(sys.argv[2])
with socket.create_connection((sys.argv[1], 7)) as s:
    while time.monotonic() < end:
        s.sendall(payload)
"""
#: Prints the goodputs from 0.3 s after the first octets on.
TCP_SINK = """
import socket, sys, time
with socket.create_server((sys.argv[1], 7)) as server:
    print("ready", flush=True)
    connection, _ = server.accept()
    start, seen, octets = time.monotonic(), [], 0
    while size := len(connection.recv(65536)):
        now, octets = time.monotonic(), octets + size
        if now > start + 0.3:
            seen.append((now, octets))
print(goodputs(seen))
"""


def by_tcp(bed: Bed) -> Goodput:
    address = bed.hosts[1].addresses["ipv4"]
    prefix = bed.hosts[1].command_prefix
    sink, _ = begun([*prefix, sys.executable, "-c", GOODPUTS + TCP_SINK, address])
    subprocess.run(
        [*bed.hosts[0].command_prefix, sys.executable, "-c", TCP_SENDER, address, "1.3"], check=True
    )
    return Goodput.parse(sink.communicate()[0])


@pytest.mark.parametrize("link", ["10M", "10M+tbf"])
@pytest.mark.figures
def test_tcp_goodput_is_that_of_real_ethernet(open_bed: Open, link: str) -> None:
    bed = open_bed("virtual", 2, link)
    # 1500 less the IP and TCP headers of 20 each and 12 of time stamps (RFC 7323).
    theory_bps = 10_000_000 * 1448 / 1538
    check_speed(by_tcp(bed), theory_bps)


def test_bursts_grow_with_the_speed_and_queues_hold_a_send_buffer() -> None:
    assert [shaping.burst_bytes(r) for r in (1_000, 10**7, 2 * 10**7, 10**8, 10**9)] == [
        1600,
        1600,
        5000,
        25_000,
        250_000,
    ]
    # A full frame takes 2304 octets of the send buffer: 512 of bookkeeping are in that.
    assert shaping.HOST_QUEUE_BYTES > 212_992 // 2304 * shaping.FULL_FRAME_WIRE_BYTES
