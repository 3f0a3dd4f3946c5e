"""Converts a statement into comparisons on one body of evidence."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lanlab.analysis.findings import forms_along, forms_simple
from lanlab.analysis.findings.claim import Gap, Joined, Node, all_of
from lanlab.analysis.findings.evidence import Evidence
from lanlab.analysis.findings.scope import Scope
from lanlab.studies import findings as forms
from lanlab.studies.base import Level
from lanlab.studies.findings import Statement


def build(statement: Statement, evidence: Evidence) -> Node:
    """All comparisons that a statement makes, with gaps where values are missing."""
    return _built(statement, Scope(evidence))


def _built(statement: Statement, outer: Scope) -> Node:
    scope = outer.of(statement)
    if isinstance(statement, forms.Value) and statement.for_each:
        by_ends = forms_simple.by_range_ends(statement, scope)
        if by_ends is not None:
            return by_ends
    if not statement.for_each:
        return _core(statement, scope)
    parts = [_core(statement, one) for one in _combinations(statement, scope, statement.for_each)]
    if parts:
        return all_of(parts)
    return _nothing(statement, scope, statement.for_each)


def _combinations(statement: Statement, scope: Scope, factors: tuple[str, ...]) -> Iterator[Scope]:
    metrics = set(_metrics(statement, scope))
    levels = [_levels(scope, factor, metrics) for factor in factors]
    is_listed = all(factor in scope.named for factor in factors)
    for combination in itertools.product(*levels):
        one: Mapping[str, Level] = dict(zip(factors, combination, strict=True))
        fixed = scope.fixed(one)
        if is_listed or any(
            scope.evidence.speaks(metric, fixed.named, factors) for metric in metrics
        ):
            yield fixed


def _levels(scope: Scope, factor: str, metrics: set[str]) -> tuple[Level, ...]:
    known: dict[Level, None] = {}
    for metric in sorted(metrics):
        own = Scope(scope.evidence, metric, scope.named, scope.take, scope.taken_lists)
        known |= dict.fromkeys(own.levels_along(factor))
        known |= dict.fromkeys(own.levels_along(factor, as_share=True))
    return tuple(known)


def _core(statement: Statement, scope: Scope) -> Node:
    match statement:
        case forms.AllOf():
            return all_of([_built(one, scope) for one in statement.of])
        case forms.AnyOf():
            return Joined("any", tuple(_built(one, scope) for one in statement.of))
        case forms.Count():
            parts = [
                _built(statement.of, one) for one in _combinations(statement, scope, statement.over)
            ]
            if not parts:
                return _nothing(statement, scope, statement.over)
            if statement.min is not None and len(parts) < statement.min:
                # With fewer comparisons than the statement requires, nothing is decided.
                over = ", ".join(statement.over)
                return Gap(
                    f"only {len(parts)} combinations of {over}; the claim needs {statement.min:g}"
                )
            return Joined("count", tuple(parts), statement.min, statement.max)
        case _:
            return _BUILDERS[type(statement)](statement, scope)


_BUILDERS: dict[type, Callable[[Any, Scope], Node]] = {
    forms.Less: forms_simple.less,
    forms.Order: forms_along.order,
    forms.Ratio: forms_simple.ratios,
    forms.Difference: forms_simple.differences,
    forms.Equivalent: forms_simple.equivalent,
    forms.Value: forms_simple.values,
    forms.Share: forms_simple.shares,
    forms.Monotone: forms_along.monotone,
    forms.Trend: forms_along.trend,
    forms.NoTrend: forms_along.no_trend,
    forms.PeakThenDecline: forms_along.peak_then_decline,
    forms.Extreme: forms_along.extreme,
    forms.Sign: forms_along.sign,
    forms.SameOrder: forms_along.same_order,
    forms.Clusters: forms_along.clusters,
    forms.Widens: forms_along.widens,
    forms.Untestable: forms_simple.untestable,
    forms.Former: forms_simple.former,
}


def _metrics(statement: Statement, scope: Scope) -> Iterator[str]:
    inner = scope.of(statement)
    sides = [getattr(statement, key, None) for key in ("a", "b")]
    yield from (side.metric for side in sides if side is not None and side.metric is not None)
    if inner.metric:
        yield inner.metric
    of = getattr(statement, "of", ())
    for one in of if isinstance(of, tuple) else (of,):
        if not isinstance(one, str):  # the `of` of `share` is a name
            yield from _metrics(one, inner)


def _nothing(statement: Statement, scope: Scope, factors: tuple[str, ...]) -> Gap:
    metric = next(_metrics(statement, scope), scope.metric)
    named = {**dict.fromkeys(factors, ()), **scope.named}
    return Gap(scope.evidence.why_not(metric, named))
