"""
Measure how long it takes to commit a trial, and print a table of bench/results/reliability.md.

    .venv/bin/python bench/commit_time.py > commit-time.md

Keeps copies of one real trial in a new SQLite store below the folder it is started in, and in a
PostgreSQL server of its own, made and ended by the helper of the tests, on the same disk if TMPDIR
names a folder of it. Takes about a minute.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from lanlab.store import RunRecord, Series, TrialRecord, open_store

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "store"))


def readings(rows: int, number: int) -> Series:
    """As a workload leaves them: when each operation began, how long it took, bytes, outcome."""
    random = np.random.default_rng(number)
    return Series(
        "readings",
        {
            "start_ns": np.cumsum(random.integers(10_000, 100_000, rows)),
            "time_ns": random.lognormal(10, 0.5, rows).astype(np.int64),
            "bytes": np.full(rows, 4096, dtype=np.int32),
            "outcome": (random.random(rows) < 0.001).astype(np.uint8),
        },
        {"start_ns": "ns", "time_ns": "ns", "bytes": "B"},
    )


def intervals(bins: int, number: int) -> Series:
    """As a stream leaves them."""
    random = np.random.default_rng(number)
    columns = {
        "start_ns": np.arange(bins, dtype=np.int64) * 100_000_000,
        "width_ns": np.full(bins, 100_000_000, dtype=np.int64),
        "bytes": random.integers(1_000_000, 1_250_000, bins),
        "messages": random.integers(800, 900, bins),
    }
    return Series("receiver-intervals", columns, {"start_ns": "ns", "bytes": "B"})


#: What is committed with each trial, and how often.
CASES: Sequence[tuple[str, int, Callable[[int], list[Series]]]] = (
    ("no series", 300, lambda number: []),
    ("100 intervals", 300, lambda number: [intervals(100, number)]),
    ("10,000 readings", 100, lambda number: [readings(10_000, number)]),
    ("1,000,000 readings", 10, lambda number: [readings(1_000_000, number)]),
)


def a_trial(folder: Path) -> tuple[RunRecord, TrialRecord]:
    """A real one, measured here."""
    where = folder / "one.sqlite"
    lanlab = Path(sysconfig.get_path("scripts"), "lanlab")
    subprocess.run(
        [str(lanlab), "stream", "--testbed", "loopback", "--time", "0.5", "--store", str(where)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    with open_store(str(where)) as store:
        return store.run("last"), store.trials("last")[0]


def commit_times_ms(
    where: str, run: RunRecord, trial: TrialRecord, count: int, make: Callable[[int], list[Series]]
) -> list[float]:
    """The time of each of `count` commits; two more before them are not counted."""
    taken = []
    with open_store(where) as store:
        store.start_run(run).release()
        with store.acquire_run(run.id):
            for number in range(count + 2):
                series = make(number)
                record = dataclasses.replace(trial, run_id=run.id, number=number)
                began = time.perf_counter()
                store.commit_trial(record, series)
                taken.append(1e3 * (time.perf_counter() - began))
    return taken[2:]


def sync_times_ms(folder: Path, count: int = 300) -> list[float]:
    """What the disk takes by itself to keep 4 KiB."""
    taken = []
    with (folder / "sync").open("wb") as file:
        for _ in range(count):
            file.write(bytes(4096))
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            taken.append(1e3 * (time.perf_counter() - began))
    return taken


def row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


def told(taken: Sequence[float]) -> tuple[str, str, str]:
    """Median, 99th percentile (of few, the greatest) and how many."""
    ordered = sorted(taken)
    p99 = ordered[min(len(ordered) - 1, math.ceil(0.99 * len(ordered)) - 1)]
    return f"{statistics.median(ordered):.2f}", f"{p99:.2f}", str(len(ordered))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("sqlite", "postgresql"))
    only = parser.parse_args().only
    row("store", "with each trial", "median (ms)", "99th percentile (ms)", "commits")
    row("---", "---", "---:", "---:", "---:")
    with tempfile.TemporaryDirectory(dir=".", prefix="commit-time-") as name:
        folder = Path(name).absolute()
        run, trial = a_trial(folder)
        row("the disk by itself", "4 KiB and fsync", *told(sync_times_ms(folder)))
        if only != "postgresql":
            for place, (what, count, make) in enumerate(CASES):
                where = str(folder / f"{place}.sqlite")
                row("SQLite", what, *told(commit_times_ms(where, run, trial, count, make)))
        if only != "sqlite":
            from postgres_server import postgres_server

            with postgres_server() as server:
                os.environ["PGPASSWORD"] = server.password
                for place, (what, count, make) in enumerate(CASES):
                    taken = commit_times_ms(server.url(f"case_{place}"), run, trial, count, make)
                    row("PostgreSQL", what, *told(taken))


if __name__ == "__main__":
    main()
