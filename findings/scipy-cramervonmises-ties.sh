#!/usr/bin/env bash
# SciPy: what does the Cramér–von Mises test say of few trials with equal values, as coarse clocks give?
#
# Expected: 0.1 for three values that are all below three others: of the 20 ways to share out six
# values 2 are that extreme. At worst more, as the manual says: "If the underlying distribution is not
# continuous, the p-value is likely to be conservative".
# Found: 0, without a warning, so that the difference is significant at each level and after each
# correction for many comparisons; also of samples that overlap. The default (method "exact" up to 20
# values) looks the statistic up among those of six different values, all of which are smaller.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile scipy==1.17.1 numpy==2.4.6
v/bin/python - <<'PYTHON'
import itertools
import sys

import scipy
from scipy.stats import cramervonmises_2samp


def shares(first, second):
    """The share of all ways to share out these values whose statistic is at least as large."""
    values, size = first + second, len(first)
    all_found = []
    for taken in itertools.combinations(range(len(values)), size):
        one = [values[place] for place in taken]
        other = [value for place, value in enumerate(values) if place not in taken]
        all_found.append(cramervonmises_2samp(one, other).statistic)
    found = cramervonmises_2samp(first, second).statistic
    return sum(other > found - 1e-9 for other in all_found) / len(all_found)


print("SciPy", scipy.__version__)
print("milliseconds                     p-value  by counting all ways")
rows = []
for first, second in (
    ([1, 2, 3], [4, 5, 6]),
    ([1, 2, 3], [4, 4, 4]),
    ([1, 1, 1], [2, 2, 2]),
    ([1, 1, 1, 2], [2, 3, 3, 3]),
    ([1, 1, 1, 2, 2], [2, 3, 3, 3, 3]),
):
    p = cramervonmises_2samp(first, second).pvalue
    counted = shares(first, second)
    rows.append((round(float(p), 4), round(counted, 4)))
    print(f"{first!s:<16}{second!s:<16} {p:>7.3f}  {counted:>7.3f}")
sys.exit(rows != [(0.1, 0.1), (0, 0.1), (0, 0.1), (0, 0.0571), (0.0079, 0.0238)])
PYTHON
