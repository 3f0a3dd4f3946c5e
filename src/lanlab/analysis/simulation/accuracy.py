"""The accuracy of a simulation: each published number with the simulated one."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, get_args

from lanlab.analysis.findings.evidence import Cell
from lanlab.analysis.findings.printed import ratio_of
from lanlab.analysis.published.values import is_own
from lanlab.frozen import dataclass
from lanlab.store import Level
from lanlab.studies.base import is_level
from lanlab.studies.expressions import evaluate
from lanlab.studies.machines import Simulation, known_machine, place_factors, place_of
from lanlab.studies.plain_level import plain_level
from lanlab.studies.published import Published, PublishedValue

#: How a published number was used for the machines: predicted before a later fit used it, fitted,
#: excluded before any fitting, or not used.
Standing = Literal["predicted before the fit", "held out", "fitted", "not fitted"]
STANDINGS: tuple[Standing, ...] = get_args(Standing)
PREDICTED: tuple[Standing, ...] = STANDINGS[:2]
WITHIN_RATIOS = (0.05, 0.1, 0.2)
#: A baseline with a smaller error equals the published number.
_EXACT_RATIO = 1e-6
#: Keys that name the sides of a published number or distinguish trials; all others are levels.
_NO_LEVELS = frozenset({"numerator", "denominator", "minuend", "subtrahend", "trial"})
#: Statistics of two conditions.
PAIRED = frozenset({"ratio", "gain", "deficit"})
_READ = frozenset({"mean", "minimum", "maximum", "share_of_link"}) | PAIRED


@dataclass(frozen=True)
class Accuracy:
    value: PublishedValue
    standing: Standing
    #: In the unit of the comparison; for a gain or deficit, the corresponding ratio.
    published: float
    simulated: float
    how: str
    conditions: tuple[str, ...]
    #: For a predicted number: the estimate from the publication alone, in the same unit. `None` if
    #: not given.
    baseline: float | None = None
    #: Id of the counted value that is the same published number under the same conditions.
    repeats: str | None = None
    #: Range of the simulated value that the fit leaves open; `None`: not computed.
    low: float | None = None
    high: float | None = None

    @property
    def baseline_error_ratio(self) -> float | None:
        return None if self.baseline is None else (self.baseline - self.published) / self.published

    @property
    def skill(self) -> float | None:
        """Skill: 1 - error of the simulation / error of the baseline. 1 is exact; at 0 or below the
        simulation is no better than the publication. `None` without a baseline, or if the baseline
        is exact.
        """
        known = self.baseline_error_ratio
        if known is None or self.is_exact_by_print:
            return None
        return 1 - abs(self.error_ratio) / abs(known)

    @property
    def is_exact_by_print(self) -> bool:
        known = self.baseline_error_ratio
        return known is not None and abs(known) <= _EXACT_RATIO

    @property
    def can_fail(self) -> bool:
        """Whether the simulation could miss it: false if the publication alone determines it."""
        return self.is_counted and not self.is_exact_by_print

    @property
    def error_ratio(self) -> float:
        return (self.simulated - self.published) / self.published

    @property
    def is_counted(self) -> bool:
        """Whether it counts for the accuracy: it is not a bound and not counted elsewhere."""
        return not self.is_bound and self.repeats is None

    @property
    def is_bound(self) -> bool:
        return self.value.bound in (">=", "<=", "<", ">")


def accuracies(
    published: Published, simulation: Simulation, cells_of: Mapping[str, Sequence[Cell]]
) -> list[Accuracy]:
    """
    Every published number with a counterpart among the simulated conditions.

    Args:
        published: The study's published values.
        simulation: Its machines.
        cells_of: The simulated conditions, by metric.

    Returns:
        First the numbers predicted before a fit used them, then all in the order of the
            publication. Differences are omitted, because they follow from two means.
    """
    ranges = {one.value: (one.low, one.high) for one in simulation.range}
    found: list[Accuracy] = []
    for value in published.value:
        cells = cells_of.get(value.metric, ())
        if not is_own(value) or value.statistic not in _READ or not cells:
            continue
        one = read_off(value, published, simulation, cells)
        if one is not None:
            baseline = _baseline(one, published, simulation)
            low, high = ranges.get(value.id, (None, None))
            repeats = _repeated(one, found)
            found.append(replace(one, baseline=baseline, repeats=repeats, low=low, high=high))
    return [*_before_the_fit(found, published, simulation), *found]


def kept_accuracies(published: Published, simulation: Simulation) -> list[Accuracy]:
    """Stored comparisons with numbers that nothing was fitted to, for any simulated conditions."""
    numbers = {value.id: value for value in published.value}
    ranges = {one.value: (one.low, one.high) for one in simulation.range}
    found = []
    for kept in simulation.prediction:
        value = numbers[kept.value]
        ratio = ratio_of(value, published)
        is_held_out = value.id in simulation.held_out
        # The stored range belongs to machines that a later fit has replaced.
        low, high = ranges.get(value.id, (None, None)) if is_held_out else (None, None)
        one = Accuracy(
            value,
            "held out" if is_held_out else "predicted before the fit",
            value.si if ratio is None else ratio.ratio.mean,
            kept.simulated,
            "kept with the study",
            (),
            low=low,
            high=high,
        )
        found.append(replace(one, baseline=_baseline(one, published, simulation)))
    return found


def _before_the_fit(
    found: Iterable[Accuracy], published: Published, simulation: Simulation
) -> Iterator[Accuracy]:
    simulated = {one.value: one.simulated for one in simulation.prediction}
    for one in found:
        if one.standing == "fitted" and one.value.id in simulated:
            before = replace(
                one,
                standing="predicted before the fit",
                simulated=simulated[one.value.id],
                low=None,
                high=None,
            )
            yield replace(before, baseline=_baseline(before, published, simulation))


def _repeated(one: Accuracy, before: Iterable[Accuracy]) -> str | None:
    """An earlier value that is the same published number, such as "86 at most" and "86 at 1152
    bytes", or the time and the rate of a transfer.
    """
    return next((other.value.id for other in before if _is_same(one, other)), None)


def _is_same(one: Accuracy, other: Accuracy) -> bool:
    if one.conditions != other.conditions:
        return False
    if one.value.metric == other.value.metric:
        return (one.published, one.simulated) == (other.published, other.simulated)
    if {one.value.metric, other.value.metric} != {"goodput_bps", "elapsed_ns"}:
        return False
    # Time and rate follow from one amount, so both are right or both are wrong.
    moved, printed = one.simulated * other.simulated, one.published * other.published
    return math.isclose(moved, printed, rel_tol=0.02)


def _baseline(one: Accuracy, published: Published, simulation: Simulation) -> float | None:
    given = [each for each in simulation.baseline if each.value == one.value.id]
    if one.standing not in PREDICTED or not given:
        return None
    numbers = {value.id: value.value for value in published.value}
    guess = float(evaluate(given[0].guess, numbers.__getitem__))
    if one.value.statistic in PAIRED:
        return guess
    return guess * one.value.si / one.value.value


@dataclass(frozen=True)
class Freedom:
    """Machines' numbers that were fitted to published values of a metric, and these values."""

    metric: str
    free: int
    values: int

    @property
    def left(self) -> int:
        """Degrees of freedom. At 0 or below, any fitted values would agree."""
        return self.values - self.free


