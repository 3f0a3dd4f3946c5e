"""
Simulate the statistics and print the table of docs/statistics.md.

    .venv/bin/python bench/coverage.py > coverage.md

Takes about half a minute. Seeds are fixed: it prints the same each time.
"""

from __future__ import annotations

import sys

from coverage_cases import CASES


def main() -> int:
    """Print the table."""
    failed = 0
    print("| what | how often | right is | draws |\n|---|---|---|---|")
    kind = ""
    for case in CASES:
        if case.kind != kind:
            kind = case.kind
            print(f"| **{kind}** | | | |")
        share = case.share()
        wrong = not case.low <= share <= case.high
        failed += wrong
        mark = " (outside)" if wrong else ""
        print(
            f"| {case.name} | {100 * share:.1f} %{mark}"
            f" | {100 * case.low:g} to {100 * case.high:g} % | {case.draws:,} |",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
