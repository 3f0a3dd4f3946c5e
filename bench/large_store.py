"""
CPU time and peak memory of lists, results and reports of a large store.

    .venv/bin/python bench/large_store.py [--trials 100000] [--runs 3] [--beside CHECKOUT]

Measures one short stream over loopback, copies its trial in the store until there are as many as
asked, each at a position of its own and with its own numbers, and runs `lanlab runs` (first without
a kept summary), `show last` and `report last`, in turn with another checkout's of the same schema,
from whose `src` they then run. With `--trials 1` it compares the commands on a small store.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

OWN = Path(__file__).parent.parent
LANLAB = str(Path(sys.executable).with_name("lanlab"))
#: Place of the list without a kept summary.
_FIRST = 1
STREAM = ("stream", "--time", "0.2", "--testbed", "loopback")


def fill(store: Path, trials: int) -> None:
    """Add copies of trial 0 of the only run."""
    subprocess.run((LANLAB, *STREAM, "--store", str(store)), check=True, capture_output=True)
    connection = sqlite3.connect(store, isolation_level=None)
    # Copies have no files of series. Their goodput differs by up to 1 %.
    goodput = "json_extract(metrics, '$.goodput_bps') * (1 + (n * 7919 % 1000) / 1e5)"
    others = {
        "number": "n",
        "block": "n",
        "metrics": f"json_set(metrics, '$.goodput_bps', {goodput})",
        "raw": "json_remove(raw, '$.receiver.intervals')",
        "parts": "replace(replace(parts, '\"intervals\":', '\"none\":'), "
        "'\"receiver\":{', '\"receiver\":{\"copy\":' || n || ',')",
    }
    for table in ("trial", "digest"):
        columns = [str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")]
        copied = [others.get(column, column) for column in columns]
        connection.execute(
            "WITH RECURSIVE count(n) AS "
            "(SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n + 1 < ?) "
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(copied)} FROM count "
            f"CROSS JOIN (SELECT * FROM {table} WHERE number = 0)",
            (trials,),
        )
    connection.close()


def forget(store: Path) -> None:
    """Remove the summaries of runs, which lists keep."""
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("UPDATE run SET summary = NULL")
    connection.close()


def used(checkout: Path, arguments: Sequence[str]) -> tuple[float, float]:
    """CPU seconds and peak memory in MB of a command."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    # As users have it: modules are compiled once.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(
        (LANLAB, *arguments), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"lanlab {' '.join(arguments)}: {said.decode()}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--beside", type=Path)
    asked = parser.parse_args()
    checkouts = [OWN] if asked.beside is None else [OWN, asked.beside]
    print("| command | checkout | CPU, s (median) | peak, MB (median) |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="lanlab-large-", dir=Path.cwd()) as folder:
        store = Path(folder) / "store.sqlite"
        fill(store, asked.trials)
        commands = (("--help",), ("runs",), ("runs",), ("show", "last"), ("report", "last"))
        for of, words in enumerate(commands):
            found: dict[Path, list[tuple[float, float]]] = {one: [] for one in checkouts}
            for number in range(asked.runs):
                for place, checkout in enumerate(checkouts):
                    page = Path(folder) / f"page-{number}-{place}"
                    out = ("--out", str(page)) if words[0] == "report" else ()
                    where = () if words[0] == "--help" else ("--store", str(store))
                    if of == _FIRST:
                        forget(store)
                    found[checkout].append(used(checkout, (*words, *out, *where)))
            for checkout, all_used in found.items():
                cpu_s, peak_mb = (
                    statistics.median(column) for column in zip(*all_used, strict=True)
                )
                name = " ".join(words) + (", first" if of == _FIRST else "")
                print(f"| `{name}` | {checkout.name} | {cpu_s:.2f} | {peak_mb:.0f} |", flush=True)


if __name__ == "__main__":
    main()
