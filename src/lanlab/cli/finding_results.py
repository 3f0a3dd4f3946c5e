"""Prints verdicts on findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from lanlab.cli.terminal import answer, print_json, print_lines
from lanlab.frozen import dataclass

if TYPE_CHECKING:
    from lanlab.analysis.findings import Verdicts
    from lanlab.store import RunRecord, TrialRecord
    from lanlab.studies import Finding, Study


_CODES = {"passed": 0, "failed": 1, "undecided": 3}


@dataclass(frozen=True)
class Check:
    passes_undecided: bool = False
    is_strict: bool = False

    def outcome(
        self, verdicts: Verdicts
    ) -> tuple[Literal["passed", "failed", "undecided"], list[str]]:
        failing = {"does not hold"} | ({"undecided", "not tested"} if self.is_strict else set())
        failed = _ids(verdicts, failing)
        if failed:
            return "failed", failed
        undecided = [] if self.passes_undecided else _ids(verdicts, {"undecided"})
        if undecided:
            return "undecided", undecided
        untested = _ids(verdicts, {"not tested"})
        # A check without any tested finding has not passed.
        if len(untested) == len(verdicts.judgements):
            return "undecided", untested
        return "passed", []


def _ids(verdicts: Verdicts, wanted: set[str]) -> list[str]:
    return [one.finding.id for one in verdicts.judgements if one.verdict in wanted]


def print_checked(
    run: RunRecord,
    trials: list[TrialRecord],
    findings: Sequence[Finding],
    check: Check,
    as_json: bool,
) -> int:
    """Print a run's answer and the verdicts on its study's findings.

    Returns:
        The exit code: 0 passed, 1 failed, 3 undecided.
    """
    from lanlab.analysis.findings import judge_run, verdicts_as_data
    from lanlab.cli.results import print_run, run_as_json
    from lanlab.report.findings.finding_text import counts
    from lanlab.store.shape import reading_records
    from lanlab.studies import Study

    if not as_json:
        # Print the trials first, so that a failed check does not hide them.
        print_run(run, trials, False)
    with reading_records(run.id):
        verdicts = judge_run(findings, run, trials)
        outcome, reasons = check.outcome(verdicts)
        if as_json:
            checked: dict[str, Any] = {
                "outcome": outcome,
                "strict": check.is_strict,
                "failed": reasons if outcome == "failed" else [],
                "undecided": reasons if outcome == "undecided" else [],
                **verdicts_as_data(verdicts),
            }
            print_json({**run_as_json(run, trials), "check": checked})
            return _CODES[outcome]
    # A strict check can fail because of untested findings, so show them.
    print_verdicts(verdicts, Study.model_validate(run.study), verbose=check.is_strict)
    because = f": {', '.join(reasons)}" if reasons else ""
    answer().print(f"check {outcome}{because} ({counts(verdicts)})", soft_wrap=True)
    return _CODES[outcome]


def print_verdicts(verdicts: Verdicts, study: Study, *, verbose: bool = False) -> None:
    """Print each finding with its verdict and evidence, then the number of each verdict.

    Args:
        verbose: Whether to show untested findings as well, instead of only counting them.
    """
    from lanlab.report.findings.evidence_table import is_tested
    from lanlab.report.findings.finding_text import (
        claim_origin,
        counts_sentence,
        evidence_lines,
        untested_line,
        verdict_text,
    )

    console = answer()
    shown = [one for one in verdicts.judgements if verbose or is_tested(one)]
    untested = [one for one in verdicts.judgements if not (verbose or is_tested(one))]
    for one in shown:
        console.print(f"{one.finding.id}  {verdict_text(one)}", style="bold", soft_wrap=True)
        claim = f"    {claim_origin(one.finding)}{one.finding.claim}"
        print_lines("\n".join([claim, *(f"    - {line}" for line in evidence_lines(one, study))]))
    if untested:
        print_lines(untested_line([one.finding for one in untested], verdicts.on))
    print_lines(counts_sentence(verdicts))
