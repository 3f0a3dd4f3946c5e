"""
One metric of one condition on two sides: how they differ, how surely, and what would settle it.

Where the sides come from says how they are compared: two runs have no common blocks, so that it is
Welch's test; two levels of a factor within a run were measured in the same blocks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from lanlab.errors import LabError, UsageError
from lanlab.store import Level
from lanlab.workloads.directions import metric_direction

if TYPE_CHECKING:
    from lanlab.analysis.statistics import Comparison, Further, Margin, TwoModes
    from lanlab.analysis.statistics.samples import Scale

#: Greatest chance that any of the differences that are said to be there is none.
LEVEL = 0.05

#: A difference so much greater than that of two modes is not one of modes.
_MODES_REACH = 1.25

#: `differs`: shown, with all that was compared in mind. `equivalent`: shown to be within the
#: margin. `cannot_tell`: neither; more trials would. `no_interval`: too few trials, or equal ones.
Verdict = Literal["differs", "equivalent", "cannot_tell", "no_interval"]


@dataclass(frozen=True)
class Sample:
    """What one side has of a metric at a condition."""

    #: One for each trial that counts, in order of execution.
    values: tuple[float, ...]
    #: Block of each value.
    blocks: tuple[int, ...]
    failed: int
    missing: int
    polluted: int
    #: Mean time that a trial took, seconds.
    mean_trial_s: float

    @property
    def n(self) -> int:
        """Trials that count."""
        return len(self.values)

    @property
    def mean(self) -> float | None:
        """Arithmetic mean; `None` without a value."""
        return math.fsum(self.values) / self.n if self.values else None


@dataclass(frozen=True)
class Compared:
    """A side against the base, for one metric at one condition."""

    experiment: str
    metric: str
    #: Levels that the sides have in common, those that the experiment varies.
    factors: Mapping[str, Level]
    #: Parameters of the condition that the sides have in common.
    parameters: Mapping[str, Level]
    #: Names of the sides.
    base_name: str
    other_name: str
    base: Sample
    other: Sample
    #: What of trials makes: ratio of geometric means (`log`) or difference of means (`linear`).
    scale: Scale
    #: `other / base`, or `other - base`; `None` where a side has no value, or a ratio no meaning.
    effect: float | None
    #: Its test and interval; `None` where trials do not allow one, for which `why` has the reason.
    test: Comparison | None
    why: str
    #: p of the test, corrected for all comparisons made together; `None` without a test.
    p_holm: float | None = None
    #: The margin within which a difference is as good as none; `None` if none was declared.
    margin: Margin | None = None
    #: p of equivalence, corrected likewise; `None` without margin or test.
    p_equivalent_holm: float | None = None
    #: Further trials that would decide; `None` where decided, or not to be said.
    further: Further | None = None
    #: The modes that the trials of all that was compared are in; `None` where none can be seen.
    modes: TwoModes | None = None

    @property
    def verdict(self) -> Verdict:
        """What can be said. What is equivalent may differ as well, by less than matters."""
        if self.test is None:
            return "no_interval"
        if self.p_equivalent_holm is not None and self.p_equivalent_holm <= LEVEL:
            return "equivalent"
        return "differs" if self.differs else "cannot_tell"

    @property
    def differs(self) -> bool:
        """Whether a difference is shown, with all comparisons in mind."""
        return self.p_holm is not None and self.p_holm <= LEVEL

    @property
    def may_be_modes(self) -> bool:
        """Whether trials that come in two modes, more of one side in the slower, would look like
        the difference: it is no greater than the modes are apart."""
        if self.modes is None or not self.differs or self.scale != "log" or not self.effect:
            return False
        return abs(math.log(self.effect)) <= _MODES_REACH * math.log(self.modes.ratio)

    @property
    def better(self) -> bool | None:
        """Whether the other side is better than the base; `None` where no difference is shown, it
        may be one of modes, or the metric has no better."""
        direction = metric_direction(self.metric)
        if not self.differs or self.may_be_modes or direction is None or self.effect is None:
            return None
        none = 1.0 if self.scale == "log" else 0.0
        return (self.effect > none) == (direction == "more")


def compared(
    base: Sample,
    other: Sample,
    *,
    experiment: str,
    metric: str,
    factors: Mapping[str, Level],
    parameters: Mapping[str, Level],
    names: tuple[str, str],
    by_block: bool,
) -> Compared:
    """
    Compare two sides.

    Args:
        base, other: Their trials.
        experiment, metric, factors, parameters: What is compared.
        names: Of base and other.
        by_block: Whether both were measured in the same blocks of one run.
    """
    from lanlab.analysis.statistics import paired_by_block, scale_of, welch

    scale = scale_of(metric)
    test, why = None, ""
    if not base.n or not other.n:
        lacking = [name for name, own in zip(names, (base, other), strict=True) if not own.n]
        why = f"no trial of {' and '.join(lacking)} has a value"
    elif min(base.n, other.n) < 2 and not by_block:
        ones = [name for name, own in zip(names, (base, other), strict=True) if own.n == 1]
        why = f"one trial of {' and '.join(ones)}: no interval"
    else:
        try:
            if by_block:
                mine, theirs = (
                    dict(zip(own.blocks, own.values, strict=True)) for own in (other, base)
                )
                test = paired_by_block(mine, theirs, scale=scale)
            else:
                test = welch(other.values, base.values, scale=scale)
        except LabError as error:
            why = error.message
    effect = test.effect if test is not None else _plain_effect(base, other, scale)
    return Compared(
        experiment=experiment,
        metric=metric,
        factors=dict(factors),
        parameters=dict(parameters),
        base_name=names[0],
        other_name=names[1],
        base=base,
        other=other,
        scale=scale,
        effect=effect,
        test=test,
        why=why,
    )


def judged(found: Sequence[Compared], margin_ratio: float | None = None) -> list[Compared]:
    """
    All that was compared together, with p corrected by Holm's method over all of it: once for
    differences and, where a margin is declared, once for equivalences.

    Args:
        found: Every comparison that the user sees.
        margin_ratio: A share of each other within which two sides are as good as equal; for what
            is compared as a difference, a share of the base's mean.

    Raises:
        UsageError: A margin that is not above 0.
    """
    from lanlab.analysis.statistics import Margin, holm, tost, trials_to_decide

    if margin_ratio is not None and not (math.isfinite(margin_ratio) and margin_ratio > 0):
        raise UsageError(f"margin: need a share above 0, got {margin_ratio:g}")
    tested = [one for one in found if one.test is not None]
    corrected = dict(
        zip(
            map(id, tested),
            holm([one.test.p_two_sided for one in tested if one.test is not None]),
            strict=True,
        )
    )
    margins: dict[int, Margin] = {}
    if margin_ratio is not None:
        for one in tested:
            if one.scale == "log":
                margins[id(one)] = Margin.of_ratio(margin_ratio)
            elif one.base.mean:
                margins[id(one)] = Margin.of_difference(margin_ratio * abs(one.base.mean))
    within = [one for one in tested if id(one) in margins]
    equivalent = dict(
        zip(
            map(id, within),
            holm([tost(one.test, margins[id(one)]).p for one in within if one.test is not None]),
            strict=True,
        )
    )
    modes = _modes(found)
    done = []
    for one in found:
        own = replace(
            one,
            p_holm=corrected.get(id(one)),
            margin=margins.get(id(one)),
            p_equivalent_holm=equivalent.get(id(one)),
            modes=modes.get(one.metric),
        )
        if own.verdict == "cannot_tell" and own.test is not None:
            both = (own.base, own.other)
            mean_s = sum(side.mean_trial_s * side.n for side in both) / sum(s.n for s in both)
            try:
                further = trials_to_decide(
                    own.test,
                    mean_trial_s=max(mean_s, 1e-3),
                    margin=own.margin,
                    # Of so many that are looked at together, each must be as sure as that.
                    level=LEVEL / len(tested),
                )
            except UsageError:  # trials without any spread on a side say nothing about it
                further = None
            own = replace(own, further=further)
        done.append(own)
    return done


def _modes(found: Sequence[Compared]) -> dict[str, TwoModes | None]:
    """The modes of each metric's trials, all conditions and sides together."""
    from lanlab.analysis.statistics import two_modes

    # A base that several sides are held against is one condition.
    values: dict[str, dict[tuple[float, ...], None]] = {}
    for one in found:
        if one.scale == "log":
            values.setdefault(one.metric, {}).update(
                {one.base.values: None, one.other.values: None}
            )
    return {metric: two_modes(list(own)) for metric, own in values.items()}


def _plain_effect(base: Sample, other: Sample, scale: Scale) -> float | None:
    """The effect without a test: of a single trial, or of equal ones."""
    if not base.n or not other.n:
        return None
    if scale == "linear":
        return (other.mean or 0.0) - (base.mean or 0.0)
    if min(base.values) <= 0 or min(other.values) <= 0:
        return None
    logs = [math.fsum(map(math.log, side.values)) / side.n for side in (other, base)]
    return math.exp(logs[0] - logs[1])
