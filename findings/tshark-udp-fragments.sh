#!/usr/bin/env bash
# TShark: how many octets of UDP does it count (`-z io,stat,0,udp`, conv,udp, endpoints,udp) where
# datagrams are longer than a frame, such as those of NFS over UDP?
#
# Expected: all frames of the datagrams; TShark puts their fragments together, so it knows them.
# Found: of each datagram the frame that completes it, usually its last and smallest: of 8 KiB datagrams
# a tenth of the octets, of 9000-octet ones less. All others count as IP only. Without reassembly
# (`-o ip.defragment:FALSE`) it counts the first frame instead. Only IP's own counts (conv,ip) are right.
# Exits 1 if that has changed. Needs apt-get, python3; fetches 40 MB.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here"
apt-get -qq download tshark=4.0.17-0+deb12u3 libwireshark16=4.0.17-0+deb12u3 \
    libwiretap13=4.0.17-0+deb12u3 libwsutil14=4.0.17-0+deb12u3 libwireshark-data=4.0.17-0+deb12u3 \
    libbcg729-0 libc-ares2 liblua5.2-0 libmaxminddb0 libnl-3-200 libnl-genl-3-200 libpcap0.8 libsbc1 \
    libsmi2ldbl libsnappy1v5 libspandsp2 libspeexdsp1 libssh-gcrypt-4 2>/dev/null
for package in *.deb; do dpkg -x "$package" .; done
export LD_LIBRARY_PATH=$here/usr/lib/x86_64-linux-gnu
usr/bin/tshark --version 2>/dev/null | sed -n 1p
python3 - <<'PYTHON'
import re
import struct
import subprocess
import sys

ETHERNET = bytes.fromhex("020000000002 020000000001 0800")
PER_FRAME = 1480


def frames_of(number, octets):
    """The frames of one datagram, on Ethernet with an MTU of 1500."""
    datagram = struct.pack("!HHHH", 700, 5001, 8 + octets, 0) + bytes(octets)
    for offset in range(0, len(datagram), PER_FRAME):
        part = datagram[offset : offset + PER_FRAME]
        more = offset + PER_FRAME < len(datagram)
        fields = [0x4500, 20 + len(part), number, more << 13 | offset // 8, 64 << 8 | 17, 0]
        fields += [0xC000, 0x0201, 0xC000, 0x0202]
        fields[5] = 0xFFFF - (sum(fields) - 1) % 0xFFFF - 1
        yield ETHERNET + struct.pack("!10H", *fields) + part


def tshark(*options):
    command = ["usr/bin/tshark", "-q", "-r", "file.pcap", *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def counted(filters, *options):
    """Frames and octets that pass each filter."""
    row = re.search(r"<>.*?\|(.*)\|", tshark("-z", f"io,stat,0,{filters}", *options)).group(1)
    return [int(cell) for cell in row.split("|")]


as_found = True
for octets in (1000, 8192, 9000):
    frames = [frame for number in range(1000) for frame in frames_of(number, octets)]
    with open("file.pcap", "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number, frame in enumerate(frames):
            seconds, milliseconds = divmod(number, 1000)
            file.write(struct.pack("<IIII", seconds, 1000 * milliseconds, len(frame), len(frame)))
            file.write(frame)
    total = sum(map(len, frames))
    ip_frames, ip_octets, udp_frames, udp_octets = counted("ip,udp")
    _, first_octets = counted("udp", "-o", "ip.defragment:FALSE")
    print(f"1000 datagrams of {octets} octets, in {len(frames)} frames of {total} octets together")
    print(f"  ip {ip_frames} frames, {ip_octets} octets; udp {udp_frames} frames, ", end="")
    print(f"{udp_octets} octets, without reassembly {first_octets}")
    last, first = len(frames[-1]), len(frames[0])
    as_found &= (ip_octets, udp_octets, first_octets) == (total, 1000 * last, 1000 * first)
print(tshark("-z", "endpoints,udp"))
sys.exit(not as_found)
PYTHON
