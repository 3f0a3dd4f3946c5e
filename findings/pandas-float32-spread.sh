#!/usr/bin/env bash
# pandas: does the spread of a float32 column depend on the method, and on which packages are installed?
#
# Expected: no. `var` is the square of `std`, and Bottleneck, which pandas recommends for speed, only makes
# results faster.
# Found: for three million response times of 1000 ± 1 µs, `std` is 1.00, but 18.4 once Bottleneck is installed,
# for example as a dependency. `groupby().var()` is 6 % too large even without it, while
# `groupby().std()` is right. There is no warning, and `mean` is right throughout. float32 columns come
# from Parquet, Arrow and NumPy files of samples; float64 columns are right.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile pandas==3.1.1 numpy==2.4.6
cat >spread.py <<'PYTHON'
import json
import sys

import numpy as np
import pandas as pd

samples = 1000 + np.random.default_rng(1).exponential(1, 3_000_000)
spreads = {}
for kind in ("float64", "float32"):
    frame = pd.DataFrame({"server": "nas", "us": samples.astype(kind)})
    groups = frame.groupby("server")["us"]
    spreads[kind] = {
        "mean": frame["us"].mean(),
        "std": frame["us"].std(),
        "√var": frame["us"].var() ** 0.5,
        "std of group": groups.std().iloc[0],
        "√var of group": groups.var().iloc[0] ** 0.5,
    }
json.dump({kind: {name: float(x) for name, x in row.items()} for kind, row in spreads.items()}, sys.stdout)
PYTHON
v/bin/python spread.py >without
v/bin/pip -qq install --no-compile bottleneck==1.6.0
v/bin/python spread.py >with
v/bin/python - <<'PYTHON'
import json
import sys
from importlib.metadata import version

print("pandas", version("pandas"), "Bottleneck", version("bottleneck"))
found = {}
for title in ("without", "with"):
    with open(title) as file:
        found[title] = json.load(file)
    for kind, row in found[title].items():
        print(f"{title:<8}Bottleneck, {kind}: ", end="")
        print(", ".join(f"{name} {value:.3f}" for name, value in row.items()))
true = found["without"]["float64"]["std"]
right = all(
    abs(found[title][kind][name] / found["without"]["float64"][name] - 1) < 1e-3
    for title, kind, name in (
        ("without", "float32", "std"),
        ("without", "float32", "std of group"),
        ("with", "float64", "std"),
        ("with", "float64", "√var of group"),
        ("with", "float32", "mean"),
    )
)
wrong = found["with"]["float32"]["std"] > 10 * true
wrong &= found["without"]["float32"]["√var of group"] > 1.02 * true
sys.exit(not (right and wrong))
PYTHON