def freedoms(published: Published, simulation: Simulation) -> list[Freedom]:
    """Free numbers and fitted published values by metric. A number that several machines share
    counts once.
    """
    metrics = {value.id: value.metric for value in published.value}
    free: dict[str, set[object]] = {}
    values: dict[str, set[str]] = {}
    for machine in simulation.machine:
        for name, number in machine.numbers.items():
            if number.fitted:
                metric = metrics[number.fitted[0]]
                free.setdefault(metric, set()).add((name, number.value, number.fitted))
                values.setdefault(metric, set()).update(number.fitted)
    return [Freedom(metric, len(own), len(values[metric])) for metric, own in free.items()]


def read_off(
    value: PublishedValue,
    published: Published,
    simulation: Simulation,
    cells: Sequence[Cell],
) -> Accuracy | None:
    """The counterpart of one published number; `None` if no simulated condition has one."""
    wanted = _levels(value, simulation)
    own = [cell for cell in cells if _has(cell, wanted)]
    if value.statistic in PAIRED:
        return _ratio(value, published, simulation, own)
    if not own or not _has_extremes(own, wanted):
        return None
    if value.statistic == "share_of_link":
        shares = [(cell.sample.mean / cell.limit, cell) for cell in own if cell.limit]
        if not shares:
            return None
        share, cell = max(shares, key=lambda one: (one[1].is_peak, one[0]))
        how = "share of the link at the peak" if cell.is_peak else "greatest share of the link"
        if not wanted.keys() <= value.condition.keys():
            how = "share of the link in one condition"
        return _accuracy(value, simulation, share, how, [cell])
    is_least = value.statistic == "minimum"
    cell = min(own, key=lambda one: one.sample.mean) if is_least else _greatest(own)
    how = "lowest mean" if is_least else "peak" if cell.is_peak else "highest mean"
    if len(own) == 1:
        how = "mean"
    return _accuracy(value, simulation, cell.sample.mean, how, [cell])


