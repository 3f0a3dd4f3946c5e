#!/usr/bin/env bash
# DuckDB: what is the standard error of the mean (`sem`) of a few trials?
#
# Expected: stddev / √n, as of SciPy and pandas; DuckDB's `stddev` is that of a sample, and `sem` is
# described as "Returns the standard error of the mean".
# Found: stddev_pop / √n, that of trials which are all there ever will be. Of two trials it is 29 % too
# small, of three 18 %, of five 11 %, and each interval and test built on it is too narrow by as much.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v
v/bin/pip -qq install --no-compile duckdb==2.0.1 scipy==1.17.1 pandas==3.1.1 numpy==2.4.6
v/bin/python - <<'PYTHON'
import math
import sys
from importlib.metadata import version

import duckdb
import pandas as pd
from scipy import stats

print(*(f"{name} {version(name)}" for name in ("duckdb", "scipy", "pandas")))
query = "select description from duckdb_functions() where function_name = 'sem'"
print("sem:", duckdb.sql(query).fetchall()[0][0])
print("trials   scipy  pandas  stddev/√n  stddev_pop/√n     sem  of the true one")
as_found = True
for trials in ([10, 12], [10, 12, 17], [10, 12, 17, 15, 11]):
    query = (
        "select stddev(trial) / sqrt(count(*)), stddev_pop(trial) / sqrt(count(*)), sem(trial)"
        f" from (select unnest({trials}) as trial)"
    )
    [(sample, population, sem)] = duckdb.sql(query).fetchall()
    true = stats.sem(trials)
    print(f"{len(trials):>6} {true:>7.4f} {pd.Series(trials).sem():>7.4f} {sample:>10.4f}", end="")
    print(f" {population:>14.4f} {sem:>7.4f} {sem / true:>8.0%}")
    as_found &= math.isclose(sample, true) and math.isclose(sem, population)
sys.exit(not as_found)
PYTHON
