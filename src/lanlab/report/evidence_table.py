"""Verdicts on the same findings by several bodies of evidence, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.findings import Verdicts
from lanlab.report.finding_text import claim_origin, verdict_text
from lanlab.report.table import EMPTY, Cell, Column, Table, words


def evidence_table(bodies: Sequence[Verdicts]) -> Table:
    """
    A row for each finding, a column for each body of evidence: what was published, measured runs
    and simulated ones.

    Args:
        bodies: Judgements of the findings of one study; findings that one lacks stay empty there.
    """
    heads = [f"{kind_of(body)} ({body.on})" if body.on != _PRINT else body.on for body in bodies]
    columns = (
        Column("finding", "finding", "finding", is_number=False),
        Column("claim", "the study found", "claim", is_number=False),
        *(
            Column(f"verdict_{place}_{kind_of(body)}", head, head, is_number=False)
            for place, (body, head) in enumerate(zip(bodies, heads, strict=True), 1)
        ),
    )
    by_id = [{one.finding.id: one for one in body.judgements} for body in bodies]
    rows = []
    for name in dict.fromkeys(key for body in by_id for key in body):
        found = [body.get(name) for body in by_id]
        finding = next(one.finding for one in found if one is not None)
        rows.append(
            (
                words(name),
                words(f"{claim_origin(finding)}{finding.claim}"),
                *(EMPTY if one is None else Cell(one.verdict, verdict_text(one)) for one in found),
            )
        )
    return Table("finding-evidence", "Findings by body of evidence", columns, tuple(rows))


_PRINT = "what was published"


def kind_of(body: Verdicts) -> str:
    """What sort of evidence it is."""
    if body.on == _PRINT:
        return "published"
    return "simulated" if body.is_simulated else "measured"
