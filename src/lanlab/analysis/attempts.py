"""Which trials count: a polluted one may have been repeated at its place."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.store import Level, TrialRecord

#: An experiment's condition in one block; of a search, one of its steps.
_Place = tuple[str, str, tuple[tuple[str, Level], ...], int]


def counting(trials: Sequence[TrialRecord]) -> list[TrialRecord]:
    """
    The finished trials that are in means: the last at each place, in order.

    A place is repeated only while its trials are polluted, so that the last is a clean one, or the
    last of those that were allowed. The plan counts alike (`lanlab.plan.plan`).
    """
    last: dict[_Place, TrialRecord] = {}
    for trial in trials:
        if trial.status == "done":
            levels = tuple(sorted(trial.factors.items()))
            last[(trial.experiment, trial.purpose, levels, trial.block)] = trial
    return sorted(last.values(), key=lambda trial: trial.number)


def left_out(trials: Sequence[TrialRecord]) -> list[TrialRecord]:
    """The finished trials that are in no mean, as another at their place counts."""
    counted = {trial.number for trial in counting(trials)}
    return [t for t in trials if t.status == "done" and t.number not in counted]
