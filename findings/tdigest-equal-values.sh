#!/usr/bin/env bash
# tdigest, pytdigest: what are the percentiles of response times of which most are equal, as a clock
# that counts milliseconds gives them?
#
# Expected: those of the samples, and best at both ends; that is what a t-digest is for. fastdigest and
# crick, of the same algorithm, give them.
# Found: of 9990 samples of 1 ms and 10 of 1 s, tdigest and pytdigest put p75 at 0.5 s and p99 at nearly
# 1 s; tdigest puts p1 at -1 s. Equal values become one centroid, half of its weight is then spread
# evenly over the gap to the next one. Neither more samples nor a larger digest help.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v
v/bin/pip -qq install --no-compile tdigest==0.5.2.2 pytdigest==0.1.4 fastdigest==0.12.0 \
    crick==0.0.8 numpy==2.4.6
v/bin/python - <<'PYTHON'
import sys
from importlib.metadata import version

import crick
import fastdigest
import numpy as np
import pytdigest
import tdigest

samples = [1.0] * 9990 + [1000.0] * 10
first = tdigest.TDigest()
first.batch_update(samples)
second = pytdigest.TDigest.compute(np.array(samples))
third = fastdigest.TDigest.from_values(samples)
fourth = crick.TDigest()
fourth.update(np.array(samples))
digests = {
    "numpy": lambda percent: np.percentile(samples, percent, method="inverted_cdf"),
    "fastdigest": third.percentile,
    "crick": lambda percent: fourth.quantile(percent / 100),
    "pytdigest": lambda percent: second.inverse_cdf(percent / 100),
    "tdigest": first.percentile,
}
PERCENTS = (1, 25, 50, 75, 90, 99)
print("milliseconds      " + "".join(f"{f'p{percent}':>8}" for percent in PERCENTS))
found = {}
for name, percentile in digests.items():
    found[name] = [float(percentile(percent)) for percent in PERCENTS]
    print(f"{name:<10} {version(name):<7}" + "".join(f"{value:>8.1f}" for value in found[name]))
right = all(found[name] == [1] * 6 for name in ("numpy", "fastdigest", "crick"))
wrong = all(found[name][3] > 500 and found[name][5] > 900 for name in ("pytdigest", "tdigest"))
sys.exit(not (right and wrong and found["tdigest"][0] < -900))
PYTHON
