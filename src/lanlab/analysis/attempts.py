"""Which trials count: a disturbed one may have been repeated at its place, a failed one retried."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.store import Level, TrialRecord

Place = tuple[str, str, tuple[tuple[str, Level], ...], int]


def counting(trials: Sequence[TrialRecord]) -> list[TrialRecord]:
    """
    The finished trials that are in means, in order: all but those disturbed and run again.

    A place is run again only while its trials are disturbed, so that the last there is a clean one,
    or the last of those that were allowed. The plan counts alike (`lanlab.plan.plan`).
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
    """The finished trials that are in no mean, as another at their place counts."""
    counted = {trial.number for trial in counting(trials)}
    return [t for t in trials if t.status == "done" and t.number not in counted]


def place_of(trial: TrialRecord) -> Place:
    """Where a trial stands in its run; those that were repeated or retried share it."""
    levels = tuple(sorted(trial.factors.items()))
    return trial.experiment, trial.purpose, levels, trial.block
