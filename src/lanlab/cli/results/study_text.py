"""The sections of `lanlab show`, one function each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from lanlab.errors import UnknownName
from lanlab.figures.published_values import levels_text
from lanlab.figures.wording import as_printed, level_text, name_of, quantity
from lanlab.plan.running import Estimate
from lanlab.report.document.document import Block, Document
from lanlab.report.document.table import Column, Table, table_of_texts
from lanlab.studies.base import Level
from lanlab.studies.load import LoadedStudy
from lanlab.studies.plain_level import plain_level
from lanlab.studies.published import MissingValue, PublishedValue
from lanlab.studies.statement_words import in_words
from lanlab.studies.tables import laid_out
from lanlab.units import format_duration
from lanlab.workloads import WORKLOADS

if TYPE_CHECKING:
    from lanlab.analysis.findings.verdicts import Verdicts

#: Arguments: the study, estimates by scale, and whether the section was requested by name.
Section: TypeAlias = Callable[[LoadedStudy, Mapping[str, Estimate], bool], Iterator[Block]]

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


def study_document(
    loaded: LoadedStudy, estimates: Mapping[str, Estimate], only: str | None, *, as_json: bool
) -> Document:
    """A study with its published answer; in text its sections, in JSON always everything."""
    study = loaded.study
    said = [f"{study.title}  ({study.id})", *filter(None, [study.question])]
    in_full = [study.source.citation] if study.source else []
    if only is None:
        from lanlab.report.answer.question import in_brief, question_answers

        brief, rest = in_brief(question_answers(loaded, ()))
        said, in_full = [*said, *brief], [*in_full, *rest]
    if as_json:
        return Document(said, in_full=in_full, data=_as_data(loaded, estimates))
    first, *others = (
        [
            block
            for block in section(loaded, estimates, only is not None)
            if isinstance(block, str) or block.rows
        ]
        for section in chosen(only)
    )
    # The answer in full stands above the long tables of published values.
    body = [*first, *in_full, *itertools.chain(*others)]
    return Document(said, body, leads=len(said))


def _as_data(loaded: LoadedStudy, estimates: Mapping[str, Estimate]) -> dict[str, object]:
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


def _testbed(loaded: LoadedStudy, _: object, named: bool) -> Iterator[Block]:
    bed = loaded.study.testbed
    if bed.published:
        yield f"published testbed: {bed.published}"
    yield f"testbed here: {bed.hosts} hosts, link {bed.link}"


def _experiments(loaded: LoadedStudy, _: object, named: bool) -> Iterator[Block]:
    study = loaded.study
    for experiment in study.experiment:
        yield f"\n{experiment.id}: {experiment.title}"
        where = "" if "real" in experiment.on else ", on testbed simulated"
        measures = "; ".join(quantity(study, metric).name for metric in experiment.metrics)
        yield f"  workload {experiment.workload}, measures {measures}{where}"
        for name, levels in experiment.factors.items():
            # A level without a title begins with the name of its factor, which stands before it.
            own = f"{name_of(name)} "
            plain = (level_text(study, name, plain_level(name, one)) for one in levels)
            texts = (one.removeprefix(own) for one in plain)
            listed = map(str, levels) if name == "stations" else texts
            yield f"  {quantity(study, name).name}: {', '.join(listed)}"
        if experiment.search:
            search = experiment.search
            goals = ", ".join(f"{100 * goal:g} %" for goal in search.loss_goals)
            yield (
                f"  highest {quantity(study, search.factor).name} between {search.low} and "
                f"{search.high} with a loss of at most {goals}, by "
                f"{quantity(study, search.metric).name}"
            )
            if search.curve:
                yield f"  then a curve of {search.curve} loads"


def _scales(loaded: LoadedStudy, estimates: Mapping[str, Estimate], named: bool) -> Iterator[Block]:
    rows = [
        (
            name,
            str(estimate.trials),
            format_duration(estimate.seconds),
            loaded.study.scale[name].title,
        )
        for name, estimate in estimates.items()
    ]
    yield _table("", ("scale", "trials (max)", "time", ""), rows, right=(1, 2))


def _factors(loaded: LoadedStudy, _: object, named: bool) -> Iterator[Block]:
    rows = []
    for factor in loaded.published.factor:
        levels = [
            one.title if str(one.level) == one.title else f"{one.title} ({one.level})"
            for one in factor.levels
        ]
        rows.append((factor.name, factor.title, "; ".join(levels) or "any", factor.note or ""))
    yield _table("What the study varied", ("factor", "title", "levels", ""), rows)


def _tables(loaded: LoadedStudy, _: object, named: bool) -> Iterator[Block]:
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
        yield _table(f"{one.where}: {one.title}", table.headings, rows)
        for note in (*(f"{mark} {status}" for status, mark in marks.items()), one.note):
            if note:
                yield f"({note})"


def _numbers(loaded: LoadedStudy, _: object, named: bool) -> Iterator[Block]:
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
    yield _table(title, headings, rows)


def _figures(loaded: LoadedStudy, _: object, named: bool) -> Iterator[Block]:
    rows = [
        (one.number, one.shows, one.x, one.y, "; ".join(one.series), one.plot)
        for one in loaded.published.figure
    ]
    yield _table("Figures", ("figure", "shows", "x", "y", "series", "plot"), rows)


def _lost(loaded: LoadedStudy, _: object, named: bool) -> Iterator[Block]:
    rows = [(one.what, one.consequence) for one in loaded.published.lost]
    yield _table("What is lost", ("lost", "consequence"), rows)


def _findings(loaded: LoadedStudy, _: object, named: bool) -> Iterator[Block]:
    from lanlab.report.findings.finding_text import counts_sentence, readable, verdict_text

    units = _units(loaded)
    verdicts = _verdicts(loaded)
    rows = []
    for place, one in enumerate(loaded.findings):
        because = one.expected.because if one.expected else ""
        verdict = "" if verdicts is None else verdict_text(verdicts.judgements[place])
        if verdicts is not None and one.expected is not None:
            by_hand = one.expected.verdict
            if by_hand != verdicts.judgements[place].verdict:
                verdict += f" (by hand: {by_hand})"
        notes = (readable(in_words(one.statement, units), loaded.study), one.note)
        said = ": ".join(filter(None, (verdict, because)))
        rows.append((one.id, one.claim, "\n".join(filter(None, notes)), said, one.where or ""))
    headings = ("finding", "claim", "as a statement", "verdict on published values", "where")
    yield _table("Findings", headings, rows)
    if verdicts is not None:
        yield f"{counts_sentence(verdicts)} `lanlab findings` shows the numbers."


def _verdicts(loaded: LoadedStudy) -> Verdicts | None:
    """The verdicts on the published values; `None` if there are none. Imports the statistics."""
    if not loaded.published.value or not loaded.findings:
        return None
    from lanlab.analysis.findings.judge import judge_published

    return judge_published(loaded)


def _verdicts_as_data(loaded: LoadedStudy) -> dict[str, object]:
    verdicts = _verdicts(loaded)
    if verdicts is None:
        return {}
    from lanlab.analysis.findings.as_data import judgement_as_data
    from lanlab.report.findings.finding_text import readable

    words = partial(readable, study=loaded.study)
    return {one.finding.id: judgement_as_data(one, words) for one in verdicts.judgements}


def _discrepancies(loaded: LoadedStudy, _: object, named: bool) -> Iterator[Block]:
    from lanlab.analysis.published.discrepancies import SEVERITIES

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
    yield _table("Discrepancies", headings, rows)


def _machines(loaded: LoadedStudy, _: object, named: bool) -> Iterator[Block]:
    simulation = loaded.study.simulation
    if simulation is None:
        return
    from lanlab.studies.machine_numbers import NUMBERS
    from lanlab.studies.machines import origin_text

    values = {one.id: one for one in loaded.published.value}

    def called(levels: Mapping[str, Level]) -> str:
        return levels_text(loaded.published, levels, levels)

    def titled(name: str) -> str:
        where = called(values[name].condition)
        return f"{as_printed(values[name])}{f' ({where})' if where else ''}"

    rows = []
    for machine in simulation.machine:
        like = f"like {machine.like}" if machine.like else ""
        rows.append((machine.id, machine.title, "", like))
        for name, one in machine.numbers.items():
            unit = NUMBERS[name].unit
            rows.append(("", name, f"{one.value:.6g} {unit}".rstrip(), origin_text(one, titled)))
    headings = ("machine", "number", "value", "where it comes from")
    yield _table("Machines to simulate", headings, rows, right=(2,))
    places = [
        (
            called(place.when) or "everything else",
            *place.machines,
            simulation.link_of(place) or "of the run",
        )
        for place in simulation.place
    ]
    yield _table("", ("for", "first role", "second role", "link"), places)
    if simulation.held_out:
        yield f"held out before fitting: {'; '.join(map(titled, simulation.held_out))}"
    held_out = simulation.held_out
    before = [one.value for one in simulation.prediction if one.value not in held_out]
    if before:
        yield f"predicted before they were fitted: {'; '.join(map(titled, before))}"
    if simulation.note:
        yield simulation.note


SECTIONS: Mapping[str, Section] = {
    "scales": _scales,
    "testbed": _testbed,
    "experiments": _experiments,
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
    title: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Sequence[int] = (),
) -> Table:
    columns = [
        Column("", short=heading or " ", is_number=number in right)
        for number, heading in enumerate(headings)
    ]
    return table_of_texts(title, columns, rows)
