"""
Judge the findings of all studies by print, and simulate how often verdicts are wrong.

    .venv/bin/python bench/findings.py --times 5

Prints the tables of bench/results/findings.md. Seeds are fixed: only the times differ.
"""

from __future__ import annotations

import argparse
import sys
import time

from finding_cases import FINDING_CASES

from lanlab.analysis.findings.judge import judge_published
from lanlab.studies.load import known_studies, load_study

_VERDICTS = ("holds", "does not hold", "undecided", "not tested")


def main() -> int:
    """Print both tables; 1 if a share lies outside its bounds."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--times", type=int, default=1, help="times the draws of the tests")
    times = parser.parse_args().times

    loaded = [load_study(name) for name in known_studies()]
    begin = time.perf_counter()
    judged = [judge_published(one) for one in loaded]
    elapsed_s = time.perf_counter() - begin
    print("| study | findings | hold | do not | undecided | not tested | tests | means only |")
    print("|---|---|---|---|---|---|---|---|")
    for study, verdicts in zip(loaded, judged, strict=True):
        counts = " | ".join(str(verdicts.count(name)) for name in _VERDICTS)
        only = sum(one.is_means_only for one in verdicts.judgements)
        print(
            f"| {study.study.id} | {len(verdicts.judgements)} | {counts} | {verdicts.family}"
            f" | {only} |"
        )
    findings = [one for verdicts in judged for one in verdicts.judgements]
    expected = [one.finding.expected.verdict if one.finding.expected else "" for one in findings]
    agree = sum(one.verdict == by_hand for one, by_hand in zip(findings, expected, strict=True))
    print(f"\n{len(findings)} findings in {elapsed_s:.2f} s; {agree} as worked out by hand\n")

    failed = 0
    print("| what | how often | right is | draws |\n|---|---|---|---|")
    for case in FINDING_CASES:
        share = case.share(times)
        failed += not case.low <= share <= case.high
        print(
            f"| {case.kind}: {case.name} | {100 * share:.1f} %"
            f" | {100 * case.low:g} to {100 * case.high:g} % | {times * case.draws:,} |",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
