"""A study's findings and their verdicts: a row for each finding, and one for each comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from lanlab.analysis.findings.as_data import comparison_as_data
from lanlab.analysis.findings.verdicts import Judgement, Verdicts
from lanlab.report.document.table import EMPTY, Cell, Column, Table, table_of_records, words
from lanlab.report.findings.finding_text import (
    claim_origin,
    counts,
    counts_sentence,
    evidence_lines,
    here_text,
    readable,
    verdict_text,
)
from lanlab.studies.findings import Finding
from lanlab.studies.model import Study

TITLE = "What the study found and whether it holds here"


def finding_table(verdicts: Verdicts, study: Study | None) -> Table:
    """A row for each finding: its claim, the verdict, and the evidence."""
    columns = (
        Column("finding", "finding", "finding", is_number=False),
        Column("claim", "the study found", "claim", is_number=False),
        Column("verdict", "verdict", "verdict", is_number=False),
        Column("here", "", "", is_number=False),
        Column("trials_to_decide"),
        Column("minutes_to_decide"),
        Column("", "because", "because", is_number=False),
    )
    rows = tuple(_row(one, study) for one in verdicts.judgements)
    return Table("findings", TITLE, columns, rows)


def comparison_table(verdicts: Verdicts, study: Study) -> Table:
    records = [
        {
            "finding": judgement.finding.id,
            "on": on,
            **comparison_as_data(one, partial(readable, study=study)),
            "unit": one.comparison.unit,
            "trials": " ".join(map(str, one.comparison.n)),
        }
        for judgement in verdicts.judgements
        for on, found in (("", judgement), ("this system", judgement.here))
        for one in (() if found is None else found.comparisons)
    ]
    return table_of_records("finding-comparisons", "Comparisons of findings", records)


def introduction(verdicts: Verdicts) -> tuple[str, ...]:
    said = [counts_sentence(verdicts)]
    here = [one.here for one in verdicts.judgements if one.here is not None]
    if here:
        are = "is" if len(here) == 1 else "are"
        of_this = counts(replace(verdicts, judgements=tuple(here)))
        said.append(
            f"{len(here)} of them {are} about one other system only. Of this system, {of_this}."
        )
    return tuple(said)


def _row(one: Judgement, study: Study | None) -> tuple[Cell, ...]:
    further = one.further
    verdict = verdict_text(one)
    if one.here is not None:
        verdict += f"\n{here_text(one, study)}"
    return (
        words(one.finding.id),
        words(f"{claim_origin(one.finding)}{one.finding.claim}"),
        Cell(one.verdict, verdict),
        EMPTY if one.here is None else Cell(one.here.verdict, ""),
        EMPTY if further is None else Cell(further.trials, ""),
        EMPTY if further is None else Cell(further.minutes, ""),
        Cell(None, "\n".join(evidence_lines(one.here or one, study))),
    )


_PRINT = "the published values"
_NOT_TESTED = "not tested"
_KINDS = ("published", "simulated", "measured")


def evidence_table(bodies: Sequence[Verdicts], only: Sequence[Finding] | None = None) -> Table:
    """
    A row for each finding, a column for each body of evidence: published values, measured runs
    and simulated runs.

    Args:
        bodies: Verdicts on the findings of one study; a finding missing from one leaves its cell
            empty.
    """
    bodies = sorted(bodies, key=lambda body: _KINDS.index(kind_of(body)))
    kinds = [kind_of(body) for body in bodies]
    heads = [
        "published"
        if body.on == _PRINT
        else kind
        if kinds.count(kind) == 1
        else f"{kind} ({body.on})"
        for body, kind in zip(bodies, kinds, strict=True)
    ]
    columns = (
        Column("finding", "finding", "finding", is_number=False),
        Column("claim", "the study found", "claim", is_number=False),
        *(
            Column(f"verdict_{place}_{kind}", head, head, is_number=False)
            for place, (kind, head) in enumerate(zip(kinds, heads, strict=True), 1)
        ),
    )
    by_id = [{one.finding.id: one for one in body.judgements} for body in bodies]
    rows = tuple(
        (
            words(finding.id),
            words(f"{claim_origin(finding)}{finding.claim}"),
            *(_cell(body.get(finding.id)) for body in by_id),
        )
        for finding in (findings_in(bodies) if only is None else only)
    )
    return Table("finding-evidence", "Does each finding hold?", columns, rows)


def findings_in(bodies: Sequence[Verdicts]) -> list[Finding]:
    return list({o.finding.id: o.finding for body in bodies for o in body.judgements}.values())


def tested_by_runs(bodies: Sequence[Verdicts]) -> list[Finding]:
    tested = {
        one.finding.id
        for body in bodies
        if body.on != _PRINT
        for one in body.judgements
        if is_tested(one)
    }
    return [finding for finding in findings_in(bodies) if finding.id in tested]


def is_tested(one: Judgement) -> bool:
    """Whether a finding was tested: as published, or with this system in place of another."""
    here = _NOT_TESTED if one.here is None else one.here.verdict
    return one.verdict != _NOT_TESTED or here != _NOT_TESTED


def kind_of(body: Verdicts) -> str:
    if body.on == _PRINT:
        return "published"
    return "simulated" if body.is_simulated else "measured"


def _cell(one: Judgement | None) -> Cell:
    if one is None:
        return EMPTY
    if one.verdict == _NOT_TESTED and one.here is not None and is_tested(one):
        return Cell(one.here.verdict, f"on this system: {verdict_text(one.here)}")
    return Cell(one.verdict, verdict_text(one))
