#!/usr/bin/env bash
# Polars: what is the sum of a column of octets that each fit 32 bits, as captures and Parquet hold them?
#
# Expected: all octets, as of PyArrow, DuckDB and NumPy, which widen the sum to 64 bits or more; or an
# error. Polars itself widens sums of 8 and 16 bits, "to prevent overflow issues".
# Found: the sum modulo 4 GiB, without an error or warning: of a capture, of each group, and of the
# sizes that Polars measures itself (`bin.size`). `mean` is right, so sum and mean contradict.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v
v/bin/pip -qq install --no-compile polars==2.1.0 pyarrow==26.0.1 numpy==2.4.6 duckdb==2.0.1
v/bin/python - <<'PYTHON'
import sys
from importlib.metadata import version

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

# Six transfers of 1 GB.
transfers = pa.table({"octets": pa.array([10**9] * 6, pa.uint32())})
pq.write_table(transfers, "transfers.parquet")
octets = transfers["octets"]
frame = pl.read_parquet("transfers.parquet")
megabyte = pl.Series("payload", [bytes(10**6)]).new_from_index(0, 6000).to_frame()
sums = {
    "pyarrow": pc.sum(octets).as_py(),
    "duckdb": duckdb.sql("select sum(octets) from 'transfers.parquet'").fetchall()[0][0],
    "numpy": np.sum(octets.to_numpy()),
    "polars": frame["octets"].sum(),
    "polars, by group": frame.group_by(pl.lit("nas")).agg(pl.col("octets").sum())["octets"][0],
    "polars, streaming": pl.scan_parquet("transfers.parquet").sum().collect(engine="streaming").item(),
    "polars, bin.size": megabyte.select(pl.col("payload").bin.size().sum()).item(),
    "polars, mean × 6": frame["octets"].mean() * 6,
}
print(*(f"{name} {version(name)}" for name in ("polars", "pyarrow", "duckdb", "numpy")))
for name, total in sums.items():
    print(f"{name:<18} {float(total):>13,.0f}")
wrapped = {name for name, total in sums.items() if total == 6 * 10**9 - 2**32}
right = {name for name, total in sums.items() if total == 6 * 10**9}
sys.exit(len(wrapped) != 4 or len(right) != 4)
PYTHON
