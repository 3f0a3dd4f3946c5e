"""
Simulate comparisons of runs and print the table of bench/results/statistics.md.

    .venv/bin/python bench/runs.py --times 5 > runs.md

    .venv/bin/python bench/runs.py --store FILE

With `--store` it compares the runs of a store instead, all of the same setting: pairs next to each
other, pairs at random, and ten in a row as five turns. Seeds are fixed.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

from run_cases import CASES

from lanlab.analysis.comparison.sides import Run, Side
from lanlab.report.comparison.compared import RunComparison, between_runs, between_sides
from lanlab.run.alternate import order_of_turn
from lanlab.store import open_store

_TURNS = 5


def simulate(times: int) -> int:
    """Print a row for each case; how many lie outside their bounds."""
    failed = 0
    print("| what | how often | right is | draws |\n|---|---|---|---|")
    kind = ""
    for case in CASES:
        if case.kind != kind:
            kind = case.kind
            print(f"| **{kind}** | | | |")
        share = case.share(times)
        wrong = not case.low <= share <= case.high
        failed += wrong
        print(
            f"| {case.name} | {100 * share:.1f} %{' (outside)' if wrong else ''}"
            f" | {100 * case.low:g} to {100 * case.high:g} % | {times * case.draws:,} |",
            flush=True,
        )
    return failed


def as_turns(runs: Sequence[Run], seed: int) -> list[Side]:
    """Runs of one setting in the order of their times, as if they were a series."""
    sides: list[list[Run]] = [[], []]
    for turn in range(len(runs) // 2):
        for place, side in enumerate(order_of_turn(seed, turn, 2)):
            run, trials = runs[2 * turn + place]
            own = {"id": "s", "turn": turn, "side": side, "turns": len(runs) // 2}
            own["sides"] = [{"name": name} for name in "ab"]
            sides[side].append((replace(run, alternation=own), trials))
    return [Side(name, tuple(own)) for name, own in zip("AB", sides, strict=True)]


def measured(path: str) -> None:
    """Print how often runs of a store that are all alike are told apart."""
    with open_store(path) as store:
        runs: list[Run] = [
            (run, store.trials(run.id)) for run in store.runs() if run.status == "done"
        ]
    rng = random.Random(20261123)
    next_ = [(place, place + 1) for place in range(0, len(runs) - 1, 2)]
    drawn = [tuple(rng.sample(range(len(runs)), 2)) for _ in range(2 * len(next_))]

    def pair(others: bool) -> Callable[[tuple[int, ...]], RunComparison]:
        def compare(places: tuple[int, ...]) -> RunComparison:
            rest = [run for at, run in enumerate(runs) if others and at not in places]
            return between_runs([runs[at] for at in places], others=rest)

        return compare

    rows = 2 * _TURNS
    series = [as_turns(runs[at : at + rows], at) for at in range(0, len(runs) - rows + 1, rows)]
    print("| what | comparisons | a difference seen | claimed | conditions | claimed |")
    print("|---|---|---|---|---|---|")
    _row("next to each other, alone", [pair(False)(one) for one in next_])
    _row("at random, alone", [pair(False)(one) for one in drawn])
    _row("next to each other, by the others", [pair(True)(one) for one in next_])
    _row("at random, by the others", [pair(True)(one) for one in drawn])
    _row(f"{_TURNS} turns", [between_sides(sides) for sides in series])


def _row(name: str, done: Sequence[RunComparison]) -> None:
    seen = sum(any(c.verdict in ("differs", "runs_differ") for c in one.found) for one in done)
    claimed = sum(any(c.differs for c in one.found) for one in done)
    conditions = [c.differs for one in done for c in one.found]
    print(f"| {name} | {len(done)} | {seen} | {claimed} | {len(conditions)} | {sum(conditions)} |")


def main() -> int:
    """Print the table; 1 if a share lies outside its bounds."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--times", type=int, default=1, help="times the draws of the tests")
    parser.add_argument("--store", help="compare the runs of this store")
    given = parser.parse_args()
    if given.store is not None:
        measured(given.store)
        return 0
    return 1 if simulate(given.times) else 0


if __name__ == "__main__":
    sys.exit(main())
