"""Published conditions and conditions of a run, in separate rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lanlab.analysis.published import amount_of
from lanlab.analysis.summary import Summary, summarise
from lanlab.figures.number_text import with_interval
from lanlab.figures.wording import Obtained, as_printed, level_text, obtained, quantity
from lanlab.report.document.table import EMPTY, Cell, Column, Table, words
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies import Published, PublishedValue, Study, at_scale
from lanlab.studies.counterparts import in_published_words, stands_for_something
from lanlab.units import format_size

NOT_YET = "not yet runnable here"
_METRICS = ("elapsed_ns", "goodput_bps")
#: Replaces a time that cannot be compared with a published one.
OTHER_AMOUNT = "another amount"


@dataclass
class _Row:
    titles: dict[str, str]
    #: Sort key: the position of the level for each factor that both have.
    order: tuple[int, ...]
    amount_bytes: float | None
    published: dict[str, PublishedValue] = field(default_factory=dict)
    measured: dict[str, Summary] = field(default_factory=dict)
    #: More data than was published at these levels: rates can be compared, times cannot.
    is_of_another_amount: bool = False
    is_measured: bool = False


def published_comparison_table(
    run: RunRecord, trials: Sequence[TrialRecord], study: Study, published: Published
) -> Table:
    """
    Every published condition and every condition of the run; matching ones are adjacent.

    Returns:
        No rows if the study names no counterparts for its factors, because then conditions are
            compared one by one (`lanlab.report.metrics.metric_table`).
    """
    rows = []
    factors: list[str] = []
    if study.counterpart:
        own = _means(published)
        named = {name for value in own for name in value.condition}
        factors = [factor.name for factor in published.factor if factor.name in named]
        theirs = _published_rows(study, published, own, factors)
        ours = _measured_rows(run, trials, study, published, factors)
        for row in ours:
            alike = [one for one in theirs if _is_alike(one.order, row.order, theirs)]
            amounts = [one.amount_bytes for one in alike]
            for one in theirs:
                one.is_measured |= one.order == row.order
            row.is_of_another_amount = bool(amounts) and not any(
                one and row.amount_bytes and math.isclose(one, row.amount_bytes, rel_tol=0.01)
                for one in amounts
            )
        rows = [*theirs, *ours]
        rows.sort(key=lambda row: row.order)
    metrics = [m for m in _METRICS if any(m in row.published or m in row.measured for row in rows)]
    titles = {factor.name: factor.title for factor in published.factor}
    by = obtained(study)
    columns = (
        *(Column(name, titles[name], titles[name], is_number=False) for name in factors),
        Column("amount (B)", "amount", "amount"),
        *(column for metric in metrics for column in _columns(study, metric, by)),
        Column("n", "n", "n"),
        Column("here", "here", "here", is_number=False),
    )
    return Table(
        "published-and-measured",
        f"Published and {by.word}",
        columns,
        tuple(_cells(row, study, factors, metrics) for row in rows),
    )


def _is_alike(theirs: tuple[int, ...], ours: tuple[int, ...], all_rows: Sequence[_Row]) -> bool:
    return all(
        one == other or all(row.order[place] != other for row in all_rows)
        for place, (one, other) in enumerate(zip(theirs, ours, strict=True))
    )


def _columns(study: Study, metric: str, by: Obtained) -> tuple[Column, ...]:
    shown = quantity(study, metric)
    name, unit, si = shown.name, shown.unit, shown.si_unit
    return (
        Column(f"published {metric} ({si})"),
        Column(f"{by.word} {metric} ({si})"),
        Column(f"{by.word} {metric}, 95 % low ({si})"),
        Column(f"{by.word} {metric}, 95 % high ({si})"),
        Column("", f"published {name} ({unit})", f"published ({unit})"),
        Column("", f"{by.word} {name} ({unit})", f"{by.word} ({unit})"),
    )


def _cells(
    row: _Row, study: Study, factors: Sequence[str], metrics: Sequence[str]
) -> tuple[Cell, ...]:
    by = obtained(study).word
    cells = [words(row.titles.get(name, "")) for name in factors]
    amount = row.amount_bytes
    cells.append(EMPTY if amount is None else Cell(round(amount), format_size(round(amount))))
    for metric in metrics:
        shown = quantity(study, metric)
        printed, ours = row.published.get(metric), row.measured.get(metric)
        cells.append(EMPTY if printed is None else Cell(printed.si, ""))
        ends = (None, None, None) if ours is None else (ours.mean, ours.ci_low, ours.ci_high)
        cells += [EMPTY if value is None else Cell(value, "") for value in ends]
        text = ""
        if printed is not None:
            # Another unit would show other digits.
            is_same = math.isclose(shown.shown(printed.si), printed.value)
            text = printed.published if is_same else as_printed(printed)
        cells.append(Cell(None, text))
        text = ""
        if ours is not None and ours.mean is not None:
            ends_shown = shown.interval(ours.ci_low, ours.ci_high)
            mean = shown.shown(ours.mean)
            text = with_interval(mean, ends_shown, is_simulated=study.is_simulated)
            if metric == "elapsed_ns" and row.is_of_another_amount:
                text = OTHER_AMOUNT
        cells.append(Cell(None, text))
    # Not every workload has every metric.
    n = max((summary.n for summary in row.measured.values()), default=0)
    cells.append(Cell(n, str(n)) if row.measured else EMPTY)
    if row.measured:
        cells.append(words(by if n else "no trial has ended well"))
    else:
        not_here = NOT_YET if study.waiting else "not run"
        cells.append(words(f"{by} below" if row.is_measured else not_here))
    return tuple(cells)


def _means(published: Published) -> list[PublishedValue]:
    return [
        value
        for value in published.value
        if value.metric in _METRICS and value.statistic == "mean" and value.kind == "table"
    ]


def _published_rows(
    study: Study,
    published: Published,
    values: Sequence[PublishedValue],
    factors: Sequence[str],
) -> list[_Row]:
    rows: dict[str, _Row] = {}
    for value in values:
        levels = {name: value.condition[name] for name in factors if name in value.condition}
        row = rows.get(repr(levels))
        if row is None:
            row = rows[repr(levels)] = _Row(
                {name: _title(published, name, level) for name, level in levels.items()},
                _order(study, published, factors, levels),
                amount_of(published, value.condition),
            )
        row.published[value.metric] = value
    return list(rows.values())


def _measured_rows(
    run: RunRecord,
    trials: Sequence[TrialRecord],
    study: Study,
    published: Published,
    factors: Sequence[str],
) -> list[_Row]:
    found = []
    for scaled in at_scale(study, run.scale):
        if scaled.search is not None:
            continue
        experiment = scaled.experiment.id
        by_metric = {
            metric: summarise(run, trials, experiment, metric)
            for metric in (*_METRICS, "copied_bytes")
        }
        for place, summary in enumerate(by_metric[_METRICS[0]]):
            variants = in_published_words(study, experiment, summary.parameters)
            titles = {}
            for name in factors:
                names = [
                    _level_name(study, published, name, own[name], summary)
                    for own in variants
                    if name in own
                ]
                titles[name] = " and ".join(dict.fromkeys(names)) or "this system"
            copied = by_metric["copied_bytes"][place].mean
            parameters = summary.parameters
            sent = parameters.get("bytes")
            found.append(
                _Row(
                    titles,
                    _order(study, published, factors, variants[0]),
                    float(sent) if copied is None and isinstance(sent, int) else copied,
                    measured={metric: by_metric[metric][place] for metric in _METRICS},
                )
            )
    return found


def _level_name(
    study: Study, published: Published, factor: str, level: Level, summary: Summary
) -> str:
    for one in study.counterpart:
        if one.published == factor and one.factor in summary.parameters:
            ours = level_text(study, one.factor, summary.parameters[one.factor])
            if published.named_level(factor, level) is None:
                return ours
            if one.factor in ("dataset", "service"):
                return f"{ours}, for {_title(published, factor, level)}"
    return _title(published, factor, level)


def _order(
    study: Study, published: Published, factors: Sequence[str], levels: Mapping[str, Level]
) -> tuple[int, ...]:
    known = {factor.name: [one.level for one in factor.levels] for factor in published.factor}
    return tuple(
        known[name].index(levels[name]) if levels.get(name) in known[name] else len(known[name])
        for name in factors
        if stands_for_something(study, name)
    )


def _title(published: Published, factor: str, level: Level) -> str:
    named = published.named_level(factor, level)
    return str(level) if named is None else named.title
