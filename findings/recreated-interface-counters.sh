#!/usr/bin/env bash
# psutil, bwm-ng: what do they count on an interface that was removed and created again under the same name, as
# testbeds do for each trial?
#
# Expected: what the kernel counts, which starts at 0 (`/proc/net/dev`).
# Found: both assume that the kernel's counter wrapped. psutil adds the bytes of all earlier interfaces of that
# name, so a trial that received nothing gets the megabytes of the trial before it. bwm-ng prints a rate of
# 18 exabytes per second. psutil's manual describes only counters that "overflow and wrap"; with
# `nowrap=False` psutil is right.
# Exits 1 if that has changed. Needs root, apt-get, iproute2, python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile psutil==7.2.2
apt-get -qq download bwm-ng=0.6.3-2+b1 2>/dev/null
dpkg -x bwm-ng_*.deb .
unshare --net v/bin/python - <<'PYTHON'
import pathlib
import socket
import subprocess
import sys

import psutil

FRAME = bytes.fromhex("ffffffffffff 020000000001 88b5") + bytes(986)
READ = "usr/bin/bwm-ng --input proc --interfaces lab0 --output csv --timeout 1000 --count 4".split()


def ip(*arguments):
    subprocess.run(["ip", "link", *arguments], check=True)


def create():
    ip("add", "lab0", "type", "veth", "peer", "name", "lab1")
    for name in ("lab0", "lab1"):
        ip("set", name, "up")


def send(frames):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
        sender.bind(("lab1", 0))
        for _ in range(frames):
            sender.send(FRAME)


def received():
    """By the kernel, by psutil, and by psutil without its correction."""
    lines = pathlib.Path("/proc/net/dev").read_text().splitlines()
    [kernel] = [int(line.split()[1]) for line in lines if "lab0:" in line]
    corrected, raw = (
        psutil.net_io_counters(pernic=True, nowrap=nowrap)["lab0"].bytes_recv for nowrap in (True, False)
    )
    return kernel, corrected, raw


print("psutil", psutil.__version__)
print("trial  frames sent   kernel, bytes   psutil  nowrap=False")
found = []
for trial, frames in enumerate((3000, 1000, 0), 1):
    create()
    send(frames)
    kernel, corrected, raw = received()
    found.append((kernel, corrected, raw))
    print(f"{trial:>5} {frames:>12,} {kernel:>15,} {corrected:>8,} {raw:>13,}")
    ip("delete", "lab0")
kernel, corrected, raw = zip(*found)
as_found = kernel[0] >= 3_000_000 and kernel[2] < 10_000 and kernel == raw
as_found &= corrected == (kernel[0], sum(kernel[:2]), sum(kernel))

print("bwm-ng 0.6.3-2+b1: bytes received per second")
create()
send(1000)
rates = []
with subprocess.Popen(READ, stdout=subprocess.PIPE, text=True) as reader:
    for line in reader.stdout:
        time_s, name, _, received_per_s, *_ = line.split(";")
        if name != "lab0":
            continue
        rates.append(float(received_per_s))
        print(f"  {rates[-1]:,.0f}", flush=True)
        if len(rates) == 2:
            ip("delete", "lab0")
            create()
as_found &= max(rates) > 1e18
sys.exit(not as_found)
PYTHON
