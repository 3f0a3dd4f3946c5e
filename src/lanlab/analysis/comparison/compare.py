"""
One metric of one condition on two sides: the difference, its certainty, and the trials needed to
settle it.

The origin of the sides determines the unit and the possible claims (`Basis`). Two levels of a
factor within a run were measured in the same blocks, so trials are the units. For two settings
measured in separate runs, runs are the units: trials of one run share the load of those minutes and
the ports and buffers of its processes, so they differ less than runs do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from lanlab.analysis.trials.summary import LEAST_FOR_INTERVAL
from lanlab.errors import LabError, NoSpread, UsageError
from lanlab.frozen import dataclass
from lanlab.store import Level
from lanlab.workloads.metrics import metric_direction

if TYPE_CHECKING:
    from lanlab.analysis.statistics.equivalence import Margin
    from lanlab.analysis.statistics.power import Further
    from lanlab.analysis.statistics.samples import Scale
    from lanlab.analysis.statistics.two_groups import Comparison, KnownSpread
    from lanlab.analysis.statistics.two_modes import TwoModes

#: Largest probability that any of the claimed differences does not exist.
LEVEL = 0.05

#: With fewer trials or runs of each side, chance separates two modes too often: of four equal
#: services, one would be called slower in up to 22 % of runs (`bench/ranking_claims.py`).
LEAST_FOR_ORDER = 5
#: The same for sides without common blocks: 3 of one mode and 3 of the other occur in 3 % of runs.
_LEAST_UNPAIRED = 3

#: A difference larger than the modes' ratio by this factor is not due to modes.
_MODES_REACH = 1.25

#: The kind of sides, which determines the test: `levels` of a factor within one run, by block; runs
#: in alternation (`turns`), by turn; several runs of each side in `mixed` order, by Welch's test;
#: single runs, or all runs of one side first, against the spread of other runs (`known spread`).
#: These can support a claim about the settings. Two kinds only show that these runs differ, because
#: of the setting or the hour: several runs of one side `after` the other's, by Welch's test, and a
#: `single` run of each, by its trials.
Basis = Literal["levels", "turns", "mixed", "known spread", "after", "single"]
_BY_BLOCK = ("levels", "turns")
#: Numbers of blocks whose sides are exchanged. With fewer, p cannot be small enough; with more,
#: Student's t is exact enough.
_EXCHANGED = range(16, 65)
_CLAIMING = ("levels", "turns", "mixed", "known spread")
#: If most trials of a side are disturbed, they cannot show that it is better or worse.
_UNGUARDED = ("known spread", "after", "single")

#: `differs`: shown, corrected for all comparisons. `runs_differ`: shown for these runs, whose own
#: conditions may be the cause. `equivalent`: shown to be within the margin. `cannot_tell`: none of
#: these. `no_interval`: too few trials, or equal ones.
Verdict = Literal["differs", "runs_differ", "equivalent", "cannot_tell", "no_interval"]


@dataclass(frozen=True)
class Sample:
    #: One value per unit: a counting trial, in order of execution, or the mean of a run.
    values: tuple[float, ...]
    blocks: tuple[int, ...]
    failed: int
    missing: int
    disturbed: int
    #: Mean duration of a unit, seconds.
    mean_unit_s: float
    #: If units are runs: the compared means of the runs, on the metric's scale.
    centres: tuple[float, ...] = ()
    #: If units are runs: the counting trials of all runs.
    trials: int | None = None
    #: The greatest possible value, in the metric's unit; `None` if unknown.
    limit: float | None = None

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def tested(self) -> tuple[float, ...]:
        return self.centres or self.values

    @property
    def is_mostly_disturbed(self) -> bool:
        return 2 * self.disturbed > (self.n if self.trials is None else self.trials)

    @property
    def mean(self) -> float | None:
        """Arithmetic mean; `None` without values."""
        return math.fsum(self.values) / self.n if self.values else None


@dataclass(frozen=True)
class Compared:
    experiment: str
    metric: str
    factors: Mapping[str, Level]
    base_name: str
    other_name: str
    base: Sample
    other: Sample
    basis: Basis
    #: How units are combined: ratio of geometric means (`log`) or difference of means (`linear`).
    scale: Scale
    #: `other / base`, or `other - base`; `None` if a side has no value, or the ratio is undefined.
    effect: float | None
    #: The test and its interval; `None` if the trials allow none, for the reason in `why`.
    test: Comparison | None
    why: str
    #: p of the test, corrected for all comparisons made together; `None` without a test.
    p_holm: float | None = None
    #: The margin within which a difference is negligible; `None` if none was declared.
    margin: Margin | None = None
    #: p of equivalence, corrected like `p_holm`; `None` without margin or test.
    p_equivalent_holm: float | None = None
    #: Additional units needed for a decision; `None` if decided, or unknown.
    further: Further | None = None
    #: The modes of the trials of all compared sides; `None` if none are visible.
    modes: TwoModes | None = None
    #: If a side is simulated: the factor within which the ratio of both is right, see
    #: `lanlab.analysis.simulation.model_error.ratio_factor`. 1 for measured sides.
    model_factor: float = 1.0

    @property
    def unit(self) -> Literal["trial", "run"]:
        return "trial" if self.basis in ("levels", "single") else "run"

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the effect; `None` without a test, or for too few trials or runs of
        its own.
        """
        if self.is_simulated:
            if self.scale != "log" or not self.effect or math.isinf(self.model_factor):
                return None
            return self.effect / self.model_factor, self.effect * self.model_factor
        is_few = min(self.base.n, self.other.n) < LEAST_FOR_INTERVAL
        if self.test is None or (is_few and self.basis != "known spread"):
            return None
        return self.test.low, self.test.high

    @property
    def is_simulated(self) -> bool:
        return self.model_factor > 1

    @property
    def least_for_order(self) -> int:
        """The fewest trials or runs of each side that can show an order."""
        if self.basis == "known spread" or self.is_simulated:
            return 1
        return LEAST_FOR_ORDER if self.basis in _BY_BLOCK else _LEAST_UNPAIRED

    @property
    def is_too_few(self) -> bool:
        fewest = min(self.base.n, self.other.n)
        if self.test is not None and self.basis in _BY_BLOCK:
            fewest = self.test.n_a
        return fewest < self.least_for_order

    @property
    def is_within_model(self) -> bool:
        """Whether a simulated difference is within the model's error."""
        base, other = self.base.mean or 0.0, self.other.mean or 0.0
        if not self.is_simulated or math.isinf(self.model_factor) or min(base, other) <= 0:
            return self.is_simulated
        ratio = self.effect if self.scale == "log" and self.effect else other / base
        return abs(math.log(ratio)) <= math.log(self.model_factor)

    @property
    def may_claim(self) -> bool:
        """Whether the result applies to the settings, and not only to these runs."""
        return self.basis in _CLAIMING

    @property
    def verdict(self) -> Verdict:
        """The verdict. Equivalent sides may still differ by less than the margin."""
        if self.is_within_model and self.effect is not None:
            return "cannot_tell"
        if self.test is None:
            return "no_interval"
        is_alike = self.p_equivalent_holm is not None and self.p_equivalent_holm <= LEVEL
        if is_alike and not self.is_simulated:
            return "equivalent"
        if self.is_too_few or self.p_holm is None or self.p_holm > LEVEL:
            return "cannot_tell"
        return "differs" if self.may_claim else "runs_differ"

    @property
    def differs(self) -> bool:
        is_shown = self.p_holm is not None and self.p_holm <= LEVEL
        return self.may_claim and is_shown and not (self.is_too_few or self.is_within_model)

    @property
    def is_unguarded(self) -> bool:
        """
        Whether most trials of a side were disturbed, unless the basis makes both sides share that.
        """
        sides = (self.base, self.other)
        return self.basis in _UNGUARDED and any(side.is_mostly_disturbed for side in sides)

    @property
    def may_be_modes(self) -> bool:
        """Whether modes could explain the difference, with more trials of one side in the slower
        mode: the difference is no larger than the distance between the modes.
        """
        if self.modes is None or not self.differs or self.scale != "log" or not self.effect:
            return False
        return abs(math.log(self.effect)) <= _MODES_REACH * math.log(self.modes.ratio)

    @property
    def better(self) -> bool | None:
        """Whether the other side is better than the base; `None` if no difference is shown, modes
        may explain it, the metric has no better direction, or most trials of a side were disturbed.
        """
        direction = metric_direction(self.metric)
        is_open = self.may_be_modes or self.is_unguarded
        if not self.differs or is_open or direction is None or self.effect is None:
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
    names: tuple[str, str],
    basis: Basis,
    spread: KnownSpread | None = None,
) -> Compared:
    """
    Compare two sides.

    Args:
        base, other: Their trials or runs.
        experiment, metric, factors: The compared condition.
        names: Names of base and other.
        basis: The kind of sides.
        spread: The spread between runs, if the basis needs it.
    """
    from lanlab.analysis.statistics.samples import moments, scale_of
    from lanlab.analysis.statistics.two_groups import by_spread, paired_by_block, welch

    scale = scale_of(metric)
    test, why = None, ""
    if not base.n or not other.n:
        lacking = [name for name, own in zip(names, (base, other), strict=True) if not own.n]
        why = f"no trial of {' and '.join(lacking)} has a value"
    elif scale == "log" and min(*base.tested, *other.tested) <= 0:
        zero = [n for n, own in zip(names, (base, other), strict=True) if min(own.tested) <= 0]
        why = f"a value of {' and '.join(zero)} is 0, so there is no ratio"
    elif min(base.n, other.n) < 2 and basis not in _BY_BLOCK and spread is None:
        ones = [name for name, own in zip(names, (base, other), strict=True) if own.n == 1]
        unit = "trial" if basis == "single" else "run"
        why = f"one {unit} of {' and '.join(ones)}: no interval"
    else:
        try:
            if basis in _BY_BLOCK:
                mine, theirs = (
                    dict(zip(own.blocks, own.tested, strict=True)) for own in (other, base)
                )
                test = paired_by_block(mine, theirs, scale=scale)
            elif spread is not None:
                # Successive runs of one side may be as alike as trials of one run.
                mean, against = (
                    moments("side", one.tested, scale=scale, at_least=1).centre
                    for one in (other, base)
                )
                test = by_spread([mean], [against], spread, scale=scale)
            else:
                # Only trials of a single run are tested for correlation; runs share less.
                test = welch(other.tested, base.tested, scale=scale, in_order=basis == "single")
        except NoSpread:
            why = "the values show no random variation"
        except LabError as error:
            why = error.message
    effect = test.effect if test is not None else _plain_effect(base, other, scale)
    return Compared(
        experiment=experiment,
        metric=metric,
        factors=dict(factors),
        base_name=names[0],
        other_name=names[1],
        base=base,
        other=other,
        basis=basis,
        scale=scale,
        effect=effect,
        test=test,
        why=why,
    )


