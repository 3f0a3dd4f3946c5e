"""How commands print verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanlab.cli.terminal import answer, print_json

if TYPE_CHECKING:
    from lanlab.analysis.findings import Judgement, Verdicts
    from lanlab.store import RunRecord, TrialRecord
    from lanlab.studies import Finding, Study


def print_checked(
    run: RunRecord,
    trials: list[TrialRecord],
    findings: Sequence[Finding],
    strict: bool,
    as_json: bool,
) -> bool:
    """A run's answer and the verdicts on its study's findings; whether the check failed."""
    from lanlab.analysis.findings import judge_run, verdicts_as_data
    from lanlab.cli.results import print_run, run_as_json
    from lanlab.store.shape import reading_records
    from lanlab.studies import Study

    with reading_records(run.id):
        verdicts = judge_run(findings, run, trials)
        failed = failing(verdicts, strict)
        if as_json:
            checked = {
                "strict": strict,
                "failed": [one.finding.id for one in failed],
                **verdicts_as_data(verdicts),
            }
            print_json({**run_as_json(run, trials), "check": checked})
            return bool(failed)
    print_run(run, trials, False)
    print_verdicts(verdicts, Study.model_validate(run.study))
    names = ", ".join(one.finding.id for one in failed)
    answer().print(f"check failed: {names}" if failed else "check passed", soft_wrap=True)
    return bool(failed)


def print_verdicts(verdicts: Verdicts, study: Study) -> None:
    """Each finding with its verdict and what that rests on; then how many of each."""
    from lanlab.report.finding_text import (
        claim_origin,
        counts_sentence,
        evidence_lines,
        verdict_text,
    )

    console = answer()
    for one in verdicts.judgements:
        console.print(f"{one.finding.id}  {verdict_text(one)}", style="bold", soft_wrap=True)
        claim = f"{claim_origin(one.finding)}{one.finding.claim}"
        console.print(f"    {claim}", soft_wrap=True)
        for line in evidence_lines(one, study):
            console.print(f"    - {line}", soft_wrap=True)
    console.print(counts_sentence(verdicts), soft_wrap=True)


def failing(verdicts: Verdicts, strict: bool) -> list[Judgement]:
    """The findings for which a check fails."""
    bad = {"does not hold"} | ({"undecided", "not tested"} if strict else set())
    return [one for one in verdicts.judgements if one.verdict in bad]
