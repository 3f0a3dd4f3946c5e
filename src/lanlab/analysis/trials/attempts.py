"""
Which trials count: a disturbed one may have been repeated at its position, a failed one retried.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from lanlab.store import Level, TrialHead, TrialRecord

_Trial = TypeVar("_Trial", bound=TrialRecord | TrialHead)
Place = tuple[str, str, tuple[tuple[str, Level], ...], int]
_PARTS = operator.attrgetter("experiment", "purpose", "factors", "block")


def counting(trials: Sequence[_Trial]) -> list[_Trial]:
    """
    The finished trials that are included in means, in order. Excluded are disturbed trials that
    were repeated.

    A position is repeated only while its trials are disturbed, so its last trial is either
    undisturbed or the last attempt allowed. The plan uses the same rule (`lanlab.plan.plan`).
    """
    done = [trial for trial in trials if trial.status == "done"]
    # Most conditions have no position twice, which their blocks show soonest.
    is_once = len({trial.block for trial in done}) == len(done)
    if is_once or not any(trial.is_disturbed for trial in done):
        return done
    places = places_of(done)
    last: dict[Place, int] = {}
    for trial, place in zip(done, places, strict=True):
        last[place] = max(trial.number, last.get(place, trial.number))
    return [
        trial
        for trial, place in zip(done, places, strict=True)
        if not (trial.is_disturbed and trial.number < last[place])
    ]


def places_of(trials: Iterable[TrialRecord | TrialHead]) -> list[Place]:
    """The position of each trial in its run, which its repeats and retries share."""
    found = []
    # Thousands of trials share one mapping of factors.
    known: dict[int, tuple[tuple[str, Level], ...]] = {}
    for experiment, purpose, factors, block in map(_PARTS, trials):
        levels = known.get(id(factors))
        if levels is None:
            levels = known[id(factors)] = tuple(sorted(factors.items()))
        found.append((experiment, purpose, levels, block))
    return found


def place_of(trial: TrialRecord) -> Place:
    return places_of((trial,))[0]


def by_condition(trials: Iterable[_Trial]) -> dict[str, list[_Trial]]:
    """The trials of each condition, by `condition_key`, in order."""
    found: dict[str, list[_Trial]] = {}
    # Thousands of trials share one mapping of factors, so its key is computed once.
    known: dict[int, list[_Trial]] = {}
    for trial in trials:
        own = known.get(id(trial.factors))
        if own is None:
            own = found.setdefault(condition_key(trial.factors), [])
            known[id(trial.factors)] = own
        own.append(trial)
    return found


def condition_key(factors: Mapping[str, Level]) -> str:
    return repr(sorted(factors.items()))
