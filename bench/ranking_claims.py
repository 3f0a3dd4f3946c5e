"""
Simulate rankings of services and print how often one claims an order that is not there.

    .venv/bin/python bench/ranking_claims.py 900
    .venv/bin/python bench/ranking_claims.py 900 3   # the third situation only
    .venv/bin/python bench/ranking_claims.py 900 --trials 2,3,4,5,10

A claim is false if a service is placed behind another, in a later group or within one, although it
is as fast or faster in truth. Seeds are fixed. `tests/analysis/test_ranking.py` holds some of it.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from lanlab.analysis.comparison.compare import Sample, compared, corrected
from lanlab.analysis.comparison.ranking import Ranked, grouped


@dataclass(frozen=True)
class Situation:
    """Services that are copied to in blocks."""

    title: str
    #: True time of each service, as a multiple of the fastest.
    times: tuple[float, ...]
    #: Standard deviation of the trials of each, as a share.
    spreads: tuple[float, ...]
    trials: int = 5
    #: Correlation of the noise of trials that follow one another.
    correlation: float = 0.0
    #: By how much a trial of the second mode is slower, as a share; half of the trials are.
    mode: float = 0.0


SITUATIONS = (
    Situation("2 equal", (1.0,) * 2, (0.02,) * 2),
    Situation("3 equal", (1.0,) * 3, (0.02,) * 3),
    Situation("5 equal", (1.0,) * 5, (0.02,) * 5),
    Situation("10 equal", (1.0,) * 10, (0.02,) * 10),
    Situation("2 equal, one noisy; a third 5 % slower", (1.0, 1.0, 1.05), (0.01, 0.1, 0.005)),
    Situation("4 equal, unequal spreads", (1.0,) * 4, (0.002, 0.01, 0.05, 0.2)),
    Situation("4 equal, correlation 0.6", (1.0,) * 4, (0.02,) * 4, correlation=0.6),
    Situation("4 equal, correlation 0.6, 20 trials", (1.0,) * 4, (0.02,) * 4, 20, 0.6),
    Situation("4 equal, two modes 20 % apart", (1.0,) * 4, (0.005,) * 4, mode=0.2),
    Situation("4 equal, two modes, 20 trials", (1.0,) * 4, (0.005,) * 4, 20, mode=0.2),
    Situation("2 equal, 2 slower by 5 %, unequal", (1.0, 1.0, 1.05, 1.05), (0.01, 0.1) * 2),
    Situation(
        "10, five equal pairs", tuple(1.03 ** (n // 2) for n in range(10)), (0.005, 0.05) * 5
    ),
)


def drawn(situation: Situation, random: np.random.Generator) -> list[Sample]:
    """The times of one run: every block holds each service once, in random order."""
    count = len(situation.times)
    steps = random.standard_normal(count * situation.trials)
    for at in range(1, steps.size):
        kept = situation.correlation
        steps[at] = kept * steps[at - 1] + math.sqrt(1 - kept**2) * steps[at]
    values: list[list[float]] = [[] for _ in range(count)]
    for block in range(situation.trials):
        for place, level in enumerate(random.permutation(count)):
            slower = 1 + situation.mode * random.integers(2)
            noise = math.exp(situation.spreads[level] * steps[block * count + place])
            values[level].append(situation.times[level] * slower * noise)
    blocks = tuple(range(situation.trials))
    return [Sample(tuple(own), blocks, 0, 0, 0, 1.0) for own in values]


def ranked(samples: Sequence[Sample]) -> tuple[tuple[Ranked, ...], ...]:
    """The ranking of services by their times; each is called by its number."""
    pairs = list(combinations(range(len(samples)), 2))
    found = corrected(
        [
            compared(
                samples[a],
                samples[b],
                experiment="copies",
                metric="elapsed_ns",
                factors={},
                names=(str(a), str(b)),
                basis="levels",
            )
            for a, b in pairs
        ]
    )
    return grouped(range(len(samples)), dict(zip(pairs, found, strict=True)), is_more_better=False)


def claims(groups: Sequence[Sequence[Ranked]]) -> list[tuple[int, int]]:
    """Each pair of services of which the second is placed behind the first."""
    across = [
        (int(a.level), int(b.level))
        for before, after in combinations(groups, 2)
        for a in before
        for b in after
    ]
    within = [(int(a), int(b.level)) for group in groups for b in group for a in b.behind]
    return across + within


def measure(situation: Situation, draws: int) -> tuple[float, float]:
    """Share of draws with a false claim, and share of true differences that are claimed."""
    times, wrong, right = situation.times, 0, 0
    true = sum(a != b for a, b in combinations(times, 2))
    random = np.random.default_rng(2026)
    for _ in range(draws):
        found = claims(ranked(drawn(situation, random)))
        wrong += any(times[b] <= times[a] for a, b in found)
        right += sum(times[b] > times[a] for a, b in found)
    return wrong / draws, right / (draws * true) if true else math.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("draws", type=int, nargs="?", default=900, help="rankings of a situation")
    parser.add_argument("situation", type=int, nargs="?", help="its number, from 1; default: all")
    parser.add_argument("--trials", help="numbers of trials; default: those of the situations")
    asked = parser.parse_args()
    chosen = [SITUATIONS[asked.situation - 1]] if asked.situation else SITUATIONS
    if asked.trials:
        counts = [int(one) for one in asked.trials.split(",")]
        chosen = [replace(one, trials=count) for one in chosen for count in counts]
    print("| situation | trials | false claims | differences shown |\n|---|---|---|---|")
    for one in chosen:
        wrong, right = measure(one, asked.draws)
        shown = "none there" if math.isnan(right) else f"{100 * right:.0f} %"
        print(f"| {one.title} | {one.trials} | {100 * wrong:.1f} % | {shown} |", flush=True)


if __name__ == "__main__":
    main()
