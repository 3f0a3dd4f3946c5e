"""
Check the CPU time of each file of Python tests, run by `make test`:

    tools/check_budgets.py TIMES

TIMES has lines of seconds and file (tests/conftest.py). A file has 5 s; tests/slow_files.txt names
the exceptions, bounded in number and sum, so that `make test` keeps its time. A slow machine needs
more CPU time for everything: budgets grow by the median of what the exceptions needed of theirs. A
file fails above 2.5 times its budget: beside other programs on its core, one may need twice its
time.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

SLOW_FILES = Path(__file__).parents[1] / "tests" / "slow_files.txt"
BUDGET_S = 5.0
MOST_PER_BUDGET = 2.5
MOST_SLOW_FILES = 30
MOST_SLOW_S = 600.0


def slow_files(text: str) -> dict[str, float]:
    """The exceptions: file and seconds."""
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {file: float(budget_s) for budget_s, file, *_ in lines}


def wrong_exceptions(text: str) -> list[str]:
    """What is wrong about the list of exceptions itself."""
    budgets_s, wrong = slow_files(text), []
    if len(budgets_s) > MOST_SLOW_FILES or sum(budgets_s.values()) > MOST_SLOW_S:
        wrong.append(
            f"found {len(budgets_s)} files of {sum(budgets_s.values()):.0f} s in all; "
            f"allowed: {MOST_SLOW_FILES} files of {MOST_SLOW_S:.0f} s"
        )
    reasons = [line.split(maxsplit=2)[2:] for line in text.splitlines() if line[:1].isdigit()]
    wrong += [f"two files have one reason: {r[0]}" for r in reasons if r and reasons.count(r) > 1]
    wrong += ["a file has no reason" for reason in reasons if not reason]
    return wrong


def over_budget(times: str, exceptions: str) -> list[str]:
    """Files that took too much."""
    took_s: dict[str, float] = defaultdict(float)
    for line in times.splitlines():
        seconds, file = line.split(maxsplit=1)
        took_s[file] += float(seconds)
    budgets_s = slow_files(exceptions)
    ratios = [took_s[file] / budget_s for file, budget_s in budgets_s.items() if file in took_s]
    most = MOST_PER_BUDGET * max(1.0, median(ratios or [1.0]))
    return [
        f"{file}: {took_s[file]:.1f} s of CPU time; budget: {budgets_s.get(file, BUDGET_S):.0f} s"
        for file in sorted(took_s, key=lambda file: -took_s[file])
        if took_s[file] > most * budgets_s.get(file, BUDGET_S)
    ]


def main(path: str) -> int:
    """Print the dearest files, and fail if a budget is exceeded."""
    times, exceptions = Path(path).read_text(), SLOW_FILES.read_text()
    lines = sorted(times.splitlines(), key=lambda line: -float(line.split()[0]))
    print(f"files of tests: {sum(float(line.split()[0]) for line in lines):.0f} s of CPU time")
    print(*(f"  {line}" for line in lines[:40]), sep="\n")
    wrong = [*wrong_exceptions(exceptions), *over_budget(times, exceptions)]
    for each in wrong:
        print(f"error: {each}", file=sys.stderr)
    if wrong:
        print("hint: make them quicker, or mark tests `long`", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("times", metavar="TIMES")
    sys.exit(main(parser.parse_args().times))
