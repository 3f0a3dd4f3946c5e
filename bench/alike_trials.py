"""
How often intervals hold where each trial is like the one before, as under load that lasts.

    .venv/bin/python bench/alike_trials.py [--draws 6000]

Prints a table of bench/results/statistics.md: of a mean, and of the ratio of two single runs.
Seeds are fixed. Takes 30 s.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from case import Random
from coverage_cases import mean_of_alike_held, ratio_of_alike_held

_TRIALS = (5, 8, 10, 12, 20, 40, 80)
_OF_MEANS, _OF_RATIOS = (0.0, 0.3, 0.45, 0.6), (0.0, 0.3, 0.6)


def share(happens: Callable[[Random], bool], draws: int) -> float:
    """In what share of the draws it happens."""
    random = np.random.default_rng(40)
    return sum(happens(random) for _ in range(draws)) / draws


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--draws", type=int, default=6000)
    draws = parser.parse_args().draws
    columns = [f"mean, correlation {each:g}" for each in _OF_MEANS]
    columns += [f"ratio, {each:g}" for each in _OF_RATIOS]
    print(f"| trials | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
    for n in _TRIALS:
        cells = [mean_of_alike_held(each, n) for each in _OF_MEANS]
        cells += [ratio_of_alike_held(each, n) for each in _OF_RATIOS]
        shares = " | ".join(f"{100 * share(cell, draws):.1f} %" for cell in cells)
        print(f"| {n} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
