#!/usr/bin/env bash
# gopacket: when were frames captured if a pcapng file counts time in powers of two (such as the 2⁻³² s of
# capture cards) instead of powers of ten?
#
# Expected: the true times. `if_tsresol` allows both, and gopacket's `NgResolution` documents both.
# Found: gopacket scales the fraction of a second by a whole number, for example 4 instead of 4.29. Within each
# second time runs 7 % fast, up to 70 ms ahead, and jumps back at the next second: frames 50 ms apart
# appear 54 ms apart, then -20 ms. Rates, intervals and the order of frames are wrong, without an error.
# A resolution of whole seconds is taken for microseconds. Powers of ten from 10⁻¹ down are right.
# Exits 1 if that has changed. Needs go, python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
cat >go.mod <<'MOD'
module probe

go 1.24

require github.com/gopacket/gopacket v1.7.7
MOD
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/gopacket/gopacket/pcapgo"
)

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	reader, err := pcapgo.NewNgReader(file, pcapgo.DefaultNgReaderOptions)
	if err != nil {
		panic(err)
	}
	for {
		_, info, err := reader.ReadPacketData()
		if err != nil {
			break
		}
		fmt.Println(info.Timestamp.UnixNano())
	}
}
GO
GOFLAGS=-mod=mod go build -o times . 2>log || { cat log && exit 1; }
python3 -m venv v && v/bin/pip -qq install --no-compile dpkt==1.9.8
v/bin/python - <<'PYTHON'
import struct
import subprocess
import sys

import dpkt

START = 1_700_000_000
FRAME = bytes.fromhex("020000000002 020000000001 88b5") + bytes(46)
FRAMES = 41


def block(kind, body):
    length = 12 + len(body)
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def write(resolution, ticks_per_second, seconds):
    """Frames that many seconds apart, on one interface."""
    with open("file.pcapng", "wb") as file:
        file.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        options = struct.pack("<HHB3xHH", 9, 1, resolution, 0, 0)
        file.write(block(1, struct.pack("<HHI", 1, 0, 0) + options))
        for number in range(FRAMES):
            ticks = START * ticks_per_second + round(number * seconds * ticks_per_second)
            size = len(FRAME)
            header = struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, size, size)
            file.write(block(6, header + FRAME))


print("gopacket 1.7.7, dpkt", dpkt.__version__)
as_found = []
for title, resolution, ticks, seconds, expected in (
    ("10⁻⁹ s", 9, 10**9, 0.05, (50, 50)),
    ("2⁻²⁰ s", 0x80 | 20, 2**20, 0.05, (50, 51)),
    ("2⁻³⁰ s", 0x80 | 30, 2**30, 0.05, (-20, 54)),
    ("2⁻³² s", 0x80 | 32, 2**32, 0.05, (-20, 54)),
    ("1 s", 0, 1, 1, (0, 0)),
):
    write(resolution, ticks, seconds)
    command = ["./times", "file.pcapng"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    times = [int(line) for line in printed.split()]
    with open("file.pcapng", "rb") as file:
        theirs = [float(time) for time, _ in dpkt.pcapng.Reader(file)]
    intervals = [(later - earlier) / 1e6 for earlier, later in zip(times, times[1:])]
    true = [1000 * (later - earlier) for earlier, later in zip(theirs, theirs[1:])]
    assert len(intervals) == FRAMES - 1 and all(abs(ms - 1000 * seconds) < 0.01 for ms in true)
    shortest, longest = min(intervals), max(intervals)
    print(f"{title:<8} frames {1000 * seconds:.0f} ms apart: dpkt {min(true):.2f} to {max(true):.2f} ms, ", end="")
    print(f"gopacket {shortest:.3f} to {longest:.3f} ms, ", end="")
    print(f"the first {times[0] / 1e9 - START:+.0f} s off")
    as_found.append((round(shortest), round(longest)) == expected)
sys.exit(not all(as_found))
PYTHON
