#!/usr/bin/env bash
# SimPy: in which order does a PriorityStore serve items of equal priority?
#
# Expected: as they came, as Store, Resource and PriorityResource do, and as switches do with the
# frames of one class.
# Found: in the order of the heap below, so that some frames are overtaken for as long as the queue
# lasts. Throughput and mean delay are those of the true queue, to the last digit; percentiles and the
# longest delay are not. With one class at load 0.9, p99 is three times, the longest delay more than
# ten times what it should be.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile simpy==4.1.2
v/bin/python - <<'PYTHON'
import random
import statistics
import sys
from importlib.metadata import version

import simpy


def delays(kind):
    """A link that takes 1 for each frame; frames of one class arrive at random, at load 0.9."""
    arrivals = random.Random(1)
    environment = simpy.Environment()
    queue = kind(environment)
    waited = []

    def send():
        for _ in range(20_000):
            yield environment.timeout(arrivals.expovariate(0.9))
            yield queue.put(simpy.PriorityItem(priority=0, item=environment.now))

    def forward():
        while True:
            frame = yield queue.get()
            waited.append(environment.now - frame.item)
            yield environment.timeout(1)

    environment.process(send())
    environment.process(forward())
    environment.run()
    waited.sort()
    return waited


print("SimPy", version("simpy"))
found = {}
for kind in (simpy.Store, simpy.PriorityStore):
    waited = delays(kind)
    mean, p99, longest = statistics.fmean(waited), waited[len(waited) * 99 // 100], waited[-1]
    found[kind] = mean, p99, longest
    print(f"{kind.__name__:<13} mean {mean:.6f}, p99 {p99:.1f}, longest {longest:.1f}")
first_come, heap = found.values()
same_mean = abs(heap[0] / first_come[0] - 1) < 1e-9
sys.exit(not (same_mean and heap[1] > 2 * first_come[1] and heap[2] > 10 * first_come[2]))
PYTHON
