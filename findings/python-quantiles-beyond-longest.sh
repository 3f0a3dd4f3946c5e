#!/usr/bin/env bash
# Python: can a percentile of `statistics.quantiles` be longer than the longest trial?
#
# Expected: no. The manual defines the default method ("exclusive"): the i-th of m sorted values has i / (m + 1)
# of the population below it. That gives no value beyond the last; NumPy's method `weibull` has the same
# definition and returns the longest trial there.
# Found: Python extends the line through the two longest trials. Of five trials of 10 to 14 ms and one of 500 ms,
# p90 is 646 ms and p99 952 ms. The line through the two shortest can end below 0. The manual says
# "interpolated". p99 is affected below 99 trials, p90 below 9. `method="inclusive"` is right.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile numpy==2.4.6
v/bin/python - <<'PYTHON'
import platform
import statistics
import sys

import numpy as np

print("Python", platform.python_version(), "and NumPy", np.__version__)
print(f"{'trials, ms':<28} {'':>4} {'Python':>8} {'NumPy':>8} {'inclusive':>10}")
found = {}
for trials in ([10, 11, 12, 13, 14, 500], [10, 30, 31, 32, 33, 34]):
    exclusive = statistics.quantiles(trials, n=100)
    inclusive = statistics.quantiles(trials, n=100, method="inclusive")
    text = str(trials)
    for percent in (1, 50, 90, 99):
        weibull = float(np.percentile(trials, percent, method="weibull"))
        python = exclusive[percent - 1]
        found[text, percent] = python, weibull
        print(f"{text:<28} {f'p{percent}':>4} {python:>8.2f} {weibull:>8.2f} {inclusive[percent - 1]:>10.2f}")
        if not trials[0] <= inclusive[percent - 1] <= trials[-1]:
            sys.exit("`inclusive` is beyond the trials")
from_on = {}
for percent in (90, 99):
    counts = range(2, 200)
    beyond = [it for it in counts if statistics.quantiles(range(it), n=100)[percent - 1] > it - 1]
    from_on[percent] = max(beyond) + 1
    print(f"p{percent} is beyond the longest of fewer than {from_on[percent]} trials")
slow, quick = str([10, 11, 12, 13, 14, 500]), str([10, 30, 31, 32, 33, 34])
beyond = found[slow, 90] == (645.8, 500) and found[slow, 99] == (951.98, 500)
negative = found[quick, 1][0] < 0 and found[quick, 1][1] == 10
sys.exit(not (beyond and negative and from_on == {90: 9, 99: 99} and found[slow, 50] == (12.5, 12.5)))
PYTHON
