#!/usr/bin/env bash
# pyMSER: where does the warm-up of a run end, by the marginal standard error rule (MSER)?
#
# Expected: at the same request, whether its response times are in milliseconds or in seconds. The rule (White, 1997)
# looks for the smallest of a row of squared errors, and that does not depend on the unit.
# Found: pyMSER replaces each squared error below 10⁻⁹ by the largest one, to ignore the last few. In seconds the errors
# of a steady run are smaller than that, so the rule never picks the steady part. Of 400 times that settle at
# 2 ms, it keeps most of the warm-up: the mean is 2.32 ms instead of 2.00 ms. Nothing warns of that.
# pyMSER 1.0.22 finds the same, but needs PyTorch (3 GB); 1.0.19 is the last without.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile pymser==1.0.19 numpy==2.4.6 scipy==1.17.1 \
    statsmodels==0.15.0 pandas==3.1.1
v/bin/python - <<'PYTHON'
import sys
import warnings
from importlib.metadata import version

import numpy as np
import pymser

warnings.simplefilter("ignore")  # of the fit of the autocorrelation time, which is not used here
REQUESTS = 400
random = np.random.default_rng(1)
times_ms = 2 + 5 * np.exp(-np.arange(REQUESTS) / 40) + random.normal(0, 0.05, REQUESTS)


def end_of_warm_up(times):
    """MSER by its definition."""
    errors = [times[first:].var() / (len(times) - first) for first in range(len(times) - 2)]
    return int(np.argmin(errors))


print("pyMSER", version("pymser"))
print("unit   warm-up by definition   by pyMSER   mean after it, ms   before its end, ms")
found = {}
for unit, per_ms in (("µs", 1000), ("ms", 1), ("s", 0.001)):
    times = times_ms * per_ms
    result = pymser.equilibrate(
        times, LLM=False, batch_size=1, ADF_test=False, uncertainty="uSE", print_results=False
    )
    end, mean_ms = int(result["t0"]), float(result["average"]) / per_ms
    found[unit] = end_of_warm_up(times), end, mean_ms
    print(f"{unit:<4} {found[unit][0]:>23} {end:>11} {mean_ms:>19.3f} {times_ms[end]:>20.3f}")
right = found["ms"] == found["µs"] and found["ms"][0] == found["ms"][1] == found["s"][0]
sys.exit(not (right and found["s"][1] < 50 < found["ms"][1] and found["s"][2] > 1.1 * found["ms"][2]))
PYTHON
