"""
Play every fault of tests/faults and print the table of bench/results/reliability.md as Markdown.

    .venv/bin/python bench/faults.py > faults.md

Takes about two minutes. As root on Linux; without, what cannot be played is named.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "faults"))

from fault import Fault, Outcome, places
from fault_table import FAULTS, Played, lacking


def _survived(fault: Fault, outcome: Outcome, played: Played) -> bool:
    """Whether the run was completed as planned, with one trial lost at most and nothing left."""
    counts = set(places([trial for trial in outcome.trials if trial.status == "done"]))
    return (
        outcome.lost <= 1
        and outcome.left.count == 0
        and outcome.status == "done"
        and places(outcome.trials) == played.undisturbed(fault)
        and counts == set(played.undisturbed(fault))
    )


def main() -> None:
    """Print the table; exit with 1 if a fault was not survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Plain)
    parser.add_argument("--times", type=int, default=1, help="play each so often")
    times = parser.parse_args().times
    rows: dict[str, Counter[str]] = {fault.name: Counter() for fault in FAULTS}
    for _ in range(times):
        _play_all(rows)
    print("| fault | what becomes of the run | injected | survived | lost | failed | left |")
    print("|---|---|---|---|---|---|---|")
    keys = ("injected", "survived", "lost", "failed", "left")
    for fault in FAULTS:
        counts = rows[fault.name]
        numbers = " | ".join(str(counts[key]) for key in keys)
        what, expected = (text.replace("|", "\\|") for text in (fault.what, fault.expected))
        print(f"| {what} | {expected} | {numbers} |")
    total: Counter[str] = sum(rows.values(), Counter())
    print(f"| **all {len(FAULTS)}** | | {' | '.join(str(total[key]) for key in keys)} |")
    if total["survived"] != total["injected"]:
        sys.exit(1)


class _Plain(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of the description."""


def _play_all(rows: dict[str, Counter[str]]) -> None:
    played = Played(FAULTS)
    try:
        for fault in FAULTS:
            reason = lacking(fault)
            if reason is not None:
                print(f"{fault.name}: not played: {reason}", file=sys.stderr)
                continue
            counts = rows[fault.name]
            counts["injected"] += 1
            try:
                outcome = played.outcome(fault)
                survived = _survived(fault, outcome, played)
            except AssertionError as wrong:
                print(f"{fault.name}: {wrong}", file=sys.stderr)
                continue
            counts["survived"] += survived
            counts["lost"] += outcome.lost
            counts["failed"] += len(outcome.failed)
            counts["left"] += outcome.left.count
            print(f"{fault.name}: {'survived' if survived else outcome.left}", file=sys.stderr)
    finally:
        played.close()


if __name__ == "__main__":
    main()
