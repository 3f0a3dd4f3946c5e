#!/usr/bin/env bash
# Polars, DuckDB: how far apart are packets by a CSV file whose times have nine digits after the second?
#
# Expected: 100 and 700 ns, as by pandas and PyArrow, or times left as text.
# Found: 0. Both recognise the times and choose a type of microseconds, although both have a type of nanoseconds. Three
# digits are cut off without a warning. Packets less than a microsecond apart become simultaneous, so their
# order and their intervals are lost. The manuals: DuckDB's type has microseconds; in Polars they are the default
# if a format has no "fractional second component". Both are right if told to use nanoseconds.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v
v/bin/pip -qq install --no-compile polars==2.1.0 duckdb==2.0.1 pandas==3.1.1 pyarrow==26.0.1 numpy==2.4.6
v/bin/python - <<'PYTHON'
import pathlib
import sys
from importlib.metadata import version

import duckdb
import pandas as pd
import polars as pl
import pyarrow.csv

TIMES = [f"2026-01-01T00:00:00.123456{digits}" for digits in ("100", "200", "900")]
pathlib.Path("packets.csv").write_text("number,time\n" + "".join(f"{n},{it}\n" for n, it in enumerate(TIMES)))
print(*(f"{name} {version(name)}" for name in ("polars", "duckdb", "pandas", "pyarrow")))
found = {}


def show(name, kind, times_ns):
    gaps = [int(later) - int(earlier) for earlier, later in zip(times_ns, times_ns[1:])]
    found[name] = gaps
    print(f"{name:<34} {kind!s:<16} {gaps} ns apart")


def nanoseconds(series):
    return series.cast(pl.Datetime("ns")).cast(pl.Int64).to_list()


pandas = pd.read_csv("packets.csv", parse_dates=["time"])["time"]
show("pandas", pandas.dtype, pandas.dt.as_unit("ns").astype("int64").tolist())
arrow = pyarrow.csv.read_csv("packets.csv")["time"]
show("PyArrow", arrow.type, arrow.cast("int64").to_pylist())
polars = pl.read_csv("packets.csv", try_parse_dates=True)["time"]
show("Polars, try_parse_dates", polars.dtype, nanoseconds(polars))
text = pl.read_csv("packets.csv")["time"]
polars = text.str.to_datetime()
show("Polars, str.to_datetime", polars.dtype, nanoseconds(polars))
polars = text.str.to_datetime(time_unit="ns")
show("Polars, the same with time_unit", polars.dtype, nanoseconds(polars))
for name, options in (("DuckDB", ""), ("DuckDB with types", ", types = {'time': 'TIMESTAMP_NS'}")):
    query = f"select typeof(time), epoch_ns(time) from read_csv('packets.csv'{options}) order by number"
    rows = duckdb.sql(query).fetchall()
    show(name, rows[0][0], [row[1] for row in rows])
right = ("pandas", "PyArrow", "Polars, the same with time_unit", "DuckDB with types")
wrong = ("Polars, try_parse_dates", "Polars, str.to_datetime", "DuckDB")
as_found = all(found[name] == [100, 700] for name in right) and all(found[name] == [0, 0] for name in wrong)
sys.exit(not as_found)
PYTHON
