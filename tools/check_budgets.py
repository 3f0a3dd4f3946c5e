"""
Check what files of Python tests took of the processors, run by `make test`:

    tools/check_budgets.py TIMES

TIMES has lines of seconds and file (tests/conftest.py). A file has 5 s; tests/slow_files.txt names
the exceptions. Their number and sum are bounded, too, so that `make test` keeps its time. A busy or
slow machine takes more of the processors for the same work: a file fails at three times its budget.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

SLOW_FILES = Path(__file__).parents[1] / "tests" / "slow_files.txt"
BUDGET_S = 5.0
MOST_PER_BUDGET = 3.0
MOST_SLOW_FILES = 30
MOST_SLOW_S = 900.0


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
    return [
        f"{file}: {took_s[file]:.1f} s of processors; budget: {budgets_s.get(file, BUDGET_S):.0f} s"
        for file in sorted(took_s, key=lambda file: -took_s[file])
        if took_s[file] > MOST_PER_BUDGET * budgets_s.get(file, BUDGET_S)
    ]


def main(path: str) -> int:
    """Print the dearest files, and fail if a budget is exceeded."""
    times, exceptions = Path(path).read_text(), SLOW_FILES.read_text()
    lines = sorted(times.splitlines(), key=lambda line: -float(line.split()[0]))
    print(f"files of tests: {sum(float(line.split()[0]) for line in lines):.0f} s of processors")
    print(*(f"  {line}" for line in lines[:40]), sep="\n")
    wrong = [*wrong_exceptions(exceptions), *over_budget(times, exceptions)]
    for each in wrong:
        print(f"error: {each}", file=sys.stderr)
    if wrong:
        print("hint: make them quicker, or mark tests `long`", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