def corrected(found: Sequence[Compared]) -> list[Compared]:
    """All comparisons made together, with p corrected by Holm's method."""
    p_values = [_p_of(one) for one in found if one.test is not None]
    if not p_values:
        return list(found)
    from lanlab.analysis.statistics.multiple import holm

    p_holm = iter(holm(p_values))
    return [replace(one, p_holm=None if one.test is None else next(p_holm)) for one in found]


def _p_of(one: Compared) -> float:
    """p of the test; for many blocks, no less than by exchanging the sides within blocks, as
    Student's t is too bold for the differences of two modes.
    """
    assert one.test is not None
    if one.basis not in _BY_BLOCK or one.test.n_a not in _EXCHANGED or one.test.p_two_sided > LEVEL:
        return one.test.p_two_sided
    from lanlab.analysis.statistics.two_groups import exchanged_p

    mine, theirs = (dict(zip(o.blocks, o.tested, strict=True)) for o in (one.other, one.base))
    pairs = [(mine[block], theirs[block]) for block in mine if block in theirs]
    logs = [math.log(a / b) if one.scale == "log" else a - b for a, b in pairs]
    return max(one.test.p_two_sided, exchanged_p(logs))


def judged(found: Sequence[Compared], margin_ratio: float | None = None) -> list[Compared]:
    """
    All comparisons made together, with p corrected by Holm's method: once for differences and, if a
    margin is declared, once for equivalences.

    Args:
        found: Every comparison that the user sees.
        margin_ratio: Relative difference up to which two sides count as equal; for comparisons of
            differences, a share of the base's mean.

    Raises:
        UsageError: The margin is not above 0.
    """
    from lanlab.analysis.statistics.equivalence import Margin, tost
    from lanlab.analysis.statistics.multiple import holm
    from lanlab.analysis.statistics.power import trials_to_decide

    if margin_ratio is not None and not (math.isfinite(margin_ratio) and margin_ratio > 0):
        raise UsageError(f"margin: need a share above 0, got {margin_ratio:g}")
    found = corrected(found)
    tested = [one for one in found if one.test is not None]
    margins: dict[int, Margin] = {}
    if margin_ratio is not None:
        for one in tested:
            if one.scale == "log":
                margins[id(one)] = Margin.of_ratio(margin_ratio)
            elif one.base.mean:
                margins[id(one)] = Margin.of_difference(margin_ratio * abs(one.base.mean))
    # Similar runs do not prove that their settings are equivalent.
    within = [one for one in tested if id(one) in margins and one.may_claim]
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
            margin=margins.get(id(one)),
            p_equivalent_holm=equivalent.get(id(one)),
            modes=modes.get(one.metric),
        )
        is_open = own.verdict == "cannot_tell" and not (own.is_too_few or own.is_within_model)
        if is_open and own.test is not None and own.may_claim:
            both = (own.base, own.other)
            mean_s = sum(side.mean_unit_s * side.n for side in both) / sum(s.n for s in both)
            try:
                further = trials_to_decide(
                    own.test,
                    mean_trial_s=max(mean_s, 1e-3),
                    margin=own.margin,
                    # Bonferroni: each test gets an equal share of the error rate.
                    level=LEVEL / len(tested),
                )
            except UsageError:  # a side whose trials all agree
                further = None
            own = replace(own, further=further)
        done.append(own)
    return done


def _modes(found: Sequence[Compared]) -> dict[str, TwoModes | None]:
    from lanlab.analysis.statistics.two_modes import two_modes

    # Several comparisons may share a base: count its trials once.
    values: dict[str, dict[tuple[float, ...], None]] = {}
    for one in found:
        if one.scale == "log":
            values.setdefault(one.metric, {}).update(
                {one.base.values: None, one.other.values: None}
            )
    return {metric: two_modes(list(own)) for metric, own in values.items()}


def _plain_effect(base: Sample, other: Sample, scale: Scale) -> float | None:
    if not base.n or not other.n:
        return None
    if scale == "linear":
        return (other.mean or 0.0) - (base.mean or 0.0)
    if min(base.tested) <= 0 or min(other.tested) <= 0:
        return None
    logs = [math.fsum(map(math.log, side.tested)) / side.n for side in (other, base)]
    return math.exp(logs[0] - logs[1])