def _has_extremes(cells: Sequence[Cell], fixed: Collection[str]) -> bool:
    """Whether the scale omits no level that the publication leaves open."""
    return any(one.is_peak for one in cells) or all(one.thinned <= set(fixed) for one in cells)


def _greatest(cells: Sequence[Cell]) -> Cell:
    return max(cells, key=lambda one: (one.is_peak, one.sample.mean))


def fitted_names(
    published: Published, simulation: Simulation, cells_of: Mapping[str, Sequence[Cell]]
) -> dict[str, set[str]]:
    """
    Names of the simulated conditions of each published value that was used for a fit. A value over
    several conditions, such as a maximum over stations, belongs to each of them.
    """
    found: dict[str, set[str]] = {}
    for value in (one for one in published.value if one.statistic in _READ):
        wanted, pair = _levels(value, simulation), ratio_of(value, published)
        levels = () if pair is None else (*pair.numerators, *pair.denominators)
        sides = [{**wanted, pair.factor: one} for one in levels] if pair else [wanted]
        for cell in cells_of.get(value.metric, ()):
            is_fitted = standing_of(value.id, simulation, [cell.levels]) == "fitted"
            if is_fitted and any(_has(cell, side) for side in sides):
                found.setdefault(value.id, set()).add(cell.name)
    return found


def counts(found: Iterable[Accuracy]) -> tuple[int, ...]:
    """
    How many of the comparable values are within each of `WITHIN_RATIOS`, and how many there are.
    """
    errors = [abs(one.error_ratio) for one in found if one.can_fail]
    # Tolerance for the rounding of decimals.
    within = [sum(error <= ratio + 1e-12 for error in errors) for ratio in WITHIN_RATIOS]
    return (*within, len(errors))


def _ratio(
    value: PublishedValue,
    published: Published,
    simulation: Simulation,
    own: Sequence[Cell],
) -> Accuracy | None:
    printed = ratio_of(value, published)
    if printed is None:
        return None
    compared = (*printed.numerators, *printed.denominators)
    alike = _alike(own, printed.factor, compared, simulation)
    fixed = {*_levels(value, simulation), printed.factor}
    sides, used = [], []
    for levels in (printed.numerators, printed.denominators):
        each = [[cell for cell in alike if _has(cell, {printed.factor: level})] for level in levels]
        if not all(cells and _has_extremes(cells, fixed) for cells in each):
            return None
        best = [_greatest(cells) for cells in each]
        sides.append(sum(cell.sample.mean for cell in best) / len(best))
        used += best
    are_peaks = all(cell.is_peak for cell in used)
    how = "ratio of the peaks" if are_peaks else "ratio of the highest means"
    return _accuracy(value, simulation, sides[0] / sides[1], how, used, printed.ratio.mean)


def _alike(
    own: Sequence[Cell], factor: str, compared: Sequence[Level], simulation: Simulation
) -> list[Cell]:
    others = sorted(place_factors(simulation) - {factor})

    def place(cell: Cell) -> tuple[Level | None, ...]:
        return tuple(cell.levels.get(name) for name in others)

    places = [
        {place(cell) for cell in own if _has(cell, {factor: level})}
        for level in dict.fromkeys(compared)
    ]
    common = set.intersection(*places) if places else set()
    return [cell for cell in own if place(cell) in common] if len(common) == 1 else []


def _accuracy(
    value: PublishedValue,
    simulation: Simulation,
    simulated: float,
    how: str,
    cells: Sequence[Cell],
    published: float | None = None,
) -> Accuracy:
    return Accuracy(
        value,
        standing_of(value.id, simulation, [cell.levels for cell in cells]),
        value.si if published is None else published,
        simulated,
        how,
        tuple(cell.name for cell in cells),
    )


def standing_of(
    value_id: str, simulation: Simulation, conditions: Iterable[Mapping[str, Level]]
) -> Standing:
    for levels in conditions:
        place = place_of(simulation, levels)
        for name in () if place is None else place.machines:
            if value_id in known_machine(simulation, name).fitted:
                return "fitted"
    return "held out" if value_id in simulation.held_out else "not fitted"


def _levels(value: PublishedValue, simulation: Simulation) -> dict[str, Level]:
    own = {key: level for key, level in value.condition.items() if key not in _NO_LEVELS}
    for reading in simulation.reading:
        if reading.value == value.id:
            own |= reading.at
    return own


def _has(cell: Cell, wanted: Mapping[str, Level]) -> bool:
    return all(
        key in cell.levels and is_level(plain_level(key, cell.levels[key]), plain_level(key, level))
        for key, level in wanted.items()
    )
