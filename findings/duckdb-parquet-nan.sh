#!/usr/bin/env bash
# DuckDB: which rows of a Parquet file pass a filter where trials without a result are NaN?
#
# Expected: the same as of a table with these rows. NaN counts as larger than all numbers in DuckDB; and "when
# looking for NaN values, min and max should be ignored" (parquet.thrift of the Parquet format).
# Found: rows by the file's minimum and maximum, in which NaN has no part. If all results are below the
# limit, `seconds <= limit` passes NaN too, and neither `seconds > limit` nor `not seconds <= limit` passes
# any. So failed trials count as quick ones, until a slow one is in the file: then all counts are right
# but that of `isnan`, which finds none in either case.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile duckdb==2.0.1 pyarrow==26.0.1 numpy==2.4.6
v/bin/python - <<'PYTHON'
import sys
from importlib.metadata import version

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

FILTERS = ("seconds <= 2", "seconds > 2", "not seconds <= 2", "isnan(seconds)")
print(*(f"{name} {version(name)}" for name in ("duckdb", "pyarrow")))
found = []
for title, slowest in (("all trials below 2 s", 1.5), ("one trial of 2.5 s", 2.5)):
    seconds = [1.0, 0.5, slowest, float("nan"), float("nan")]
    pq.write_table(pa.table({"seconds": seconds}), "trials.parquet")
    duckdb.sql("create or replace table trials as from 'trials.parquet'")
    print(f"{title}, two without a result")
    print("  filter             table  Parquet")
    for condition in FILTERS:
        counts = [
            duckdb.sql(f"select count(*) from {source} where {condition}").fetchall()[0][0]
            for source in ("trials", "'trials.parquet'")
        ]
        found.append(tuple(counts))
        print(f"  {condition:<18} {counts[0]:>5} {counts[1]:>8}")
sys.exit(found[:4] != [(3, 5), (2, 0), (2, 0), (2, 0)] or any(a != b for a, b in found[4:7]))
PYTHON
