"""Verdicts on findings: one evaluator for published values and for runs."""

from typing import TYPE_CHECKING

from lanlab.lazily import names_of

if TYPE_CHECKING:
    from lanlab.analysis.findings.as_data import judgement_as_data, verdicts_as_data
    from lanlab.analysis.findings.claim import Truth
    from lanlab.analysis.findings.judge import judge_published, judge_run
    from lanlab.analysis.findings.verdicts import Judged, Judgement, Verdicts, findings_of
else:
    # The judge imports scipy, which a study without findings does not need.
    __getattr__ = names_of(
        __name__,
        {
            "as_data": ("judgement_as_data", "verdicts_as_data"),
            "claim": ("Truth",),
            "judge": ("judge_published", "judge_run"),
            "verdicts": ("Judged", "Judgement", "Verdicts", "findings_of"),
        },
    )

__all__ = [
    "Judged",
    "Judgement",
    "Truth",
    "Verdicts",
    "findings_of",
    "judge_published",
    "judge_run",
    "judgement_as_data",
    "verdicts_as_data",
]
