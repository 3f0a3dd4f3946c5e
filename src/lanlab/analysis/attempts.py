"""
Which trials count: a disturbed one may have been repeated at its position, a failed one retried.
"""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.store import Level, TrialRecord

Place = tuple[str, str, tuple[tuple[str, Level], ...], int]


def counting(trials: Sequence[TrialRecord]) -> list[TrialRecord]:
    """
    The finished trials that are included in means, in order: all but those that were disturbed and
    repeated.

    A position is repeated only while its trials are disturbed, so the last one there is
    undisturbed, or the last attempt allowed. The plan uses the same rule (`lanlab.plan.plan`).
    """
    last: dict[Place, int] = {}
    for trial in trials:
        if trial.status == "done":
            last[place_of(trial)] = max(trial.number, last.get(place_of(trial), trial.number))
    return [
        trial
        for trial in trials
        if trial.status == "done"
        and not (trial.is_disturbed and trial.number < last[place_of(trial)])
    ]


def left_out(trials: Sequence[TrialRecord]) -> list[TrialRecord]:
    """
    The finished trials that are excluded from means, because another at their position counts.
    """
    counted = {trial.number for trial in counting(trials)}
    return [t for t in trials if t.status == "done" and t.number not in counted]


def place_of(trial: TrialRecord) -> Place:
    """The position of a trial in its run, which its repeats and retries share."""
    levels = tuple(sorted(trial.factors.items()))
    return trial.experiment, trial.purpose, levels, trial.block


def condition_key(factors: dict[str, Level]) -> str:
    return repr(sorted(factors.items()))
