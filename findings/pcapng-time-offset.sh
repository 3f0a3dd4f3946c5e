#!/usr/bin/env bash
# Scapy, python-pcapng: when was a packet captured if the interface has a time offset (pcapng, `if_tsoffset`)?
#
# Expected: at the packet's time stamp plus the offset, a number of seconds, as the draft of the format says. dpkt
# and Wireshark add it.
# Found: without the offset, in January 1970. Where interfaces have different offsets, intervals are wrong too: a
# request leaves at 0.5 s on the first one, its answer comes at 0.7 s on the second one, which started 10 s before
# it. Both readers say that the answer comes 10.2 s after the request, not 0.2 s.
# python-pcapng shows the offset among the options but leaves it out of `timestamp`.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v
v/bin/pip -qq install --no-compile scapy==2.8.0 python-pcapng==2.1.1 dpkt==1.9.8
v/bin/python - <<'PYTHON'
import struct
import sys
from importlib.metadata import version

import dpkt
import pcapng
from scapy.utils import PcapNgReader

START = 1_800_000_000


def block(kind, body):
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def interface(offset):
    """An interface of Ethernet in microseconds, as without `if_tsresol`."""
    option = struct.pack("<HHqI", 14, 8, offset, 0)
    return block(1, struct.pack("<HHI", 1, 0, 65535) + option)


def packet(number, seconds):
    stamp = round(seconds * 1e6)
    return block(6, struct.pack("<5I", number, stamp >> 32, stamp & 0xFFFFFFFF, 60, 60) + bytes(60))


def write(name, offsets, packets):
    with open(name, "wb") as file:
        file.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        file.writelines(map(interface, offsets))
        file.writelines(packet(*row) for row in packets)


def scapy_times(name):
    with PcapNgReader(name) as reader:
        return [float(packet.time) for packet in reader]


def pcapng_times(name):
    with open(name, "rb") as file:
        return [float(found.timestamp) for found in pcapng.FileScanner(file) if hasattr(found, "timestamp")]


def dpkt_times(name):
    with open(name, "rb") as file:
        return [float(time) for time, _ in dpkt.pcapng.Reader(file)]


write("one.pcapng", [START], [(0, 0.5), (0, 0.7)])
write("two.pcapng", [START, START - 10], [(0, 0.5), (1, 10.7)])
found = {}
for name, times in (("dpkt", dpkt_times), ("scapy", scapy_times), ("python-pcapng", pcapng_times)):
    found[name] = [[round(time, 3) for time in times(file)] for file in ("one.pcapng", "two.pcapng")]
    print(f"{name:<13} {version(name):<6} one interface {found[name][0]}, two {found[name][1]}")
print(f"{'by hand':<20} one interface {[START + 0.5, START + 0.7]}, two {[START + 0.5, START + 0.7]}")
right = found["dpkt"][0] == [START + 0.5, START + 0.7]
wrong = found["scapy"] == found["python-pcapng"] == [[0.5, 0.7], [0.5, 10.7]]
sys.exit(not (right and wrong))
PYTHON
