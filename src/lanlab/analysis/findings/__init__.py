"""Findings judged: one evaluator for what was published and for runs."""

from lanlab.analysis.findings.as_data import judgement_as_data, verdicts_as_data
from lanlab.analysis.findings.claim import Truth
from lanlab.analysis.findings.judge import (
    Judged,
    Judgement,
    Verdicts,
    findings_of,
    judge,
    judge_published,
    judge_run,
)

__all__ = [
    "Judged",
    "Judgement",
    "Truth",
    "Verdicts",
    "findings_of",
    "judge",
    "judge_published",
    "judge_run",
    "judgement_as_data",
    "verdicts_as_data",
]
