#!/usr/bin/env bash
# outlier-utils (Python): which of three trials does Grubbs' test at the level 0.05 remove?
#
# Expected: none of 10, 11 and 12 ms, and one in 5 % of series without an outlier. The README shows the same result for
# a NumPy array as for a pandas Series.
# Found: from an array or a list, 10 ms; 11 and 12 remain. Every three trials lose one, and 31 % of series of five do.
# The test divides by the standard deviation of NumPy (by n) instead of the sample's (by n - 1), for which its limits
# are. pandas has the second, so the same numbers in a Series are right.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v
v/bin/pip -qq install --no-compile outlier-utils==0.0.5 numpy==2.4.6 scipy==1.17.1 pandas==3.1.1
v/bin/python - <<'PYTHON'
import sys
from importlib.metadata import version

import numpy as np
import pandas as pd
import scipy.stats
from outliers import smirnov_grubbs

LEVEL = 0.05
SERIES = 2000


def has_outlier(trials):
    """Grubbs' test by hand, as in NIST's handbook of statistics, 1.3.5.17.1."""
    n = len(trials)
    t = scipy.stats.t.isf(LEVEL / (2 * n), n - 2)
    limit = (n - 1) / n**0.5 * (t**2 / (n - 2 + t**2)) ** 0.5
    return np.max(np.abs(trials - np.mean(trials))) / np.std(trials, ddof=1) > limit


print(*(f"{name} {version(name)}" for name in ("outlier-utils", "numpy", "pandas")))
three = [10.0, 11.0, 12.0]
kept = {
    kind: list(map(float, smirnov_grubbs.test(make(three), alpha=LEVEL)))
    for kind, make in (("list", list), ("array", np.array), ("Series", pd.Series))
}
for kind, trials in kept.items():
    print(f"{three} ms as {kind}: {trials} remain")
random = np.random.default_rng(1)
rates = {}
for n in (3, 5, 10):
    series = random.normal(100, 5, (SERIES, n))
    rates[n] = (
        np.mean([has_outlier(trials) for trials in series]),
        np.mean([len(smirnov_grubbs.test(pd.Series(trials), alpha=LEVEL)) < n for trials in series]),
        np.mean([len(smirnov_grubbs.test(trials, alpha=LEVEL)) < n for trials in series]),
    )
    hand, of_series, of_array = rates[n]
    print(f"{n:2} trials: removes one in {hand:.1%} (by hand), {of_series:.1%} (Series), {of_array:.1%} (array)")
right = kept["Series"] == three and all(hand == of_series < 0.07 for hand, of_series, _ in rates.values())
wrong = kept["list"] == kept["array"] == [11.0, 12.0] and rates[3][2] == 1 and rates[5][2] > 0.25
sys.exit(not (right and wrong))
PYTHON
