#!/usr/bin/env bash
# nfpcapd, Argus: how many bytes do they count in a flow of more than 4 GiB?
#
# Expected: all of them. Both use 64-bit counters, and both count 4 GB correctly.
# Found: for 6 GB in 5 s (10 Gbit/s) nfpcapd records 1.7 GB, the remainder modulo 4 GiB, so nfdump shows a rate
# of 2.8 Gbit/s. Argus' clients show no packets and no bytes, though the record has its duration and
# addresses. Neither warns. nfpcapd cuts flows each 300 s, so it is wrong above 115 Mbit/s. Argus cuts
# them as configured: with `-S 60` it is wrong above 573 Mbit/s.
# Exits 1 if that has changed. Needs apt-get, python3.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here"
apt-get -qq download nfdump=1.7.1-2+deb12u1 argus-server=2:3.0.8.2-2.2 argus-client=1:3.0.8.2-6.1+b3 \
    libgeoip1 libpcap0.8 libwrap0 2>/dev/null
for package in *.deb; do dpkg -x "$package" .; done
export LD_LIBRARY_PATH=$here/usr/lib/x86_64-linux-gnu:$here/lib/x86_64-linux-gnu
usr/bin/nfdump -V
usr/sbin/argus -h 2>&1 | grep -i version || true
python3 - <<'PYTHON'
import pathlib
import re
import struct
import subprocess
import sys

A, B = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
SYN, ACK, FIN = 2, 16, 1
SEGMENT = 60_000  # as captured on a host whose adapter cuts the segments


def frame(source, target, ports, sequence, acknowledged, flags, payload):
    """The headers of one frame: all that the capture keeps of it."""
    fields = [0x4500, 40 + payload, 0, 0x4000, 64 << 8 | 6, 0, *struct.unpack("!4H", source + target)]
    fields[5] = 0xFFFF - (sum(fields) - 1) % 0xFFFF - 1
    yield bytes.fromhex("020000000002 020000000001 0800")
    yield struct.pack("!10H", *fields)
    yield struct.pack("!HHIIBBHHH", *ports, sequence % 2**32, acknowledged % 2**32, 80, flags, 65535, 0, 0)


def write_capture(total):
    """One TCP connection that sends so many bytes at 10 Gbit/s. Gives the bytes of its IP packets."""
    microseconds = sequence = packets = 0
    with open("file.pcap", "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 96, 1))

        def write(forward, flags, payload=0):
            ends = (A, B, (40000, 5001)) if forward else (B, A, (5001, 40000))
            numbers = (sequence, 1) if forward else (1, sequence)
            headers = b"".join(frame(*ends, *numbers, flags, payload))
            seconds, rest = divmod(microseconds, 1_000_000)
            file.write(struct.pack("<IIII", 1_700_000_000 + seconds, rest, 54, 54 + payload) + headers)

        write(True, SYN)
        sequence += 1
        write(False, SYN | ACK)
        write(True, ACK)
        for sent in range(0, total, SEGMENT):
            microseconds += 48
            write(True, ACK, min(SEGMENT, total - sent))
            sequence += min(SEGMENT, total - sent)
            packets += 1
        write(False, ACK)
        write(True, FIN | ACK)
        sequence += 1
        write(False, FIN | ACK)
        write(True, ACK)
    return total + 40 * (packets + 4)


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


as_found = []
for total in (4_000_000_000, 6_000_000_000):
    sent = write_capture(total)
    flows = pathlib.Path(f"flows-{total}")
    flows.mkdir()
    run("usr/bin/nfpcapd", "-r", "file.pcap", "-w", flows, "-l", flows)
    listed = run("usr/bin/nfdump", "-R", flows, "-q", "-N", "-o", "fmt:%pkt %byt %bps", "src port 40000")
    run("usr/sbin/argus", "-r", "file.pcap", "-w", f"{total}.argus")
    records = run("usr/bin/ra", "-r", f"{total}.argus", "-s", "saddr", "dur", "spkts", "sbytes")
    print(f"{total} bytes of data, {sent} bytes of IP packets")
    print("  nfdump (packets, bytes, bit/s):", " ".join(listed.split()))
    print("  ra:", records.replace("\n", "\n      ").rstrip())
    nfdump_bytes = int(re.findall(r"\d+", listed)[1])
    argus_bytes = sum(int(line.split()[3]) for line in records.splitlines() if "10.0.0.1" in line)
    as_found += [nfdump_bytes == sent % 2**32, (argus_bytes > total) == (total < 2**32)]
sys.exit(not all(as_found))
PYTHON
