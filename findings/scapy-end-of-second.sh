#!/usr/bin/env bash
# Scapy: when was a packet captured whose time in nanoseconds `wrpcap` rounds to microseconds?
#
# Expected: within half a microsecond of its time.
# Found: where the time rounds up to a full second, 1,000,000 microseconds are written, one more than the
# format has. Scapy takes that for the next second, tcpdump and TShark print "….1000000", which every
# program reads as 0.1 s: 0.9 s too early. In the last 120 ns the second is carried, too, and the packet is
# a whole second late. It hits one packet in two million, so each long capture has some, and its longest
# gap or delay is one of them.
# Exits 1 if that has changed. Needs apt-get, python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here"
apt-get -qq download tcpdump=4.99.3-1 libpcap0.8 2>/dev/null
for package in *.deb; do dpkg -x "$package" .; done
export LD_LIBRARY_PATH=$here/usr/lib/x86_64-linux-gnu
python3 -m venv v && v/bin/pip -qq install --no-compile scapy==2.8.0
usr/bin/tcpdump --version 2>&1 | sed -n 1p
v/bin/python - <<'PYTHON'
import getpass
import struct
import subprocess
import sys

import scapy
from scapy.layers.l2 import Ether  # noqa: F401, how rdpcap knows Ethernet
from scapy.utils import rdpcap, wrpcap

SECOND = 1_800_000_000
NANOSECONDS = (999_999_000, 999_999_499, 999_999_600, 999_999_800, 999_999_950, 1_000_000_000)
with open("nano.pcap", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
    for nanoseconds in NANOSECONDS:
        carried, fraction = divmod(nanoseconds, 10**9)
        file.write(struct.pack("<IIII", SECOND + carried, fraction, 60, 60) + bytes(60))

wrpcap("micro.pcap", rdpcap("nano.pcap"))
with open("micro.pcap", "rb") as file:
    written = file.read()[24:]
headers = [struct.unpack_from("<II", written, 76 * number) for number in range(len(NANOSECONDS))]
command = ["usr/bin/tcpdump", "-Z", getpass.getuser(), "-ttnr", "micro.pcap"]
printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
shown = [line.split()[0] for line in printed.splitlines() if line.startswith(str(SECOND)[:6])]
print("Scapy", scapy.__version__)
print("captured                written               Scapy reads        tcpdump shows")
late = []
for nanoseconds, header, packet, text in zip(NANOSECONDS, headers, rdpcap("micro.pcap"), shown):
    captured = f"{SECOND + nanoseconds // 10**9}.{nanoseconds % 10**9:09}"
    print(f"{captured}  {header[0]} {header[1]:>8}  {packet.time}  {text}")
    late.append((header[0] - SECOND, header[1]))
sys.exit(late != [(0, 999_999), (0, 999_999), (0, 10**6), (0, 10**6), (1, 10**6), (1, 0)])
PYTHON
