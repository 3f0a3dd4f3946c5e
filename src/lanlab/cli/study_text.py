"""The sections of `lanlab show`, one function each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from lanlab.cli.terminal import Answer
from lanlab.errors import UnknownName
from lanlab.plan import Estimate
from lanlab.report.document.fitted import fitted_rows
from lanlab.report.document.table import Column
from lanlab.studies import LoadedStudy, MissingValue, PublishedValue, waits_for
from lanlab.studies.statement_words import in_words
from lanlab.studies.tables import laid_out
from lanlab.units import format_duration
from lanlab.workloads import WORKLOADS

if TYPE_CHECKING:
    from lanlab.analysis.findings import Verdicts

#: Arguments: the output, study, estimates by scale, and whether the section was requested by name.
Section: TypeAlias = Callable[[Answer, LoadedStudy, Mapping[str, Estimate], bool], None]

#: Marks of cells whose status is explained below their table, one per status.
_MARKS = "*†‡§¶"


def chosen(only: str | None) -> list[Section]:
    """The requested sections, in the order of printing; `None` for all."""
    if only is None:
        return list(SECTIONS.values())
    names = [name.strip() for name in only.split(",")]
    for name in names:
        if name not in SECTIONS:
            raise UnknownName("section", name, SECTIONS)
    return [section for name, section in SECTIONS.items() if name in names]


def as_json(loaded: LoadedStudy, estimates: Mapping[str, Estimate]) -> dict[str, object]:
    """All of a study as JSON. The cells of tables are ids of published numbers."""
    verdicts = _verdicts_as_data(loaded)
    published = loaded.published.model_dump(mode="json", exclude_none=True)
    return {
        "study": loaded.study.model_dump(mode="json", exclude_none=True),
        "published": {key: part for key, part in published.items() if key != "schema"},
        "tables": [
            {
                "id": table.table.id,
                "title": table.table.title,
                "headings": table.headings,
                "rows": [
                    {"row": words, "cells": [cell.id if cell else None for cell in cells]}
                    for words, cells in table.rows
                ],
            }
            for table in (laid_out(loaded.published, one) for one in loaded.published.table)
        ],
        "findings": [
            {
                **one.model_dump(mode="json", exclude_none=True),
                "in_words": in_words(one.statement, _units(loaded)),
                "judged": verdicts.get(one.id),
            }
            for one in loaded.findings
        ],
        "sha256": loaded.sha256,
        "estimates": {
            name: {"trials": estimate.trials, "seconds": estimate.seconds}
            for name, estimate in estimates.items()
        },
    }


def _testbed(console: Answer, loaded: LoadedStudy, _: object, named: bool) -> None:
    bed = loaded.study.testbed
    if bed.published:
        console.print(f"published testbed: {bed.published}")
    console.print(f"testbed here: {bed.hosts} hosts, link {bed.link}")


def _experiments(console: Answer, loaded: LoadedStudy, _: object, named: bool) -> None:
    for experiment in loaded.study.experiment:
        console.print(f"\n{experiment.id}: {experiment.title}", bold=True)
        where = "" if "real" in experiment.on else ", on testbed simulated"
        console.print(
            f"  workload {experiment.workload}, measures {', '.join(experiment.metrics)}{where}"
        )
        for name, levels in experiment.factors.items():
            console.print(f"  {name}: {', '.join(str(level) for level in levels)}")
        if experiment.search:
            search = experiment.search
            goals = ", ".join(f"{100 * goal:g} %" for goal in search.loss_goals)
            console.print(
                f"  highest {search.factor} between {search.low} and {search.high} "
                f"with a loss of at most {goals}, by {search.metric}"
            )
            if search.curve:
                console.print(f"  then a curve of {search.curve} loads")
    for part in loaded.study.waiting:
        console.print(f"\n{part.id}: {part.title}", bold=True)
        console.print(f"  not yet: {waits_for([part])}")


def _scales(
    console: Answer, loaded: LoadedStudy, estimates: Mapping[str, Estimate], named: bool
) -> None:
    rows = [
        (
            name,
            str(estimate.trials),
            format_duration(estimate.seconds),
            loaded.study.scale[name].title,
        )
        for name, estimate in estimates.items()
    ]
    _table(console, "", ("scale", "trials (max)", "time", ""), rows, right=(1, 2))


def _factors(console: Answer, loaded: LoadedStudy, _: object, named: bool) -> None:
    rows = []
    for factor in loaded.published.factor:
        levels = [
            one.title if str(one.level) == one.title else f"{one.title} ({one.level})"
            for one in factor.levels
        ]
        rows.append((factor.name, factor.title, "; ".join(levels) or "any", factor.note or ""))
    _table(console, "What the study varied", ("factor", "title", "levels", ""), rows)


def _tables(console: Answer, loaded: LoadedStudy, _: object, named: bool) -> None:
    for one in loaded.published.table:
        table = laid_out(loaded.published, one)
        statuses = [
            cell.status
            for _, cells in table.rows
            for cell in cells
            if isinstance(cell, PublishedValue) and cell.status
        ]
        marks = dict(zip(dict.fromkeys(statuses), _MARKS, strict=False))
        rows = [(*words, *(_cell(cell, marks) for cell in cells)) for words, cells in table.rows]
        _table(console, f"{one.where}: {one.title}", table.headings, rows)
        for note in (*(f"{mark} {status}" for status, mark in marks.items()), one.note):
            if note:
                console.print(f"({note})")


def _numbers(console: Answer, loaded: LoadedStudy, _: object, named: bool) -> None:
    published = loaded.published
    in_tables = {
        cell.id
        for one in published.table
        for _, cells in laid_out(published, one).rows
        for cell in cells
        if cell is not None
    }
    rows = [
        (
            value.id,
            _number(value),
            value.metric,
            value.statistic,
            ", ".join(f"{key} {level}" for key, level in value.condition.items()),
            value.where,
            "; ".join(filter(None, (value.status, value.note))),
        )
        for value in published.printed
        if named or value.id not in in_tables
    ]
    title = "Values" if named or not in_tables else "Values in no table"
    headings = ("id", "published", "metric", "statistic", "condition", "where", "")
    _table(console, title, headings, rows)


def _figures(console: Answer, loaded: LoadedStudy, _: object, named: bool) -> None:
    rows = [
        (one.number, one.shows, one.x, one.y, "; ".join(one.series), one.plot)
        for one in loaded.published.figure
    ]
    _table(console, "Figures", ("figure", "shows", "x", "y", "series", "plot"), rows)


def _lost(console: Answer, loaded: LoadedStudy, _: object, named: bool) -> None:
    rows = [(one.what, one.consequence) for one in loaded.published.lost]
    _table(console, "What is lost", ("lost", "consequence"), rows)


def _findings(console: Answer, loaded: LoadedStudy, _: object, named: bool) -> None:
    units = _units(loaded)
    verdicts = _verdicts(loaded)
    rows = []
    for place, one in enumerate(loaded.findings):
        because = one.expected.because if one.expected else ""
        verdict = _verdict_words(verdicts, place)
        if verdicts is not None and one.expected is not None:
            by_hand = one.expected.verdict
            if by_hand != verdicts.judgements[place].verdict:
                verdict += f" (by hand: {by_hand})"
        notes = (in_words(one.statement, units), one.note)
        said = ": ".join(filter(None, (verdict, because)))
        rows.append((one.id, one.claim, "\n".join(filter(None, notes)), said, one.where or ""))
    headings = ("finding", "claim", "as a statement", "verdict on published values", "where")
    _table(console, "Findings", headings, rows)
    if verdicts is not None:
        from lanlab.report.findings.finding_text import counts_sentence

        console.print(f"{counts_sentence(verdicts)} `lanlab findings` shows the numbers.")


def _verdicts(loaded: LoadedStudy) -> Verdicts | None:
    """The verdicts on the published values; `None` if there are none. Imports the statistics."""
    if not loaded.published.value or not loaded.findings:
        return None
    from lanlab.analysis.findings import judge_published

    return judge_published(loaded)


def _verdict_words(verdicts: Verdicts | None, place: int) -> str:
    if verdicts is None:
        return ""
    from lanlab.report.findings.finding_text import verdict_text

    return verdict_text(verdicts.judgements[place])


def _verdicts_as_data(loaded: LoadedStudy) -> dict[str, object]:
    verdicts = _verdicts(loaded)
    if verdicts is None:
        return {}
    from lanlab.analysis.findings import judgement_as_data

    return {one.finding.id: judgement_as_data(one) for one in verdicts.judgements}


def _discrepancies(console: Answer, loaded: LoadedStudy, _: object, named: bool) -> None:
    from lanlab.analysis.discrepancies import SEVERITIES

    found = sorted(loaded.published.discrepancy, key=lambda one: SEVERITIES.index(one.severity))
    rows = [
        (
            one.id,
            one.severity,
            one.kind,
            one.where,
            one.stated,
            f"{one.evidence} Correct: {one.correct}." if one.correct else one.evidence,
        )
        for one in found
    ]
    headings = ("id", "severity", "kind", "where", "the study says", "what is wrong")
    _table(console, "Discrepancies", headings, rows)


def _machines(console: Answer, loaded: LoadedStudy, _: object, named: bool) -> None:
    simulation = loaded.study.simulation
    if simulation is None:
        return
    from lanlab.studies.machine_numbers import NUMBERS
    from lanlab.studies.machines import origin_text, place_words

    rows = []
    for machine in simulation.machine:
        like = f"like {machine.like}" if machine.like else ""
        rows.append((machine.id, machine.title, "", like))
        for name, one in machine.numbers.items():
            unit = NUMBERS[name].unit
            rows.append(("", name, f"{one.value:.6g} {unit}".rstrip(), origin_text(one)))
    headings = ("machine", "number", "value", "where it comes from")
    _table(console, "Machines to simulate", headings, rows, right=(2,))
    places = [
        (place_words(place), *place.machines, simulation.link_of(place) or "of the run")
        for place in simulation.place
    ]
    _table(console, "", ("for", "first role", "second role", "link"), places)
    if simulation.held_out:
        console.print(f"held out before fitting: {', '.join(simulation.held_out)}")
    held_out = simulation.held_out
    before = [one.value for one in simulation.prediction if one.value not in held_out]
    if before:
        console.print(f"predicted before they were fitted: {', '.join(before)}")
    if simulation.note:
        console.print(simulation.note)


SECTIONS: Mapping[str, Section] = {
    "testbed": _testbed,
    "experiments": _experiments,
    "scales": _scales,
    "factors": _factors,
    "tables": _tables,
    "numbers": _numbers,
    "figures": _figures,
    "lost": _lost,
    "findings": _findings,
    "discrepancies": _discrepancies,
    "machines": _machines,
}


def _units(loaded: LoadedStudy) -> dict[str, str]:
    used = {experiment.workload for experiment in loaded.study.experiment}
    units = {key: one.unit for name in used for key, one in WORKLOADS[name].metrics.items()}
    return {**units, **{metric.name: metric.unit for metric in loaded.published.metric}}


def _number(value: PublishedValue | MissingValue) -> str:
    if isinstance(value, MissingValue):
        return " ".join(filter(None, (value.published, _cell(value, {}))))
    bound = f"{value.bound} " if value.bound else ""
    number = f"{bound}{value.value:.12g} {value.unit}".rstrip()
    return f"{value.published or 'not printed'} ({number})"


def _cell(value: PublishedValue | MissingValue | None, marks: Mapping[Any, str]) -> str:
    if value is None:
        return ""
    if isinstance(value, MissingValue):
        if value.feasible is None:
            return "missing"
        cut = value.feasible_if_truncated
        other = f"; {cut[0]:g} to {cut[1]:g} if the mean was cut" if cut else ""
        return f"missing ({value.feasible[0]:g} to {value.feasible[1]:g}{other})"
    # Digits that the scan broke up ("1 1 1") are not a usable number.
    text = f"{value.value:g}" if value.status == "OCR repaired" else value.published
    return f"{text}{marks.get(value.status, '')}"


def _table(
    console: Answer,
    title: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Sequence[int] = (),
) -> None:
    listed = list(rows)
    if not listed:
        return
    console.print()
    if title:
        console.print(title, bold=True)
    columns = [
        Column("", short=heading or " ", is_number=number in right)
        for number, heading in enumerate(headings)
    ]
    console.print(fitted_rows("", columns, listed))
