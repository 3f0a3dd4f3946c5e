#!/usr/bin/env bash
# SciPy: what is the p-value of `scipy.stats.mstats.compare_medians_ms` for two equal samples?
#
# Expected: 1. It "compares the medians from two independent groups" with no choice of a direction, so it is two-sided,
# as are mannwhitneyu, kruskal and median_test.
# Found: 0.5, and never more. The function takes the absolute difference, but only one tail of the normal distribution,
# so each p-value is half of what it should be. At 0.05, it finds different medians in 10 % of comparisons of a build
# with itself, and swapping the samples changes nothing. The manual names neither tail. Twice the value is right.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile scipy==1.17.1 numpy==2.4.6
v/bin/python - <<'PYTHON'
import math
import sys
from importlib import metadata

import numpy as np
from scipy.stats import mannwhitneyu, mstats, norm

COMPARISONS = 3000


def compare(first, second):
    return float(mstats.compare_medians_ms(first, second, axis=None))


def standard_error(sample):
    """McKean and Schrader's, of a median: from the width of its 99 % interval."""
    ordered, normal = np.sort(sample), norm.ppf(0.995)
    rank = round((len(sample) + 1) / 2 - normal * math.sqrt(len(sample) / 4))
    return (ordered[-rank] - ordered[rank - 1]) / (2 * normal)


def by_hand(first, second):
    """Both tails."""
    difference = abs(np.median(first) - np.median(second))
    return 2 * norm.sf(difference / math.hypot(standard_error(first), standard_error(second)))


print("SciPy", metadata.version("scipy"), "NumPy", np.__version__)
generator = np.random.default_rng(1)
before = np.round(generator.normal(100, 10, 100), 1)
after = before + 4
pairs = {"a sample and itself": (before, before), "4 ms later": (before, after), "swapped": (after, before)}
found = {}
print("                      compare_medians_ms  by hand  mannwhitneyu")
for title, (first, second) in pairs.items():
    found[title] = compare(first, second), by_hand(first, second)
    print(f"{title:<24} {found[title][0]:>15.4f} {found[title][1]:>8.4f} {mannwhitneyu(first, second).pvalue:>13.4f}")
samples = generator.normal(100, 10, (COMPARISONS, 2, 100))
shares = []
for test in (compare, by_hand, lambda first, second: mannwhitneyu(first, second).pvalue):
    shares.append(np.mean([test(first, second) <= 0.05 for first, second in samples]))
print(f"{'differs though it is equal':<26} {shares[0]:>12.1%} {shares[1]:>8.1%} {shares[2]:>13.1%}")
halves = all(math.isclose(value, whole / 2, rel_tol=1e-6) for value, whole in found.values())
same = found["4 ms later"] == found["swapped"] and found["a sample and itself"] == (0.5, 1)
sys.exit(not (halves and same and shares[0] > 0.09 and shares[1] < 0.07 and shares[2] < 0.06))
PYTHON
