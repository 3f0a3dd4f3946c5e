#!/usr/bin/env bash
# statsmodels: between which bounds is the rate of losses if none was seen (`confint_poisson`, "midp-c")?
#
# Expected: after ten hours without a loss from 0 to 0.30 an hour, for a lower bound cannot lie above what
# was seen. The manual: "central, that is the probability of each tail is smaller or equal to alpha / 2".
# Found: from 0.30 to 0.30. The lower bound is sought above 0 and found where the upper one is, so an
# experiment without a loss "shows" at least 3 in ten hours; with `alternative="smaller"` at least 2.3.
# `confint_quantile_poisson` uses the same bounds. From one loss on they are right.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v
v/bin/pip -qq install --no-compile statsmodels==0.15.0 scipy==1.17.1 numpy==2.4.6 pandas==3.1.1
v/bin/python - <<'PYTHON'
import math
import sys

import statsmodels
from scipy.stats import poisson
from statsmodels.stats.rates import confint_poisson

HOURS = 10


def tail(losses, rate):
    """The mid-P tail: how probable as many losses or more are, counting as many by half."""
    mean = rate * HOURS
    return poisson.sf(losses, mean) + 0.5 * poisson.pmf(losses, mean)


print("statsmodels", statsmodels.__version__)
print("losses in 10 h, bounds of the rate per hour at 95 %, tail at the lower bound")
bounds = {}
for method in ("exact-c", "midp-c"):
    for losses in (0, 1, 2):
        low, high = map(float, confint_poisson(losses, HOURS, method=method))
        bounds[method, losses] = low, high
        print(f"  {method:<8} {losses}: {low:.4f} … {high:.4f}, {tail(losses, low):.4f}")
low, high = map(float, confint_poisson(0, HOURS, method="midp-c", alternative="smaller"))
print(f"  midp-c, one bound from below, 0: {low:.4f} … {high}")
none = math.log(1 / 0.05) / HOURS  # where half of the probability of no loss is 2.5 %
right = all(abs(tail(losses, bounds["midp-c", losses][0]) - 0.025) < 1e-6 for losses in (1, 2))
wrong = all(abs(bound - none) < 1e-6 for bound in bounds["midp-c", 0]) and low > 0.23
sys.exit(not (right and wrong and bounds["exact-c", 0][0] == 0))
PYTHON
