"""Published values with the results of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lanlab.analysis.findings.evidence import Cell as Numbers
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.published.values import amount_of
from lanlab.analysis.trials.attempts import condition_key
from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import interval_of_mean
from lanlab.figures.number_text import with_interval
from lanlab.figures.published_values import level_title
from lanlab.figures.wording import quantity
from lanlab.frozen import dataclass
from lanlab.plan.conditions import Condition
from lanlab.report.document.table import EMPTY, NO_TABLE, Cell, Column, Table, words
from lanlab.store import Level
from lanlab.studies.model import Study
from lanlab.studies.published import Published, PublishedValue
from lanlab.units import format_size
from lanlab.workloads.copy.datasets import mean_bytes, mean_file_bytes

_METRIC = "goodput_bps"


@dataclass(frozen=True)
class _Body:
    kind: str
    name: str
    study: Study
    found: tuple[tuple[Numbers, Condition], ...]
    copied_bytes: Mapping[tuple[str, str], float]

    def at(self, levels: Mapping[str, Level]) -> tuple[Numbers, Condition] | None:
        own = ((c, o) for c, o in self.found if levels.items() <= c.levels.items())
        return next(own, None)


def values_table(published: Published, runs: Sequence[RunData]) -> Table:
    """A row for each published mean of a rate, with columns for each measured or simulated run."""
    printed = printed_means(published, _METRIC)
    # Thousands of trials take a second.
    bodies = [_body(run) for run in runs] if printed else []
    bodies = [body for body in bodies if any(body.at(value.condition) for value in printed)]
    bodies.sort(key=lambda body: body.kind, reverse=True)
    if not bodies:
        return NO_TABLE
    factors = {name for value in printed for name in value.condition}
    titles = {one.name: one.title for one in published.factor if one.name in factors}
    kinds = [body.kind for body in bodies]
    heads = [b.kind if kinds.count(b.kind) == 1 else f"{b.kind} ({b.name})" for b in bodies]
    shown = quantity(bodies[0].study, _METRIC)
    columns = (
        *(Column(name, title, title, is_number=False) for name, title in titles.items()),
        Column(f"printed ({shown.si_unit})"),
        Column("", f"printed ({shown.unit})", f"printed ({shown.unit})"),
        *(
            column
            for place, head in enumerate(heads, 1)
            for column in _columns(
                f"{place} {head}", head, shown.si_unit, shown.unit, kinds[place - 1]
            )
        ),
    )
    rows = tuple(
        (
            *(
                words(level_title(published, name, value.condition.get(name, "")))
                for name in titles
            ),
            Cell(value.si, ""),
            Cell(None, value.published),
            *(
                cell
                for body in bodies
                for cell in _cells(body, value, amount_of(published, value.condition))
            ),
        )
        for value in printed
    )
    measured = " and ".join(dict.fromkeys(kinds))
    title = f"Published{',' if len(set(kinds)) > 1 else ' and'} {measured}"
    return Table("printed-measured-simulated", title, columns, rows)


def printed_means(published: Published, metric: str) -> list[PublishedValue]:
    return [
        value
        for value in published.value
        if value.metric == metric and value.statistic == "mean" and value.kind == "table"
    ]


def _body(data: RunData) -> _Body:
    evidence = data.evidence.on_this_system()
    found = evidence.with_conditions(_METRIC)
    kind = "simulated" if evidence.is_model else "measured"
    copied = {
        (condition.experiment, condition_key(condition.factors)): own.sample.mean
        for own, condition in evidence.with_conditions("copied_bytes")
    }
    return _Body(kind, data.run.id, evidence.study, tuple(found), copied)


def _columns(name: str, head: str, si_unit: str, unit: str, kind: str) -> tuple[Column, ...]:
    of = " over seeds" if kind == "simulated" else ""
    return (
        *(
            Column(f"{name}{end} ({si_unit})")
            for end in ("", f", 95 % low{of}", f", 95 % high{of}")
        ),
        Column("", f"{head} ({unit})", f"{head} ({unit})"),
    )


def _cells(body: _Body, value: PublishedValue, printed_bytes: float | None) -> tuple[Cell, ...]:
    own = body.at(value.condition)
    if own is None:
        return (EMPTY,) * 4
    found, condition = own
    assert isinstance(found.sample, Trials)
    shown = quantity(body.study, _METRIC)
    low, high = interval_of_mean(_METRIC, found.sample.values, found.limit) or (None, None)
    mean, is_simulated = shown.shown(found.sample.mean), body.kind == "simulated"
    ends = None if is_simulated else shown.interval(low, high)
    text = with_interval(mean, ends, is_simulated=is_simulated)
    copied = body.copied_bytes.get((condition.experiment, condition_key(condition.factors)))
    if copied and printed_bytes and not math.isclose(copied, printed_bytes, rel_tol=0.01):
        dataset = str(condition.parameters.get("dataset"))
        text += f", of {format_size(round(copied))}"
        if copied < printed_bytes and mean_file_bytes(dataset) != mean_bytes(dataset):
            # These have a lower rate.
            text += ", smaller files"
    return (
        *(Cell(value, "") for value in (found.sample.mean, low, high)),
        Cell(None, text),
    )
