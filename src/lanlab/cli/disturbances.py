"""Warnings about disturbed trials, in one line or one per trial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lanlab.cli.terminal import say
from lanlab.store import TrialRecord


def warn(trials: Sequence[TrialRecord], *, verbose: bool, summary: bool = True) -> None:
    """
    Print the disturbances of trials to standard error. A single trial is always shown in full.

    Args:
        verbose: Whether to print for each trial what was found, why it may mislead, and what helps.
        summary: Whether to print in one line how many were disturbed and by what.
    """
    from lanlab.analysis.pollution import judgement_of
    from lanlab.analysis.pollution_words import name_of, warning

    disturbed: Counter[str] = Counter()
    remarks: Counter[str] = Counter()
    count = 0
    for trial in trials:
        judgement = judgement_of(trial.raw)
        found = judgement.findings if judgement is not None else ()
        if verbose or len(trials) == 1:
            which = f"trial {trial.number}: " if len(trials) > 1 else ""
            for finding in found:
                say(f"warning: {which}{warning(finding)}")
        count += any(finding.repeat_helps for finding in found)
        # Both hosts may report the same code.
        for code, helps in {finding.code: finding.repeat_helps for finding in found}.items():
            (disturbed if helps else remarks)[name_of(code)] += 1
    _warn_of_unknown(trials)
    if not summary or len(trials) <= 1:
        return
    said = []
    if count:
        said.append(f"{count} of {len(trials)} trials were disturbed ({_counts(disturbed)})")
    if remarks:
        said.append(f"notes on the hosts of {len(trials)} trials ({_counts(remarks)})")
    if said:
        more = "" if verbose else "; use -v for details"
        say(f"warning: {'; '.join(said)}{more}")


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())


def _warn_of_unknown(trials: Sequence[TrialRecord]) -> None:
    reasons = Counter(
        str(reason)
        for trial in trials
        if (reason := (trial.raw.get("server") or {}).get("cpu_unknown")) is not None
    )
    for reason, count in reasons.items():
        say(
            f"warning: other processes may have disturbed {count} of {len(trials)} trials: the "
            f"server's CPU time is not known: {reason}"
        )
