"""
A scripted exchange between real interfaces. The same script runs on virtual time in
`crates/engine/src/medium/scripted.rs`: both give the same frames, octet by octet and in order.
"""

import itertools
import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from testbed_opening import Open

from lanlab.testbeds import wiring
from lanlab.testbeds.registry import testbed as open_testbed

SCRIPT = Path(__file__).parent / "scripted_exchange.txt"
#: Of local experiments (IEEE 802-2014, 9.2.3).
ETHER_TYPE = 0x88B5
PREAMBLE_AND_CHECK_BYTES, SHORTEST_WIRE_BYTES, RATE_BPS = 12, 72, 10_000_000

#: Plays one host's part: its number, then the frames of all, in the order of the script.
PLAYER = """
import json, socket, sys
own, device, ether_type = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ether_type))
wire.bind((device, ether_type))
wire.settimeout(20)
print("ready", flush=True)
frames = [(sender, bytes.fromhex(octets)) for sender, octets in json.load(sys.stdin)]
received = []
for sender, frame in frames:
    if sender == own:
        wire.send(frame)
        continue
    while True:
        octets, (_, _, kind, *_) = wire.recvfrom(2000)
        if kind != socket.PACKET_OUTGOING:
            break
    received.append(octets.hex())
print(json.dumps(received))
"""


def script() -> list[tuple[int, bytes]]:
    frames = []
    lines = [line for line in SCRIPT.read_text().splitlines() if not line.startswith("#")]
    for number, line in enumerate(lines):
        sender, receiver, length = line.split()
        to = "ff:ff:ff:ff:ff:ff" if receiver == "*" else wiring.mac(int(receiver))
        frame = bytes.fromhex((to + wiring.mac(int(sender))).replace(":", ""))
        frame += struct.pack("!H", ETHER_TYPE)
        frame += bytes((131 * number + 7 * i) % 256 for i in range(int(length) - len(frame)))
        frames.append((int(sender), frame))
    return frames


def recorded(path: Path) -> list[tuple[int, bytes]]:
    """The frames of the exchange in a recording, each with its time in ns."""
    content, at, found = path.read_bytes(), 24, []
    while at < len(content):
        seconds, nanoseconds, length, _ = struct.unpack_from("<IIII", content, at)
        frame = content[at + 16 : at + 16 + length]
        at += 16 + length
        if frame[12:14] == struct.pack("!H", ETHER_TYPE):
            found.append((seconds * 10**9 + nanoseconds, frame))
    return found


@pytest.mark.parametrize(("link", "hosts"), [("10M", 2), ("10M:switch", 3), ("10M:hub", 3)])
def test_a_scripted_exchange_gives_its_frames_byte_by_byte_and_in_order(
    open_bed: Open, tmp_path: Path, link: str, hosts: int
) -> None:
    open_bed("virtual", hosts, link).close()
    frames, path = script(), tmp_path / "frames.pcap"
    told = json.dumps([(sender, frame.hex()) for sender, frame in frames])
    with open_testbed("virtual", hosts, link, path) as bed:
        players = [
            subprocess.Popen(
                [*bed.hosts[own].command_prefix, sys.executable, "-c", PLAYER, str(own),
                 wiring.HOST_DEVICE, str(ETHER_TYPE)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )
            for own in (0, 1)
        ]  # fmt: skip
        try:
            for player in players:
                assert player.stdout is not None
                assert player.stdout.readline() == "ready\n"
            received = []
            for player in players:
                assert player.stdin is not None
                player.stdin.write(told)
                player.stdin.close()
            for player in players:
                assert player.stdout is not None
                received.append(json.loads(player.stdout.read()))
        finally:
            for player in players:
                player.kill()
                player.wait()
    for own, octets in enumerate(received):
        assert octets == [frame.hex() for sender, frame in frames if sender != own]
    seen = recorded(path)
    assert [frame for _, frame in seen] == [frame for _, frame in frames]
    for (before_ns, _), (after_ns, frame) in itertools.pairwise(seen):
        wire_bytes = max(len(frame) + PREAMBLE_AND_CHECK_BYTES, SHORTEST_WIRE_BYTES)
        assert after_ns - before_ns >= wire_bytes * 8 * 10**9 // RATE_BPS
