#!/usr/bin/env bash
# SciPy: does the Ansari–Bradley test find equal spread if many values are equal, as with coarse clocks or counts
# of losses?
#
# Expected: a p-value of 1 for two identical samples, and below 0.05 for 5 % of the pairs drawn from one
# distribution. The manual: "exact when the sample sizes are both less than 55 and there are no ties,
# otherwise a normal approximation".
# Found: two identical samples of 60 ones and one two get a p-value of 10⁻⁹. If nine of ten values are equal,
# nearly all pairs from one distribution are "significant", and larger samples are worse. The test uses
# the expected rank sum for data without ties. `mood` has the same purpose and is right.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile scipy==1.17.1 numpy==2.4.6
v/bin/python - <<'PYTHON'
import sys

import numpy as np
import scipy
from scipy.stats import ansari, mood

np.seterr(invalid="ignore")  # `mood`, where all values are equal
print("SciPy", scipy.__version__)
print("the same values in both samples              ansari p   mood p")
same = []
for values in (range(10), [1] * 9 + [2], [1] * 30 + [2], [1] * 60 + [2], [0] * 90 + [1] * 10):
    values = [float(value) for value in values]
    counts = ", ".join(f"{values.count(value)} × {value:.0f}" for value in sorted(set(values))[:2])
    text = "0 … 9" if len(set(values)) > 2 else counts
    same.append((ansari(values, values).pvalue, mood(values, values).pvalue))
    print(f"  {text:<42} {same[-1][0]:>9.2g} {same[-1][1]:>8.2g}")

print("of 500 pairs of samples of one distribution, below 0.05")
random = np.random.default_rng(1)
shares = {}
for equal in (0, 0.7, 0.8, 0.9):
    for size in (20, 50):

        def sample():
            times = random.exponential(1, size)
            return np.where(random.random(size) < equal, 0, times.round(1) if equal else times)

        pairs = [(sample(), sample()) for _ in range(500)]
        shares[equal, size] = [
            float(np.mean([test(*pair).pvalue < 0.05 for pair in pairs])) for test in (ansari, mood)
        ]
        ansari_share, mood_share = shares[equal, size]
        print(f"  {equal:>3.0%} equal, size {size}: {ansari_share:>22.1%}, mood {mood_share:.1%}")
right = abs(same[0][0] - 1) < 1e-6 and all(mood_share < 0.09 for _, mood_share in shares.values())
right &= all(shares[0, size][0] < 0.08 for size in (20, 50))
wrong = same[1][0] < 0.06 and same[3][0] < 1e-8 and shares[0.8, 50][0] > 0.5 and shares[0.9, 50][0] > 0.8
sys.exit(not (right and wrong))
PYTHON
