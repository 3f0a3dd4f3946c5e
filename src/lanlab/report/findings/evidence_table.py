"""Verdicts on the same findings from several bodies of evidence, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.findings.verdicts import Judgement, Verdicts
from lanlab.report.document.table import EMPTY, Cell, Column, Table, words
from lanlab.report.findings.finding_text import claim_origin, verdict_text
from lanlab.studies import Finding

_PRINT = "what was published"
_NOT_TESTED = "not tested"


def evidence_table(bodies: Sequence[Verdicts], only: Sequence[Finding] | None = None) -> Table:
    """
    A row for each finding, a column for each body of evidence: published values, measured runs and
    simulated runs.

    Args:
        bodies: Verdicts on the findings of one study; a finding missing from one leaves its cell
            empty.
        only: The findings to show. Default: all.
    """
    kinds = [kind_of(body) for body in bodies]
    heads = [
        body.on if body.on == _PRINT else kind if kinds.count(kind) == 1 else f"{kind} ({body.on})"
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
    return Table("finding-evidence", "Findings by body of evidence", columns, rows)


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
