#!/usr/bin/env bash
# ns.py: what does a `PacketSink` record of the packets that arrive?
#
# Expected: the time of each, and the first (`arrivals`, `first_arrival`). The manual: "it records absolute
# arrival times, but it can also be initialized to record inter-arrival times".
# Found: each time twice, unless `rec_waits` is turned off, which is about something else. So a rate by
# `arrivals` is doubled, and half of the intervals between them are 0. `first_arrival` stays 0, so a rate
# from the first arrival to the last takes in all the time before. `packets_received` and `waits` are right.
# `absolute_arrivals=False` mixes both: true intervals alternate with absolute times.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile ns.py==0.4.3 simpy==4.1.2
v/bin/python - <<'PYTHON'
import statistics
import sys
from importlib.metadata import version

import simpy
from ns.packet.dist_generator import DistPacketGenerator
from ns.packet.sink import PacketSink
from ns.port.port import Port


def sink_of(**options):
    """A hundred packets a second, from 5 s on, over a link that takes 1 ms for each."""
    environment = simpy.Environment()
    source = DistPacketGenerator(
        environment, "source", lambda: 0.01, lambda: 1250, initial_delay=4.999, finish=7
    )
    link = Port(environment, rate=10_000_000)
    sink = PacketSink(environment, **options)
    source.out, link.out = link, sink
    environment.run()
    return sink


print("ns.py", version("ns.py"))
found = []
for options in ({}, {"rec_waits": False}, {"absolute_arrivals": False}):
    sink = sink_of(**options)
    arrivals = sink.arrivals[0]
    intervals = [later - earlier for earlier, later in zip(arrivals, arrivals[1:])]
    found.append((sink.packets_received[0], len(arrivals), sink.first_arrival[0]))
    print(options or "defaults")
    print(f"  {found[-1][0]} packets received, {found[-1][1]} arrivals, ", end="")
    print(f"first at {found[-1][2]:.3f} s, last at {sink.last_arrival[0]:.3f} s")
    print(f"  arrivals {[round(arrival, 3) for arrival in arrivals[:6]]} …, ", end="")
    print(f"median interval {statistics.median(intervals):.3f} s")
defaults, without_waits, intervals = found
packets = without_waits[0]
right = without_waits == (packets, packets, without_waits[2]) and without_waits[2] > 5
sys.exit(not (right and defaults == intervals == (packets, 2 * packets, 0)))
PYTHON
