"""Checks of well-formed findings and published numbers: names exist, and ids are unique."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lanlab.studies.base import Level
from lanlab.studies.expressions import BadExpression, evaluate
from lanlab.studies.findings import (
    FORMS,
    MAX_STATEMENT_DEPTH,
    AllOf,
    AnyOf,
    Clusters,
    Count,
    Finding,
    Former,
    Order,
    Statement,
    Untestable,
)
from lanlab.studies.problems import Problem, did_you_mean, listed, repeated, show
from lanlab.studies.published import Published
from lanlab.studies.selection import Selection
from lanlab.studies.tables import laid_out
from lanlab.studies.vocabulary import Vocabulary

_FACTOR_KEYS = ("along", "across")
#: Keys of a statement that hold levels of the factor `along`.
_LEVEL_KEYS = ("at_level", "peak_at_most", "levels", "positive", "negative")
_RESERVED = ("metric", "take")


def finding_problems(
    findings: Sequence[Finding], words: Vocabulary, numbers: Mapping[str, float]
) -> Iterator[Problem]:
    """
    All errors of well-formed findings.

    Args:
        findings: Findings of one file.
        words: The known metrics, factors and levels.
        numbers: The published numbers by id, for `recompute`.
    """
    yield from repeated("finding", (finding.id for finding in findings), "findings ")
    for finding in findings:
        place = f"finding.{finding.id}"
        yield from _statement(f"{place}.statement", finding.statement, words, False, 1)
        for number in finding.stated_by:
            if number not in numbers:
                hint = did_you_mean(number, numbers)
                yield Problem(f"{place}.stated_by", show(number), "ids of published numbers", hint)
        if finding.expected is not None and finding.expected.recompute is not None:
            key = f"{place}.expected.recompute"
            yield from recompute_problems(key, finding.expected.recompute, numbers)


def recompute_problems(
    key: str, expression: str, numbers: Mapping[str, float]
) -> Iterator[Problem]:
    try:
        found = evaluate(expression, numbers.__getitem__)
    except BadExpression as error:
        yield Problem(key, error.found, error.allowed)
        return
    if found is not True:
        yield Problem(key, f"what comes to {show(found)}", "what is true of the published numbers")


def _statement(
    place: str, statement: Statement, words: Vocabulary, has_metric: bool, depth: int
) -> Iterator[Problem]:
    form = statement.form
    if depth > MAX_STATEMENT_DEPTH:
        yield Problem(place, "statements within statements", f"at most {MAX_STATEMENT_DEPTH} deep")
        return
    if isinstance(statement, Former):
        yield Problem(f"{place}.form", show(form), listed(FORMS))
        return
    for key in ("metric", "at", "a", "b"):
        found = getattr(statement, key, None)
        if key == "metric" and found is not None:
            yield from _metric(f"{place}.metric", form, found, words)
        elif isinstance(found, Selection):
            yield from _selection(f"{place}.{key}", form, found, words)
    for key in (*_FACTOR_KEYS, "for_each", "over"):
        found = getattr(statement, key, None) or ()
        for factor in (found,) if isinstance(found, str) else found:
            if factor not in words.factors:
                yield _unknown(f"{place}.{key}", form, "factor", factor, words.factors)
    yield from _levels_along(place, statement, words)

    has_metric = has_metric or any(
        one is not None and one.metric is not None for one in (statement, statement.at)
    )
    inner = statement.of if isinstance(statement, AllOf | AnyOf) else ()
    if isinstance(statement, Count):
        yield from _statement(f"{place}.of", statement.of, words, has_metric, depth + 1)
        return
    for number, one in enumerate(inner):
        yield from _statement(f"{place}.of.{number}", one, words, has_metric, depth + 1)
    if inner or isinstance(statement, Untestable):
        return
    pair = (getattr(statement, "a", None), getattr(statement, "b", None))
    if not has_metric and not all(one is not None and one.metric is not None for one in pair):
        yield Problem(
            f"{place}.metric",
            _found("nothing", form),
            "a metric",
            f"known: {listed(words.metrics)}",
        )


def _levels_along(place: str, statement: Statement, words: Vocabulary) -> Iterator[Problem]:
    factor = getattr(statement, "along", "")
    if factor not in words.factors:
        return
    named: list[tuple[str, Level]] = []
    for key in _LEVEL_KEYS:
        found = getattr(statement, key, None)
        if found is not None:
            named += [(key, one) for one in (found if isinstance(found, tuple) else (found,))]
    if isinstance(statement, Clusters):
        named += [("groups", one) for group in statement.groups for one in group]
    for key, level in named:
        yield from _level(f"{place}.{key}", statement.form, factor, level, words)
    if isinstance(statement, Order | Clusters):
        for level, count in Counter(map(repr, (one for _, one in named))).items():
            if count > 1:
                yield Problem(place, _found(f"{level} {count} times", statement.form), "once")


def _selection(place: str, form: str, selection: Selection, words: Vocabulary) -> Iterator[Problem]:
    if selection.metric is not None:
        yield from _metric(f"{place}.metric", form, selection.metric, words)
    for factor, levels in selection.levels.items():
        key = f"{place}.{factor}"
        if factor not in words.factors:
            known = ("metric", "take", *words.factors)
            yield _unknown(key, form, "factor", factor, known)
            continue
        for level in levels if isinstance(levels, tuple) else (levels,):
            yield from _level(key, form, factor, level, words)


def _metric(key: str, form: str, metric: str, words: Vocabulary) -> Iterator[Problem]:
    if metric not in words.metrics:
        yield _unknown(key, form, "metric", metric, words.metrics)


def _level(key: str, form: str, factor: str, level: Level, words: Vocabulary) -> Iterator[Problem]:
    if not words.has_level(factor, level):
        known = [one if isinstance(one, str) else show(one) for one in words.factors[factor]]
        found = _found(f"{show(level)}, no level of `{factor}`", form)
        allowed = listed(known) if known else "a number"
        yield Problem(key, found, allowed, did_you_mean(level, known))


def _unknown(key: str, form: str, what: str, name: str, known: Iterable[str]) -> Problem:
    names = list(known)
    found = _found(f"unknown {what} {show(name)}", form)
    return Problem(key, found, listed(names), did_you_mean(name, names))


def _found(found: str, form: str) -> str:
    return f"{found} (form `{form}`)"


def published_problems(published: Published) -> Iterator[Problem]:
    """All errors of a well-formed `published.toml`."""
    yield from _once("value", (value.id for value in published.printed))
    yield from _once("table", (table.id for table in published.table))
    yield from _once("figure", (figure.number for figure in published.figure))
    yield from _once("discrepancy", (one.id for one in published.discrepancy))
    yield from _once("metric", (metric.name for metric in published.metric))
    yield from _once("factor", (factor.name for factor in published.factor))
    for factor in published.factor:
        place = f"factor.{factor.name}"
        if factor.name in _RESERVED:
            yield Problem(f"{place}.name", show(factor.name), f"not {listed(_RESERVED)}")
        yield from _once(f"{place}.levels", (repr(one.level) for one in factor.levels))
    for table in published.table:
        try:
            laid_out(published, table)
        except ValueError as error:
            yield Problem(
                f"table.{table.id}", str(error), "factors that there are, one number a cell"
            )
    numbers = published.numbers()
    for one in published.discrepancy:
        if one.recompute is not None:
            key = f"discrepancy.{one.id}.recompute"
            yield from recompute_problems(key, one.recompute, numbers)


def _once(place: str, names: Iterable[str]) -> Iterator[Problem]:
    for name, count in Counter(names).items():
        if count > 1:
            again = "twice" if count == 2 else f"{count} times"
            yield Problem(f"{place}.{name}.id", f"the id {again}", "once")
