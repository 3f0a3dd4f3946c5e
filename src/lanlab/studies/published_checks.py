"""Checks of well-formed published numbers: ids are unique, and evidence can be recomputed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from lanlab.studies.finding_checks import recompute_problems
from lanlab.studies.problems import Problem, listed, show
from lanlab.studies.published import Published
from lanlab.studies.tables import laid_out

_RESERVED = ("metric", "take")


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
