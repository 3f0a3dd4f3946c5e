"""A study's findings and their verdicts: a row for each finding, and one for each comparison."""

from __future__ import annotations

import math
from dataclasses import replace

from lanlab.analysis.findings import Judged, Judgement, Verdicts
from lanlab.frozen import dataclass
from lanlab.report.document.table import EMPTY, Cell, Column, Table, words
from lanlab.report.findings.evidence_table import is_tested
from lanlab.report.findings.finding_text import (
    claim_origin,
    counts,
    counts_sentence,
    evidence_lines,
    here_text,
    verdict_text,
)
from lanlab.studies import Study

TITLE = "What the study found and whether it holds here"


def finding_table(verdicts: Verdicts, study: Study | None, title: str = TITLE) -> Table:
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
    return Table("findings", title, columns, rows)


def comparison_table(verdicts: Verdicts) -> Table:
    columns = (
        Column("finding", is_number=False),
        Column("on", is_number=False),
        Column("what", is_number=False),
        Column("metric", is_number=False),
        Column("unit", is_number=False),
        Column("verdict", is_number=False),
        Column("value"),
        Column("low"),
        Column("high"),
        Column("confidence"),
        Column("claimed_least"),
        Column("claimed_most"),
        Column("test", is_number=False),
        Column("p"),
        Column("p_holm"),
        Column("hedges_g"),
        Column("trials", is_number=False),
        Column("trials_needed_per_condition"),
    )
    rows = []
    for judgement in verdicts.judgements:
        rows += [_numbers(judgement, "", one) for one in judgement.comparisons]
        if judgement.here is not None:
            rows += [_numbers(judgement, "this system", o) for o in judgement.here.comparisons]
    return Table("finding-comparisons", "Comparisons of findings", columns, tuple(rows))


@dataclass(frozen=True)
class FindingOnPage:
    id: str
    claim: str
    verdict: str
    #: The verdict for this system in place of another; empty if tested as published.
    here: str
    is_tested: bool
    lines: tuple[str, ...]


def findings_on_page(verdicts: Verdicts, study: Study | None) -> tuple[FindingOnPage, ...]:
    return tuple(
        FindingOnPage(
            one.finding.id,
            f"{claim_origin(one.finding)}{one.finding.claim}",
            verdict_text(one),
            "" if one.here is None else here_text(one),
            is_tested(one),
            tuple(
                evidence_lines(one, study) if one.here is None else evidence_lines(one.here, study)
            ),
        )
        for one in verdicts.judgements
    )


def introduction(verdicts: Verdicts) -> tuple[str, ...]:
    said = [counts_sentence(verdicts)]
    here = [one.here for one in verdicts.judgements if one.here is not None]
    if here:
        said.append(
            f"{len(here)} of them speak of one other system throughout. Of this system, "
            f"{counts(replace(verdicts, judgements=tuple(here)))}."
        )
    return tuple(said)


def _row(one: Judgement, study: Study | None) -> tuple[Cell, ...]:
    further = one.further
    verdict = verdict_text(one)
    if one.here is not None:
        verdict += f"\n{here_text(one)}"
    return (
        words(one.finding.id),
        words(f"{claim_origin(one.finding)}{one.finding.claim}"),
        Cell(one.verdict, verdict),
        EMPTY if one.here is None else Cell(one.here.verdict, ""),
        EMPTY if further is None else Cell(further.trials, ""),
        EMPTY if further is None else Cell(further.minutes, ""),
        Cell(None, "\n".join(evidence_lines(one, study))),
    )


def _numbers(judgement: Judgement, on: str, one: Judged) -> tuple[Cell, ...]:
    seen = one.comparison

    def cell(value: float | None) -> Cell:
        return EMPTY if value is None or not math.isfinite(value) else Cell(value, "")

    return (
        words(judgement.finding.id),
        words(on),
        words(seen.what),
        words(seen.metric),
        words(seen.unit),
        words(one.truth),
        cell(seen.value),
        cell(one.low),
        cell(one.high),
        cell(one.confidence),
        cell(seen.least),
        cell(seen.most),
        words(seen.test),
        cell(seen.p if seen.is_tested else None),
        cell(one.p_holm),
        cell(seen.hedges_g),
        words(" ".join(map(str, seen.n))),
        cell(one.trials_needed),
    )
