#!/usr/bin/env bash
# scikit-posthocs: does Hayter's one-sided test see a rise in times that fall?
#
# Expected: no, p near 1. `test_osrt` is "Hayter's one-sided studentised range test […] against an ordered alternative":
# its statistic is the largest rise from one level to a later one.
# Found: it takes the largest difference in either direction, so times that fall from 15 to 11 ms "rise" with
# p = 0.0001, as those that rise. The order of the levels has no effect at all.
# The package's Jonckheere test with alternative="greater" is right.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v
v/bin/pip -qq install --no-compile scikit-posthocs==0.17.1 numpy==2.4.6 scipy==1.17.1
v/bin/python - <<'PYTHON'
import itertools
import sys
from importlib.metadata import version

import numpy as np
import scikit_posthocs

RISING = np.array([[10, 11, 12, 10.5], [12, 13, 12.5, 13.5], [15, 14, 16, 15.5]])
REPEATS = 20_000


def statistic(levels):
    """Hayter's statistic of equally large levels, of the last two axes."""
    count = levels.shape[-1]
    means = levels.mean(axis=-1)
    spread = np.sqrt(levels.var(axis=-1, ddof=1).mean(axis=-1) / count)
    pairs = itertools.combinations(range(levels.shape[-2]), 2)
    return np.max([means[..., later] - means[..., first] for first, later in pairs], axis=0) / spread


print(*(f"{name} {version(name)}" for name in ("scikit-posthocs", "numpy", "scipy")))
level = np.random.default_rng(1).normal(size=(REPEATS, *RISING.shape))
chance = statistic(level)
found = {}
for title, levels in (("rising", RISING), ("falling", RISING[::-1])):
    p, value, _ = scikit_posthocs.test_osrt(levels.tolist())
    jonckheere, _ = scikit_posthocs.test_jonckheere(levels.tolist(), alternative="greater")
    simulated = np.mean(chance >= statistic(levels))
    found[title] = (p, simulated, jonckheere)
    print(f"means of {levels.mean(axis=1).round(1).tolist()} ms ({title})")
    print(f"  Hayter's statistic {statistic(levels):7.3f}, p {simulated:.4f} (simulated)")
    print(f"  test_osrt          {value:7.3f}, p {p:.4f}; test_jonckheere p {jonckheere:.4f}")
(rising, _, _), (falling, simulated, jonckheere) = found["rising"], found["falling"]
sys.exit(not (rising == falling < 0.001 and simulated > 0.99 and jonckheere > 0.99))
PYTHON
