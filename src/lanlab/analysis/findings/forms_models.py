"""Statements that fit a model to trials: the bend of a curve, or the variance that a factor
explains.
"""

from __future__ import annotations

from collections.abc import Callable

from lanlab.analysis.findings.claim import Comparison, Gap, Node, Truth
from lanlab.analysis.findings.compare import at_common
from lanlab.analysis.findings.forms_simple import all_or_gap
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.findings.scope import Scope
from lanlab.analysis.findings.sides import Series, Side, gap, series
from lanlab.analysis.statistics.explained import explained_share
from lanlab.analysis.statistics.samples import scale_of
from lanlab.analysis.statistics.saturation import two_lines
from lanlab.errors import UnfitValues
from lanlab.studies import findings as forms
from lanlab.studies.base import Level

Interval = Callable[[float], tuple[float, float]]
_INFINITE = float("inf")
_HALVINGS = 30


def knee(statement: forms.Knee, scope: Scope) -> Node:
    parts: list[Node] = []
    for one in series(scope, statement.along):
        parts += one.gaps or [_knee(one, statement, scope.metric) if one.places else gap(scope)]
    return all_or_gap(parts, scope)


def _knee(one: Series, statement: forms.Knee, metric: str) -> Node:
    x, y, names = [], [], []
    for level, place in one.places.items():
        cell = place.found.cell if isinstance(place.found, Side) else None
        sample = None if cell is None else cell.sample
        if cell is None or not isinstance(sample, Trials) or isinstance(level, str):
            return Gap("a bend is looked for in trials at levels that are numbers", True)
        x += [float(level)] * len(sample.values)
        y += list(sample.values)
        names.append(cell.name)
    try:
        best = two_lines(x, y).breakpoint
    except UnfitValues as error:
        return Gap(f"no bend to be looked for: {error.message}", True)

    def interval(confidence: float) -> tuple[float, float]:
        found = two_lines(x, y, confidence=confidence)
        low = -_INFINITE if found.low is None else found.low
        return low, _INFINITE if found.high is None else found.high

    return _by_interval(
        what=f"bend along {one.along}{at_common(list(one.places.values()))}",
        metric=metric,
        measure="place",
        value=best,
        least=statement.between[0],
        most=statement.between[1],
        test="F of two straight lines",
        interval=interval,
        n=(len(y),),
        conditions=tuple(names),
    )


def effect(statement: forms.Effect, scope: Scope) -> Node:
    """The share of the trials' variance that lies between the levels of a factor."""
    values: list[float] = []
    levels: list[Level] = []
    cells = [cell for cell in scope.cells() if statement.factor in cell.levels]
    trials = [cell for cell in cells if isinstance(cell.sample, Trials)]
    if not trials:
        partial = bool(cells)
        why = scope.evidence.why_not(scope.metric, {**scope.named, statement.factor: ()})
        return Gap(why, partial)
    for cell in trials:
        assert isinstance(cell.sample, Trials)
        values += cell.sample.values
        levels += [cell.levels[statement.factor]] * len(cell.sample.values)
    if len(set(levels)) < 2 or statement.factor not in trials[0].varied:
        return Gap(f"{statement.factor} has a single level; the claim needs two")
    scale = scale_of(scope.metric) if min(values) > 0 else "linear"

    def share(confidence: float) -> tuple[float, float, float]:
        # Only one factor is fitted, so the residual contains all other variation.
        found = explained_share(values, levels, scale=scale, confidence=confidence)
        return found.share, found.low, found.high

    try:
        seen = share(0.95)[0]
    except UnfitValues as error:
        return Gap(f"what {statement.factor} explains is not known: {error.message}", True)
    return _by_interval(
        what=f"share of the variation that {statement.factor} explains",
        metric=scope.metric,
        measure="share",
        value=seen,
        least=statement.min_share,
        most=statement.max_share,
        test="analysis of variance, noncentral F",
        interval=lambda confidence: share(confidence)[1:],
        n=(len(values),),
        conditions=tuple(cell.name for cell in trials),
    )


def _by_interval(
    *,
    what: str,
    metric: str,
    measure: str,
    value: float,
    least: float | None,
    most: float | None,
    test: str,
    interval: Interval,
    n: tuple[int, ...],
    conditions: tuple[str, ...],
) -> Comparison:
    low = -_INFINITE if least is None else least
    high = _INFINITE if most is None else most

    def keeps(ends: tuple[float, float]) -> bool:
        return low <= ends[0] and ends[1] <= high

    def leaves(ends: tuple[float, float]) -> bool:
        return ends[1] < low or ends[0] > high

    point: Truth = "holds" if low <= value <= high else "does not hold"
    return Comparison(
        what=what,
        metric=metric,
        measure="place" if measure == "place" else "share",
        value=value,
        least=least,
        most=most,
        basis="tested",
        test=test,
        point=point,
        unit="level" if measure == "place" else "share",
        p_for=_p(interval, keeps),
        p_against=_p(interval, leaves),
        n=n,
        conditions=conditions,
        interval=interval,
        is_planned=False,
    )


def _p(interval: Interval, is_so: Callable[[tuple[float, float]], bool]) -> float:
    if not is_so(interval(1e-6)):
        return 0.5
    # Search on a log scale, because small p matter.
    few, many = 1e-12, 1.0
    if is_so(interval(1 - few)):
        return few / 2
    for _ in range(_HALVINGS):
        middle = (few * many) ** 0.5
        few, many = (few, middle) if is_so(interval(1 - min(middle, 1 - 1e-6))) else (middle, many)
    return many / 2
