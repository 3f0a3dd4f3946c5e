#!/usr/bin/env bash
# pcap-file (Rust): when were the packets of a pcapng capture captured that does not state its units?
#
# Expected: a second apart, in 2023, as TShark shows them: "If this option is not present, a resolution of 10^-6 is
# assumed" (pcapng, option `if_tsresol`).
# Found: a millisecond apart, in January 1970. pcap-file counts in nanoseconds whatever the interface states, so round
# trips are a thousand times too short and rates a thousand times too high. What it writes without an option is in the
# year 55,840 for TShark. The field has Rust's type `Duration`, of which the unit is known.
# Exits 1 if that has changed. Needs cargo, apt-get, python3; fetches 40 MB.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here" && mkdir src
apt-get -qq download tshark=4.0.17-0+deb12u3 libwireshark16=4.0.17-0+deb12u3 \
    libwiretap13=4.0.17-0+deb12u3 libwsutil14=4.0.17-0+deb12u3 libwireshark-data=4.0.17-0+deb12u3 \
    libbcg729-0 libc-ares2 liblua5.2-0 libmaxminddb0 libnl-3-200 libnl-genl-3-200 libpcap0.8 libsbc1 \
    libsmi2ldbl libsnappy1v5 libspandsp2 libspeexdsp1 libssh-gcrypt-4 2>/dev/null
for package in *.deb; do dpkg -x "$package" .; done
cat >Cargo.toml <<'TOML'
[package]
name = "probe"
version = "1.0.0"
edition = "2024"

[dependencies]
pcap-file = "=2.0.0"

[workspace]
TOML
cat >src/main.rs <<'RUST'
use pcap_file::DataLink;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionBlock;
use pcap_file::pcapng::{Block, PcapNgReader, PcapNgWriter};
use std::{env, fs::File, time::Duration};

/// Prints the times of a capture's packets in nanoseconds, or writes a capture of two packets a second apart.
fn main() {
    let [what, path] = env::args().skip(1).collect::<Vec<_>>().try_into().unwrap();
    if what == "read" {
        let mut capture = PcapNgReader::new(File::open(path).unwrap()).unwrap();
        while let Some(block) = capture.next_block() {
            if let Block::EnhancedPacket(packet) = block.unwrap() {
                println!("{}", packet.timestamp.as_nanos());
            }
        }
        return;
    }
    let mut capture = PcapNgWriter::new(File::create(path).unwrap()).unwrap();
    capture.write_pcapng_block(InterfaceDescriptionBlock::new(DataLink::ETHERNET, 65_535)).unwrap();
    for second in 0..2 {
        let packet = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_secs(1_700_000_000 + second),
            original_len: 60,
            data: vec![0; 60].into(),
            options: Vec::new(),
        };
        capture.write_pcapng_block(packet).unwrap();
    }
}
RUST
cargo build -q 2>log || { cat log && exit 1; }
cargo tree -q --depth 1 | grep pcap-file
python3 - <<'PYTHON'
import os
import pathlib
import struct
import subprocess
import sys

START = 1_700_000_000
TSHARK = {**os.environ, "LD_LIBRARY_PATH": "usr/lib/x86_64-linux-gnu"}


def block(kind, body):
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def capture(digits):
    """Two frames, a second apart, in units of 10 to the power of -`digits` s; None: without the option."""
    options = b"" if digits is None else struct.pack("<HHB3xHH", 9, 1, digits, 0, 0)
    octets = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    octets += block(1, struct.pack("<HHI", 1, 0, 65535) + options)
    for second in range(2):
        units = (START + second) * 10 ** (6 if digits is None else digits)
        octets += block(6, struct.pack("<IIIII", 0, units >> 32, units & 0xFFFFFFFF, 60, 60) + bytes(60))
    return octets


def show(title, seconds):
    print(f"{title:<46} {seconds[0]:>18.6f} {seconds[1] - seconds[0]:>12.6f}", flush=True)
    return seconds[0], round(seconds[1] - seconds[0], 6)


def run(*command):
    printed = subprocess.run(command, check=True, capture_output=True, text=True, env=TSHARK).stdout
    return [float(line) for line in printed.split()]


def by_tshark(path):
    return run("usr/bin/tshark", "-r", path, "-T", "fields", "-e", "frame.time_epoch")


print(subprocess.run(["usr/bin/tshark", "-v"], capture_output=True, text=True, env=TSHARK).stdout.splitlines()[0])
print(f"{'':<46} {'first packet, s':>18} {'interval, s':>12}")
found = {}
for digits in (None, 6, 9):
    pathlib.Path("capture").write_bytes(capture(digits))
    title = "without units" if digits is None else f"units of 10^-{digits} s"
    right = show(f"{title}, read by TShark", by_tshark("capture"))
    nanoseconds = run("target/debug/probe", "read", "capture")
    found[digits] = show(f"{title}, read by pcap-file", [each / 1e9 for each in nanoseconds])
    if right != (START, 1):
        sys.exit("the capture is wrong")
subprocess.run(["target/debug/probe", "write", "written"], check=True)
written = show("written by pcap-file, read by TShark", by_tshark("written"))
wrong = found[None] == found[6] == (START / 1000, 0.001) and written == (1000 * START, 1000)
sys.exit(not (wrong and found[9] == (START, 1)))
PYTHON
