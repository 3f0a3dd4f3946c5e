"""
Measure how quickly an engine makes datasets and compares them with their descriptions.

    .venv/bin/python bench/dataset_speed.py > dataset-speed.md

Files lie in memory (tmpfs): making is generating and writing, comparing is reading, generating and
hashing, on one processor. A copy does either outside its timed part; only `medium: memory` makes
what it sends as it sends it.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from lanlab import __version__
from lanlab.engine.locate import engine_path
from lanlab.engine.process import Engine
from lanlab.workloads.copy import datasets as copy_datasets

_WITHIN_S = 120.0
_CASES = (("1x2GB", 0.0), ("1x2GB", 0.5), ("10000x6kB", 0.0))


def _speeds(engine: Engine, dataset: str, ratio: float, folder: Path) -> tuple[float, float]:
    """Speed in B/s of making a dataset, and of comparing it."""
    request = {
        "type": "dataset",
        "spec": copy_datasets.spec(dataset, 1, ratio),
        "place": {"directory": str(folder)},
    }
    made, compared = (engine.ask(request, _WITHIN_S) for _ in range(2))
    if made["written_files"] != made["files"] or compared["written_files"]:
        raise SystemExit(f"error: {dataset}: not made once and found whole then")
    rates = (one["bytes"] / (one["elapsed_ns"] / 1e9) for one in (made, compared))
    return next(rates), next(rates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0].strip())
    parser.add_argument("--runs", type=int, default=7, help="how often each (7)")
    parser.add_argument("--directory", type=Path, default=Path("/dev/shm"), help="where files lie")
    asked = parser.parse_args()
    print(f"    python bench/{Path(__file__).name} {' '.join(sys.argv[1:])}".rstrip())
    print(
        f"\nlanlab {__version__}, {platform.system()} {platform.release()}, "
        f"{os.cpu_count()} processors, {datetime.date.today()}; medians of {asked.runs}.\n"
    )
    print("| dataset | zeros | made, MB/s | compared, MB/s |\n|---|---|---|---|")
    with Engine("host0", [engine_path()]) as engine:
        for dataset, ratio in _CASES:
            found = []
            for _ in range(asked.runs):
                folder = Path(tempfile.mkdtemp(prefix="lanlab-dataset-", dir=asked.directory))
                try:
                    found.append(_speeds(engine, dataset, ratio, folder))
                finally:
                    shutil.rmtree(folder)
            made, compared = (
                statistics.median(column) / 1e6 for column in zip(*found, strict=True)
            )
            print(f"| `{dataset}` | {ratio:.0%} | {made:,.0f} | {compared:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
