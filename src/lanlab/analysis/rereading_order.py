"""Whether printed trials drift with the order in which they were run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lanlab.analysis.rereading_trials import PrintedTrials, printed_trials_of
from lanlab.errors import LabError
from lanlab.frozen import dataclass
from lanlab.studies import Level, Published

if TYPE_CHECKING:
    from lanlab.analysis.statistics import Drift


@dataclass(frozen=True)
class OrderDrift:
    """One slope over the conditions of a group, in the metric's unit for each trial."""

    metric: str
    #: What the conditions have in common; how many factors it names is the depth of the group.
    common: Mapping[str, Level]
    trials: tuple[PrintedTrials, ...]
    #: `None` where the trials allow none, for which `why` has the reason.
    drift: Drift | None
    why: str
    #: p of the slope, corrected for the groups of the same depth.
    p_holm: float | None = None

    @property
    def depth(self) -> int:
        """How many factors the group has in common."""
        return len(self.common)

    @property
    def change(self) -> float | None:
        """What the slope makes from the first number to the last, in the metric's unit."""
        numbers = [number for one in self.trials for number in one.numbers]
        return None if self.drift is None else self.drift.slope * (max(numbers) - min(numbers))


def order_drifts(published: Published) -> tuple[OrderDrift, ...]:
    """
    The drift of every group of conditions: those that share their first factor, those that share
    their first two, and so on to single conditions.

    Linear, in the unit of the trials, as the differences of means are printed in. p is corrected by
    Holm's method within each depth, as a depth asks one question of all trials.
    """
    from lanlab.analysis.statistics import holm

    found: list[OrderDrift] = []
    trials = printed_trials_of(published)
    for metric in dict.fromkeys(one.metric for one in trials):
        own = [one for one in trials if one.metric == metric]
        deepest = max(len(one.condition) for one in own)
        for depth in range(1, deepest + 1):
            at_depth = [
                _drift(metric, dict(common), group) for common, group in _groups(own, depth).items()
            ]
            tested = [one for one in at_depth if one.drift is not None]
            corrected = holm([one.drift.p for one in tested if one.drift is not None])
            by_group = dict(zip(map(id, tested), corrected, strict=True))
            found += [replace(one, p_holm=by_group.get(id(one))) for one in at_depth]
    return tuple(found)


def _groups(
    trials: Sequence[PrintedTrials], depth: int
) -> dict[tuple[tuple[str, Level], ...], list[PrintedTrials]]:
    groups: dict[tuple[tuple[str, Level], ...], list[PrintedTrials]] = {}
    for one in trials:
        common = tuple(list(one.condition.items())[:depth])
        groups.setdefault(common, []).append(one)
    return groups


def _drift(metric: str, common: Mapping[str, Level], trials: Sequence[PrintedTrials]) -> OrderDrift:
    from lanlab.analysis.statistics import drift

    seen, why = None, ""
    try:
        seen = drift([one.values for one in trials], [one.numbers for one in trials])
    except LabError as error:
        why = error.message
    return OrderDrift(metric, dict(common), tuple(trials), seen, why)
