"""
Simulate the statistics and print the table of bench/results/statistics.md.

    .venv/bin/python bench/coverage.py --times 5 > coverage.md

Takes about four minutes; without `--times` it makes the draws of the tests. Seeds are fixed: it
prints the same each time.
"""

from __future__ import annotations

import argparse
import sys

from coverage_cases import CASES
from mode_cases import MODE_CASES


def main() -> int:
    """Print the table; 1 if a share lies outside its bounds."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--times", type=int, default=1, help="times the draws of the tests")
    times = parser.parse_args().times
    failed = 0
    print("| what | how often | right is | draws |\n|---|---|---|---|")
    kind = ""
    for case in (*CASES, *MODE_CASES):
        if case.kind != kind:
            kind = case.kind
            print(f"| **{kind}** | | | |")
        share = case.share(times)
        wrong = not case.low <= share <= case.high
        failed += wrong
        mark = " (outside)" if wrong else ""
        print(
            f"| {case.name} | {100 * share:.1f} %{mark}"
            f" | {100 * case.low:g} to {100 * case.high:g} % | {times * case.draws:,} |",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
