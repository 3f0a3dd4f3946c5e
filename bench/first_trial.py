"""
Whether the first trial of a copy is slower than those after it.

    .venv/bin/python bench/first_trial.py > first-trial.md

Each sitting waits, so that a virtual machine gives its free memory back to its host. Then it copies
one file of 623 MB to a server in memory (tmpfs), some times: with memory made ready before each
trial, as `lanlab copy` has it, or without. The two take turns.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import time
from pathlib import Path
from unittest import mock

from station_trials import ends

from lanlab.performers import perform_between
from lanlab.performers.engines import EngineStage
from lanlab.workloads import WORKLOADS, CounterChanges

_LEAD_S = 0.05


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The first trial of a copy beside the others.")
    parser.add_argument("--service", default="ftp")
    parser.add_argument("--dataset", default="schomer-large")
    parser.add_argument("--sittings", type=int, default=5, help="of each kind (5)")
    parser.add_argument("--trials", type=int, default=5, help="of a sitting (5)")
    parser.add_argument("--idle", type=float, default=15.0, help="before a sitting, seconds (15)")
    return parser.parse_args()


def _unprepared() -> contextlib.AbstractContextManager[object]:
    """Without memory made ready."""
    return mock.patch.object(EngineStage, "make_memory_ready", lambda *_: None)


def _sitting(asked: argparse.Namespace) -> list[float]:
    """The times of a sitting's trials, seconds."""
    kind = WORKLOADS["copy"]
    condition = kind.Parameters.model_validate(
        {
            "service": asked.service,
            "dataset": asked.dataset,
            "server_medium": "tmpfs",
            "verify": "size",
        }
    )
    found = []
    with ends() as both:
        for _ in range(asked.trials):
            exchange = perform_between(kind, condition, *both, _LEAD_S)
            if exchange.error is not None:
                raise exchange.error
            metrics = kind.summarise(condition, exchange, CounterChanges())
            found.append(float(metrics["elapsed_s"]))
    return found


def main() -> int:
    """Print a table."""
    asked = _arguments()
    ratios: dict[str, list[float]] = {"ready": [], "not ready": []}
    print(f"# First trials: {asked.dataset} over {asked.service} to tmpfs\n", flush=True)
    print("| memory | first, s | the others, s | first / median of the others |\n|---|---|---|---|")
    for sitting in range(2 * asked.sittings):
        name = ("not ready", "ready")[sitting % 2]
        time.sleep(asked.idle)
        with contextlib.nullcontext() if name == "ready" else _unprepared():
            first, *others = _sitting(asked)
        ratios[name].append(first / statistics.median(others))
        shown = ", ".join(f"{each:.3f}" for each in others)
        print(f"| {name} | {first:.3f} | {shown} | {ratios[name][-1]:.2f} |", flush=True)
    print()
    for name, found in ratios.items():
        print(f"{name}: median {statistics.median(found):.2f}, ", end="")
        print(f"{min(found):.2f} … {max(found):.2f} of {len(found)} sittings")
    reported = Path("/sys/module/page_reporting/parameters/reported_kib")
    if reported.exists():
        print(f"\nThis system reports free memory to its host ({reported}).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
