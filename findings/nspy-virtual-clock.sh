#!/usr/bin/env bash
# ns.py: how does a `VirtualClockServer` share a link between flows?
#
# Expected: by their rates. The manual says that `vticks` "are the inverse of the desired rates for the
# corresponding flows, in bits per second". A flow that exceeds its rate must not delay the others;
# `WFQServer` and `DRRServer` of the same package ensure that.
# Found: first come, first served. Each packet advances its flow's clock by the time of one bit only, so the
# clocks never run ahead of the present. Rates of 3 : 1 become 1 : 1, and a flow within its rate waits
# behind 50 s of another flow's backlog.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile ns.py==0.4.3 simpy==4.1.2
v/bin/python - <<'PYTHON'
import sys
from importlib.metadata import version

import simpy
from ns.packet.packet import Packet
from ns.scheduler.drr import DRRServer
from ns.scheduler.virtual_clock import VirtualClockServer
from ns.scheduler.wfq import WFQServer

RATE_BPS = 1_000_000
UNTIL_S = 100
BITS = 1000 * 8


class Sink:
    def __init__(self, environment):
        self.environment = environment
        self.delays = {0: [], 1: []}

    def put(self, packet, **_):
        self.delays[packet.flow_id].append(self.environment.now - packet.time)


def run(kind, desired_bps, sent_bps, starts_s):
    """Two flows of packets of 1000 bytes. Gives the rate and the mean delay of each."""
    environment = simpy.Environment()
    shares = desired_bps
    if kind is VirtualClockServer:
        shares = {flow: 1 / rate for flow, rate in desired_bps.items()}
    server = kind(environment, RATE_BPS, shares)
    server.out = sink = Sink(environment)

    def send(flow):
        yield environment.timeout(starts_s[flow])
        while True:
            server.put(Packet(environment.now, BITS // 8, 0, src=flow, flow_id=flow))
            yield environment.timeout(BITS / sent_bps[flow])

    for flow in (0, 1):
        environment.process(send(flow))
    environment.run(until=UNTIL_S)
    rates = [len(delays) * BITS / UNTIL_S / 1000 for delays in sink.delays.values()]
    waits = [sum(delays) / max(1, len(delays)) for delays in sink.delays.values()]
    return rates, waits


print("ns.py", version("ns.py"), "on a link of 1000 kbit/s")
found = {}
for title, desired, sent, starts in (
    ("750 and 250 kbit/s desired, both send 2000", (750_000, 250_000), (2e6, 2e6), (0, 0.001)),
    ("500 and 500 desired, 10,000 and 400 sent", (500_000, 500_000), (10e6, 4e5), (0, 0.001)),
    ("500 and 500 desired, 2000 and (after 50 s) 400 sent", (500_000, 500_000), (2e6, 4e5), (0, 50)),
):
    print(title)
    for kind in (WFQServer, DRRServer, VirtualClockServer):
        rates, waits = run(kind, dict(enumerate(desired)), sent, starts)
        found[title[:3] + str(starts[1]), kind] = rates, waits
        print(f"  {kind.__name__:<19} {rates[0]:>5.0f} and {rates[1]:>4.0f} kbit/s, ", end="")
        print(f"mean delay of the second {waits[1]:.3f} s" if rates[1] else "none of the second arrived")
right = all(
    abs(found["7500.001", kind][0][0] - 750) < 10 and 0 < found["5000.001", kind][1][1] < 0.1
    for kind in (WFQServer, DRRServer)
)
clocks = [rates for (_, kind), (rates, _) in found.items() if kind is VirtualClockServer]
wrong = abs(clocks[0][0] - 500) < 10 and clocks[1][1] < 50 and clocks[2][1] == 0
sys.exit(not (right and wrong))
PYTHON
