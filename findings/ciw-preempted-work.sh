#!/usr/bin/env bash
# Ciw: how busy is a server whose work is interrupted by requests of a higher class?
#
# Expected: as busy as without interruptions, since interrupted work is resumed. Ciw's utilisation is a
# server's busy time over its total time.
# Found: what was done before an interruption is forgotten. At a load of 0.8 `server_utilisation` is 0.68,
# though Ciw's own tracker finds nobody there in only 0.2 of the time. So a link or disk with two classes
# seems to have room that it does not have.
# Exits 1 if that has changed. Needs python3 with venv; takes 10 s.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile ciw==3.2.7
v/bin/python - <<'PYTHON'
import sys

import ciw

LOAD = 0.8
UNTIL = 20_000


def run(urgent_share, priorities):
    """The utilisation of one server, and the share of time in which nobody was there."""
    ciw.seed(1)
    arrivals = {"urgent": urgent_share * LOAD, "other": (1 - urgent_share) * LOAD}
    network = ciw.create_network(
        arrival_distributions={name: [ciw.dists.Exponential(rate)] for name, rate in arrivals.items()},
        service_distributions={name: [ciw.dists.Exponential(1)] for name in arrivals},
        number_of_servers=[1],
        priority_classes=priorities,
    )
    simulation = ciw.Simulation(network, tracker=ciw.trackers.SystemPopulation())
    simulation.simulate_until_max_time(UNTIL)
    idle = simulation.statetracker.state_probabilities()[0]
    return simulation.transitive_nodes[0].server_utilisation, idle


print("Ciw", ciw.__version__)
print("load 0.8, one server, service times that vary")
print("urgent  priority               utilisation  1 - idle")
found = []
order = {"urgent": 0, "other": 1}
for urgent_share in (0.25, 0.5, 0.75):
    for title, priorities in (
        ("without interruption", order),
        ("work is resumed", (order, ["resume"])),
    ):
        utilisation, idle = run(urgent_share, priorities)
        found.append((utilisation, 1 - idle))
        print(f"{urgent_share:>6.0%}  {title:<22} {utilisation:>10.3f} {1 - idle:>10.3f}", flush=True)
whole, resumed = found[::2], found[1::2]
right = all(abs(busy - LOAD) < 0.03 for _, busy in found)
right &= all(abs(utilisation - busy) < 0.01 for utilisation, busy in whole)
sys.exit(not (right and all(utilisation < busy - 0.05 for utilisation, busy in resumed)))
PYTHON
