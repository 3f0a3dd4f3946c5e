"""Published values and other published statements, with the results of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lanlab.analysis.copy_cost import DATASET, Cost
from lanlab.analysis.findings.evidence import Cell as Numbers
from lanlab.analysis.findings.run_evidence import RunEvidence, condition_key
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.published import amount_of
from lanlab.analysis.published_statements import Statement, statements
from lanlab.analysis.run_data import RunData
from lanlab.analysis.summary import interval_of_mean
from lanlab.figures.number_text import number, percent, plain, with_interval
from lanlab.figures.wording import BOUNDS, level_text, obtained, quantity, quoted
from lanlab.frozen import dataclass
from lanlab.plan import Condition
from lanlab.report.copies.copy_table import WIRE_FACTORS, WIRE_NAMES, wire_costs
from lanlab.report.document.table import EMPTY, NO_TABLE, Cell, Column, Table, words
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies import Published, PublishedValue, Study
from lanlab.units import format_size

_METRIC = "goodput_bps"
Run = tuple[RunRecord, Sequence[TrialRecord]]


@dataclass(frozen=True)
class _Body:
    kind: str
    name: str
    study: Study
    found: tuple[tuple[Numbers, Condition], ...]
    wire: Mapping[str, Sequence[Cost | None]]
    copied_bytes: Mapping[str, float]

    def at(self, levels: Mapping[str, Level]) -> tuple[Numbers, Condition] | None:
        own = ((c, o) for c, o in self.found if levels.items() <= c.levels.items())
        return next(own, None)


def values_table(published: Published, runs: Sequence[Run]) -> Table:
    """A row for each published mean of a rate, with columns for each measured or simulated run."""
    printed = printed_means(published, _METRIC)
    # Thousands of trials take a second.
    bodies = [_body(run, trials) for run, trials in runs] if printed else []
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
            for column in _columns(f"{place} {head}", head, shown.si_unit, shown.unit)
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


def level_title(published: Published, factor: str, level: Level) -> str:
    named = published.named_level(factor, level)
    return str(level) if named is None else named.title


def _body(run: RunRecord, trials: Sequence[TrialRecord]) -> _Body:
    evidence = RunEvidence.of(run, trials).on_this_system()
    found = evidence.with_conditions(_METRIC)
    wire = {
        f"{name}: {key}": costs
        for name in dict.fromkeys(condition.experiment for _, condition in found)
        for key, costs in wire_costs(RunData(run, trials), name).items()
    }
    kind = "simulated" if evidence.is_model else "measured"
    copied = {
        condition_key(condition.experiment, condition.factors): own.sample.mean
        for own, condition in evidence.with_conditions("copied_bytes")
    }
    return _Body(kind, run.id, evidence.study, tuple(found), wire, copied)


def _columns(name: str, head: str, si_unit: str, unit: str) -> tuple[Column, ...]:
    return (
        *(Column(f"{name}{end} ({si_unit})") for end in ("", ", 95 % low", ", 95 % high")),
        Column("", f"{head} ({unit})", f"{head} ({unit})"),
        *(Column(f"{name}: {each}") for each in WIRE_NAMES),
        Column("", f"{head}: frames per kB + per file"),
        Column("", f"{head}: bytes per byte + per file"),
    )


def _cells(body: _Body, value: PublishedValue, printed_bytes: float | None) -> tuple[Cell, ...]:
    own = body.at(value.condition)
    if own is None:
        return (EMPTY,) * (6 + len(WIRE_NAMES))
    found, condition = own
    assert isinstance(found.sample, Trials)
    shown = quantity(body.study, _METRIC)
    low, high = interval_of_mean(_METRIC, found.sample.values, found.limit) or (None, None)
    text = with_interval(
        shown.shown(found.sample.mean),
        shown.interval(low, high),
        is_simulated=body.kind == "simulated",
    )
    copied = body.copied_bytes.get(condition_key(condition.experiment, condition.factors))
    if copied and printed_bytes and not math.isclose(copied, printed_bytes, rel_tol=0.01):
        text = f"{text}, of {format_size(round(copied))}"
    rest = {name: level for name, level in condition.factors.items() if name != DATASET}
    costs = body.wire.get(condition_key(condition.experiment, rest), (None,) * len(WIRE_NAMES))
    said = [
        "" if cost is None else number(factor * cost.value, 3)
        for cost, factor in zip(costs, WIRE_FACTORS, strict=True)
    ]
    sums = [f"{a} + {b}" if a else "" for a, b in (said[:2], said[2:])]
    return (
        *(Cell(value, "") for value in (found.sample.mean, low, high)),
        Cell(None, text),
        *(EMPTY if cost is None else Cell(cost.value, "") for cost in costs),
        *(Cell(None, both) for both in sums),
    )


#: Factors in the conditions of published numbers. Other keys describe properties that a run cannot
#: vary.
_PARAMETERS = frozenset({"transport", "ip_version", "message_size_bytes"})


def statement_table(data: RunData) -> Table:
    """Published statements other than absolute numbers at a single condition."""
    by = obtained(data.study).word
    columns = (
        Column("id"),
        Column("published", "the study printed", is_number=False),
        Column("about", "about", is_number=False),
        Column("where", "where", is_number=False),
        *map(Column, ("value", "bound", "unit")),
        Column("", "read as"),
        Column(by),
        Column("", f"{by} here"),
        Column("how", "how, or why not", is_number=False),
    )
    rows = [
        _row(statement, data.study)
        for statement in statements(data.run, data.trials, data.published)
    ]
    return Table("published-statements", "Other published statements", columns, tuple(rows))


def _row(statement: Statement, study: Study) -> tuple[Cell, ...]:
    value = statement.value
    condition = dict(value.condition)
    pair = [condition.pop(key, None) for key in ("numerator", "denominator")]
    about = [" to ".join(map(str, pair))] if all(pair) else []
    about += [
        level_text(study, key, level) if key in _PARAMETERS else str(level)
        for key, level in condition.items()
    ]
    ours = statement.ours
    return (
        Cell(value.id, ""),
        Cell(value.published, quoted(value.published)),
        words(", ".join(about)),
        words(value.where),
        Cell(value.si, ""),
        Cell(BOUNDS[value.bound] if value.bound else None, ""),
        words(value.si_unit),
        Cell(None, _as_read(value, study)),
        Cell(ours, ""),
        Cell(None, "" if ours is None else _in_units(value, ours, study)),
        words(statement.how),
    )


def _as_read(value: PublishedValue, study: Study) -> str:
    bound = f"{BOUNDS[value.bound]} " if value.bound else ""
    texts = {
        "share_of_link": f"{plain(100 * value.si)} % of the link",
        "ratio": f"{plain(value.si)} times",
        "gain": f"{plain(100 * value.si)} % more",
        "deficit": f"{plain(100 * value.si)} % less",
    }
    text = texts.get(value.statistic)
    if text is None:
        text = f"{value.statistic} {_in_units(value, value.si, study)}"
    return bound + text


def _in_units(value: PublishedValue, si: float, study: Study) -> str:
    if value.si_unit == "ratio":
        return percent(si) if value.statistic == "share_of_link" else number(si, 3)
    return quantity(study, value.metric).text(si)
