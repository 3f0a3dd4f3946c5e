#!/usr/bin/env bash
# Scapy: when were the frames of two joined captures (`cat a.pcapng b.pcapng`) captured? The format allows this:
# each capture is a section with its own interfaces.
#
# Expected: the true times, as TShark shows them.
# Found: Scapy uses the interfaces of the first section for all frames. After a capture in microseconds, frames of
# one in nanoseconds happen in the year 55,840; the other way round, in January 1970. Intervals, rates
# and durations are wrong by a factor of a thousand, without a warning. Scapy also ignores
# `if_tsoffset`, the number of seconds to add to the times of an interface.
# Exits 1 if that has changed. Needs apt-get, python3 with venv; fetches 40 MB.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here"
apt-get -qq download tshark=4.0.17-0+deb12u3 libwireshark16=4.0.17-0+deb12u3 \
    libwiretap13=4.0.17-0+deb12u3 libwsutil14=4.0.17-0+deb12u3 libwireshark-data=4.0.17-0+deb12u3 \
    libbcg729-0 libc-ares2 liblua5.2-0 libmaxminddb0 libnl-3-200 libnl-genl-3-200 libpcap0.8 libsbc1 \
    libsmi2ldbl libsnappy1v5 libspandsp2 libspeexdsp1 libssh-gcrypt-4 2>/dev/null
for package in *.deb; do dpkg -x "$package" .; done
python3 -m venv v && v/bin/pip -qq install --no-compile scapy==2.8.0
v/bin/python - <<'PYTHON'
import os
import pathlib
import struct
import subprocess
import sys

import scapy
from scapy.utils import PcapNgReader

START = 1_700_000_000
FRAME = bytes.fromhex("020000000002 020000000001 88b5") + bytes(46)


def block(kind, body):
    length = 12 + len(body)
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def capture(decimals, offset=0):
    """Four frames, a half second apart, on one interface."""
    options = struct.pack("<HHB3x", 9, 1, decimals) + struct.pack("<HHq", 14, 8, offset) + bytes(4)
    yield block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    yield block(1, struct.pack("<HHI", 1, 0, 0) + options)
    for half_second in range(4):
        ticks = (2 * (START - offset) + half_second) * 10**decimals // 2
        size = len(FRAME)
        header = struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, size, size)
        yield block(6, header + FRAME)


microseconds, nanoseconds = b"".join(capture(6)), b"".join(capture(9))
files = {
    "microseconds": microseconds,
    "nanoseconds": nanoseconds,
    "microseconds, then nanoseconds": microseconds + nanoseconds,
    "nanoseconds, then microseconds": nanoseconds + microseconds,
    "offset of a year": b"".join(capture(6, 365 * 86400)),
}
environment = os.environ | {"LD_LIBRARY_PATH": f"{os.getcwd()}/usr/lib/x86_64-linux-gnu"}
tshark = ["usr/bin/tshark", "-r", "file.pcapng", "-T", "fields", "-e", "frame.time_epoch"]
print("Scapy", scapy.__version__)
as_found = []
for name, content in files.items():
    pathlib.Path("file.pcapng").write_bytes(content)
    true = subprocess.run(tshark, check=True, capture_output=True, text=True, env=environment).stdout
    true = [float(line) for line in true.split()]
    found = [float(frame.time) for frame in PcapNgReader("file.pcapng")]
    print(name)
    print("  TShark", *(f"{time:.1f}" for time in true[-4:]))
    print("  Scapy ", *(f"{time:.1f}" for time in found[-4:]))
    expected = [START + half_second / 2 for half_second in range(4)]
    assert true == expected * (len(true) // 4)
    as_found.append([round(ours / theirs, 3) for ours, theirs in zip(found, true)])
year = round((START - 365 * 86400) / START, 3)
one = [1.0] * 4
sys.exit(as_found != [one, one, one + [1000.0] * 4, one + [0.001] * 4, [year] * 4])
PYTHON
