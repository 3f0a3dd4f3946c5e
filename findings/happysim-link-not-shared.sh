#!/usr/bin/env bash
# happysim (Python): how long do 100 packets of 1250 bytes that are sent at once take over a link of 1 Mbit/s?
#
# Expected: 1 s, 10 ms for each. The link is to simulate "network transmission delay and bandwidth constraints", and
# `bandwidth_bps` is the "Link capacity in bits per second" (docstring of `NetworkLink`).
# Found: 10 ms for all. Each packet waits for its own transmission only, as if it had a link to itself, so 100 senders
# get 100 Mbit/s together. Nothing queues, and a short packet overtakes a long one that was sent before it. So a
# simulated link never congests, and more load never makes it slower.
# Exits 1 if that has changed. Needs python3.13 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3.13 -m venv v && v/bin/pip -qq install --no-compile happysim==0.2.5
v/bin/python - <<'PYTHON'
import sys
from importlib.metadata import version

from happysimulator import ConstantLatency, Entity, Event, Instant, NetworkLink, Simulation

RATE_BPS = 1_000_000


class Receiver(Entity):
    def __init__(self):
        super().__init__("receiver")
        self.arrivals = []

    def handle_event(self, event):
        self.arrivals.append((event.context["metadata"]["name"], self.now.to_seconds()))


def send(packets):
    """When packets (name, bytes) that are sent at the same time arrive, seconds."""
    receiver = Receiver()
    link = NetworkLink("link", latency=ConstantLatency(0), bandwidth_bps=RATE_BPS, egress=receiver)
    simulation = Simulation(end_time=Instant.from_seconds(10), entities=[link, receiver])
    for name, size in packets:
        context = {"metadata": {"name": name, "payload_size": size}}
        simulation.schedule(Event(time=Instant.Epoch, event_type="packet", target=link, context=context))
    simulation.run()
    return receiver.arrivals


print("happysim", version("happysim"))
found = {}
for count in (1, 10, 100):
    arrivals = send([(number, 1250) for number in range(count)])
    found[count] = arrivals[-1][1]
    rate_mbps = count * 1250 * 8 / found[count] / 1e6
    print(f"{count:>3} packets of 1250 bytes: the last arrives after {found[count]:.3f} s, {rate_mbps:.0f} Mbit/s")
order = [name for name, _ in send([("long", 12500), ("short", 125)])]
print(f"long before short: arrive in the order {order}")
right = abs(found[1] - 0.01) < 1e-6
sys.exit(not (right and abs(found[100] - 0.01) < 1e-6 and order == ["short", "long"]))
PYTHON
