#!/usr/bin/env bash
# pyroute2: how fast can a burst leave a token bucket (`tbf`) that has a peak rate?
#
# Expected: at the peak rate. With tc, `rate 1mbit burst 250000 peakrate 2mbit` lets a burst leave at 2 Mbit/s, as
# a line of 2 Mbit/s would.
# Found: at once. pyroute2 accepts `peak`, demands `mtu` for it and shortens the queue by it, but never gives it to
# the kernel. So 200 kB that need 0.8 s at 2 Mbit/s pass within milliseconds, and an emulated line delivers bursts
# that it cannot carry. Neither an error nor a warning says so.
# Exits 1 if that has changed. Needs python3 with venv, ip, tc (kernel with veth, tbf), and root or user namespaces.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile pyroute2==0.9.7
cat >bucket.py <<'PYTHON'
"""Sends a burst through a token bucket, in a network namespace of its own."""

import socket
import subprocess
import sys
import time
from importlib.metadata import version

from pyroute2 import IPRoute

BURST_BYTES, SENT_BYTES, MTU = 250_000, 200_000, 1600
for command in (
    "link add name upper type veth peer name lower",
    "link set upper up",
    "link set lower up",
    "addr add 10.9.0.1/24 dev upper",
    "neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev upper",
):
    subprocess.run(["ip", *command.split()], check=True)


def with_tc():
    bucket = f"rate 1mbit burst {BURST_BYTES} latency 1s peakrate 2mbit mtu {MTU}"
    subprocess.run(["tc", "qdisc", "add", "dev", "upper", "root", "tbf", *bucket.split()], check=True)


def with_pyroute2():
    with IPRoute() as routes:
        index = routes.link_lookup(ifname="upper")[0]
        routes.tc("add", "tbf", index, rate="1mbit", burst=BURST_BYTES, latency="1s", peak="2mbit", mtu=MTU)


def sent_packets():
    with open("/proc/net/dev") as file:
        return next(int(line.split()[10]) for line in file if "upper:" in line)


found = {}
print("pyroute2", version("pyroute2"))
for title, add in (("tc", with_tc), ("pyroute2", with_pyroute2)):
    add()
    time.sleep(1)  # until the host is done with its own packets
    first, start = sent_packets(), time.monotonic()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1_000_000)
        for _ in range(SENT_BYTES // 1000):
            sender.sendto(bytes(1000), ("10.9.0.2", 9))
    while sent_packets() - first < SENT_BYTES // 1000 and time.monotonic() < start + 5:
        time.sleep(0.001)
    found[title] = time.monotonic() - start
    shown = subprocess.run(["tc", "qdisc", "show", "dev", "upper"], check=True, capture_output=True, text=True).stdout
    print(f"{title:<9} {SENT_BYTES} bytes in {found[title]:.3f} s\n  {shown.splitlines()[0]}")
    subprocess.run(["tc", "qdisc", "del", "dev", "upper", "root"], check=True)
sys.exit(not (found["tc"] > 0.5 and found["pyroute2"] < found["tc"] / 3))
PYTHON
unshare --map-root-user --net v/bin/python bucket.py
