#!/usr/bin/env bash
# Dask: how far do large values, such as times since 1970 or counters of bytes, spread in each group?
#
# Expected: as far as pandas finds, which Dask DataFrames stand in for; and as far as the same values spread without
# groups, which Dask computes correctly.
# Found: not at all. `groupby().std()` and `var()` subtract the square of the sum from the sum of the squares, and what
# is left is rounding. Values that differ by ± 1 spread 0.7 % too far around 10⁷, and by exactly 0 from 10⁸ on,
# without a warning. So clocks that wander look perfect, and each difference between servers seems significant.
# Reported in 2020, but for equal values only, whose spread comes out as 10⁻¹⁰ instead of 0.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile "dask[dataframe]==2026.8.0" pandas==2.3.3 numpy==2.4.6
v/bin/python - <<'PYTHON'
import sys
from importlib.metadata import version

import dask.dataframe
import numpy as np
import pandas as pd

print("Dask", version("dask"), "and pandas", version("pandas"))
print(f"{'values':>20} {'pandas':>9} {'by group':>9} {'Dask':>9} {'by group':>9}")
noise = np.random.default_rng(1).normal(0, 1, 10_000)
found = {}
for offset in (0, 10**7, 10**8, 1_795_000_000):
    frame = pd.DataFrame({"host": "server", "seconds": offset + noise})
    parts = dask.dataframe.from_pandas(frame, npartitions=4)
    found[offset] = [
        frame["seconds"].std(),
        frame.groupby("host")["seconds"].std().iloc[0],
        parts["seconds"].std().compute(),
        parts.groupby("host")["seconds"].std().compute().iloc[0],
    ]
    print(f"{offset:>16,} ± 1", *(f"{value:>9.4f}" for value in found[offset]))
true = noise.std(ddof=1)
right = all(abs(value / true - 1) < 0.001 for values in found.values() for value in values[:3])
right &= abs(found[0][3] / true - 1) < 1e-9
sys.exit(not (right and found[10**8][3] == found[1_795_000_000][3] == 0))
PYTHON
