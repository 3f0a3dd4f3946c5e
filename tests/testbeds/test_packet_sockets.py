"""lanlab's medium where there is no /dev/net/tun: each host's cable ends at a packet socket."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from captures import marked, running
from missing import missing
from test_medium import medium_pid, settled
from test_shaping import BLAST, check_goodput, features
from testbed_opening import Open, opening

from lanlab.testbeds import medium
from lanlab.testbeds.tools import find_tool
from lanlab.testbeds.virtual import VirtualTestbed

SENT = 2000
#: Sends a number of datagrams of a size to a port without a listener.
SEND = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(int(sys.argv[2])):
    s.sendto(bytes(int(sys.argv[3])), (sys.argv[1], 7))
"""


@pytest.fixture
def open_bed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Open testbeds as on a machine without that device; they are closed after the test."""
    monkeypatch.setattr(medium, "TUN_DEVICE", Path("/dev/no-such-device"))
    with opening() as open_or_skip:
        yield open_or_skip


@pytest.mark.parametrize(
    ("link", "version", "size", "wire_bytes"),
    [
        ("10M", 4, 1408, 1408 + 28 + 38),
        ("10M", 6, 500, 500 + 48 + 38),
        ("10M:hub", 4, 1408, 1408 + 28 + 38),
        ("2M", 4, 18, 84),
    ],
)
@pytest.mark.figures
def test_goodput_is_that_of_real_ethernet(
    open_bed: Open, link: str, version: int, size: int, wire_bytes: int
) -> None:
    bed = open_bed("virtual", 2, link)
    check_goodput(bed, link, version, size, wire_bytes)
    assert bed.counters()["host0/eth0"]["medium_lost_adapter_queue_frames"] == 0


def test_neither_end_of_the_cables_joins_or_splits_frames(open_bed: Open) -> None:
    bed = open_bed("virtual", 2, "10M")
    names = ("tx-tcp-segmentation", "generic-segmentation-offload", "generic-receive-offload")
    for host in (0, 1):
        found = features(bed, host)
        assert not [name for name in (*names, "tx-checksumming") if found[name]]


def test_a_full_socket_loses_frames_in_the_adapter_queue(open_bed: Open) -> None:
    bed = open_bed("virtual", 2, "100M")
    assert isinstance(bed, VirtualTestbed)
    settled(bed)
    carrier = medium_pid(bed)
    blast = [sys.executable, "-c", BLAST, bed.hosts[1].addresses["ipv4"], "2", "1"]
    os.kill(carrier, signal.SIGSTOP)
    try:
        subprocess.run([*bed.hosts[0].command_prefix, *blast], check=True, capture_output=True)
    finally:
        os.kill(carrier, signal.SIGCONT)
    counts = settled(bed)["host0/eth0"]
    lost = counts["medium_lost_adapter_queue_frames"]
    assert lost > 0
    assert counts["medium_frames"] + lost == counts["tx_packets"]


def test_tshark_sees_the_frames_that_the_medium_counts(open_bed: Open) -> None:
    tshark = find_tool("tshark")
    if tshark is None:
        missing("need `tshark`; apt install tshark")
    bed = open_bed("virtual", 2, "10M,loss=10%")

    def send(count: int, size: int) -> None:
        to = bed.hosts[1].addresses["ipv4"]
        command = [sys.executable, "-c", SEND, to, str(count), str(size)]
        subprocess.run([*bed.hosts[0].command_prefix, *command], check=True)

    # The length field of UDP counts its header of 8 bytes.
    seeing = ("-i", "eth0", "-f", "udp port 7", "-l", "-T", "fields", "-e", "udp.length")
    with contextlib.ExitStack() as stack:
        watches = [stack.enter_context(running(host, tshark, *seeing)) for host in bed.hosts]
        marked(watches, "209", lambda: send(1, 201))
        before = settled(bed)
        send(SENT, 100)
        after = settled(bed)
        seen = [lines.count("108") for lines in marked(watches, "210", lambda: send(1, 202))]
    own, before_own = after["host0/eth0"], before["host0/eth0"]
    lost = own["medium_lost_chance"] - before_own["medium_lost_chance"]
    assert lost > 0
    # Reports of IPv6 multicast groups may come in between, and be lost.
    others = own["medium_frames"] - before_own["medium_frames"] - SENT
    assert 0 <= others <= 6
    assert seen[0] == SENT
    assert SENT - lost <= seen[1] <= SENT - lost + others
