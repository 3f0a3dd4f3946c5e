"""
Conditions of a run in the publication's terms.

A study of period file services has levels that no current machine has. The study file names their
counterparts, level by level; a level without one keeps its name and is an additional level.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lanlab.studies.base import Level
from lanlab.studies.model import Counterpart, Study
from lanlab.studies.plain_level import plain_level

if TYPE_CHECKING:
    from lanlab.studies.machines import Place


def in_published_words(
    study: Study, experiment: str, levels: Mapping[str, Level]
) -> list[dict[str, Level]]:
    """
    A condition with published factors in place of our counterparts.

    Args:
        experiment: The experiment of the condition.
        levels: By factor or parameter.

    Returns:
        One for each combination of published levels that it represents; the condition itself if the
        study names no counterparts.
    """
    named = [
        one
        for one in study.counterpart
        if _ours(one, experiment, levels) is not None and not _is_itself(one, levels)
    ]
    kept = {
        name: level
        for name, level in levels.items()
        if not any(one.factor == name for one in named)
    }
    choices: dict[str, list[Level]] = {}
    for one in named:
        ours = _ours(one, experiment, levels)
        assert ours is not None
        stands_for = [read(key) for key, own in one.levels.items() if _is_in(one, ours, own)]
        if not stands_for and one.factor != "experiment":
            stands_for = [ours]
        choices.setdefault(one.published, []).extend(stands_for)
    chosen = {name: found for name, found in choices.items() if found}
    return [
        {**kept, **dict(zip(chosen, found, strict=True))}
        for found in itertools.product(*chosen.values())
    ]


def factors_told_apart(study: Study) -> frozenset[str]:
    """The published factors for which `levels_told_apart` gives levels."""
    every = (at for one in study.counterpart for at in one.only_at.values())
    return frozenset(factor for at in every for factor in at)


def levels_told_apart(study: Study, factor: str) -> tuple[Level, ...]:
    """The levels of a published factor that determine the counterparts of another factor, as each
    system has its own NWLink. Empty if the counterparts are the same at all its levels.
    """
    named = (at.get(factor) for one in study.counterpart for at in one.only_at.values())
    return tuple(dict.fromkeys(level for level in named if level is not None))


def levels_of_ours_apart(study: Study, parameters: Mapping[str, Level]) -> list[str]:
    """The levels of a condition that represent a published level only at some levels of another
    factor.
    """
    own = (str(parameters[c.factor]) for c in study.counterpart if c.factor in parameters)
    every = {level for one in study.counterpart for level in one.only_at}
    return [level for level in own if level in every]


def stands_at(study: Study, parameters: Mapping[str, Level], levels: Mapping[str, Level]) -> bool:
    """
    Whether our condition represents the published one at these levels.

    Args:
        parameters: Of the condition.
        levels: By published factor; any level matches an omitted factor.
    """
    for one in study.counterpart:
        at = one.only_at.get(str(parameters.get(one.factor)), {})
        if any(levels.get(factor, level) != level for factor, level in at.items()):
            return False
    return True


def place_at(study: Study, levels: Mapping[str, Level], experiment: str = "") -> Place | None:
    """
    The place of a condition. Places are described by levels of the study or of the publication.

    Args:
        study: With machines.
        levels: By factor or parameter.
        experiment: The experiment of the condition; needed if experiments represent published
            levels.
    """
    # Imported only if machines are used, because their models load slowly.
    from lanlab.studies.machines import place_of

    assert study.simulation is not None
    for words in in_published_words(study, experiment, levels):
        place = place_of(study.simulation, {**levels, **words})
        if place is not None:
            return place
    return None


def published_level(study: Study, factor: str, level: Level) -> Level:
    """The publication's name for a level, which may be one of ours."""
    for one in study.counterpart:
        if one.published == factor and one.factor == factor:
            for key, own in one.levels.items():
                if _is_in(one, level, own):
                    return read(key)
    return level


def names_of(study: Study, factors: Sequence[str]) -> tuple[str, ...]:
    by_ours: dict[str, list[str]] = {}
    for one in study.counterpart:
        by_ours.setdefault(one.factor, []).append(one.published)
    found = itertools.chain.from_iterable(by_ours.get(name, [name]) for name in factors)
    return tuple(dict.fromkeys((*found, *by_ours.get("experiment", ()))))


def stands_for_something(study: Study, factor: str) -> bool:
    """Whether any level of a published factor has a counterpart of ours."""
    return any(one.published == factor and one.levels for one in study.counterpart)


def read(key: str) -> Level:
    """A published level from its key in a file; digits become a number."""
    return int(key) if key.isascii() and key.isdigit() else key


def _ours(one: Counterpart, experiment: str, levels: Mapping[str, Level]) -> Level | None:
    return experiment if one.factor == "experiment" else levels.get(one.factor)


def _is_itself(one: Counterpart, levels: Mapping[str, Level]) -> bool:
    return one.published != one.factor and one.published in levels


def _is_in(one: Counterpart, level: Level, own: Sequence[Level]) -> bool:
    return any(plain_level(one.factor, each) == plain_level(one.factor, level) for each in own)
