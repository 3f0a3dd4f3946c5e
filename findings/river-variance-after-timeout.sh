#!/usr/bin/env bash
# River: what is the variance of the last 100 response times (`utils.Rolling(stats.Var, window_size=100)`) long after a
# single request timed out?
#
# Expected: that of the last 100. `Rolling` is "for performing rolling computations", its queue forgets the time-out
# after 100 more requests, and the results "are consistent with numpy's batch processing" (notes of `stats.Var`).
# Found: it stays wrong for ever. Response times of 1000 ± 5 ns vary by about 25 ns². After a time-out of 60 s, the
# variance is 21,000 or −26,000 ns², depending on the other times, for the next 100,000 requests and more. When the
# time-out leaves the window, its square is subtracted, and rounding errors of numbers of 20 digits remain. Nothing
# computes the window anew. The manual does not mention it; pandas' rolling variance is right.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile river==0.26.1 pandas==3.1.1 numpy==2.4.6
v/bin/python - <<'PYTHON'
import random
import statistics
import sys
from importlib.metadata import version

import pandas
from river import stats, utils

WINDOW, REQUESTS = 100, 100_000
print("River", version("river"), "pandas", version("pandas"))
found = {}
for title, seed, at in (
    ("no time-out", 1, None),
    ("a time-out of 60 s at request 200", 1, 200),
    ("a time-out of 60 s among other times", 11, 200),
):
    draw = random.Random(seed)
    times_ns = [draw.gauss(1000, 5) for _ in range(REQUESTS)]
    if at:
        times_ns.insert(at, 60e9)
    rolling = utils.Rolling(stats.Var, window_size=WINDOW)
    rows = pandas.Series(times_ns).rolling(WINDOW).var()
    print(title)
    for number, time_ns in enumerate(times_ns):
        rolling.update(time_ns)
        if number in (150, 400, REQUESTS - 1):
            window = statistics.variance(times_ns[number - WINDOW + 1 : number + 1])
            found[title, number] = window, rows[number], rolling.get()
            print(
                f"  after request {number:>5}: variance of the last {WINDOW} {window:.2f},"
                f" pandas {rows[number]:.2f}, River {rolling.get():.2f} ns²"
            )
right = all(abs(of_pandas - window) < 0.01 for window, of_pandas, _ in found.values())
for (title, number), (window, _, of_river) in found.items():
    right &= abs(of_river - window) < 0.01 if "60 s" not in title or number < 200 else abs(of_river - window) > 1000
sys.exit(not right)
PYTHON
