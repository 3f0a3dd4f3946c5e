"""Failed trials: which, why, and what happened next."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.failures import Failure, failures
from lanlab.figures.wording import condition_text
from lanlab.report.document.table import Cell, Column, Table, words
from lanlab.store import TrialRecord
from lanlab.studies import Study


def failure_table(trials: Sequence[TrialRecord], study: Study) -> Table:
    """A row for each failed trial, in order."""
    columns = (
        Column("number", "no.", "no."),
        Column("experiment", "experiment", "experiment", is_number=False),
        Column("condition", "condition", "condition", is_number=False),
        Column("block", "block"),
        Column("purpose", "purpose", is_number=False),
        Column("end", "end", is_number=False),
        Column("code", "code", is_number=False),
        Column("cause", "cause", "cause", is_number=False),
        Column("what to do", "what to do", is_number=False),
        Column("seen until then", "seen until then", is_number=False),
        Column("took (s)", "took (s)"),
        Column("fate", "", is_number=False),
        Column("retried as", ""),
        Column("", "then", "then", is_number=False),
    )
    rows = []
    for failure in failures(trials):
        trial = failure.trial
        rows.append(
            (
                Cell(trial.number, str(trial.number)),
                words(trial.experiment),
                words(condition_text(study, trial.factors)),
                Cell(trial.block, str(trial.block)),
                words(trial.purpose),
                words(failure.end or ""),
                words(failure.code),
                words(failure.message),
                words(failure.hint or ""),
                words(failure.seen),
                Cell(trial.elapsed_s, f"{trial.elapsed_s:.2f}"),
                words(failure.fate),
                Cell(failure.retried_as, ""),
                Cell(None, _then(failure)),
            )
        )
    return Table("failures", "Failed trials", columns, tuple(rows))


def _then(failure: Failure) -> str:
    if failure.fate == "retried":
        return f"retried as no. {failure.retried_as}"
    if failure.fate == "polluted_counts":
        return "a disturbed trial counts instead"
    if (failure.trial.error or {}).get("retry_helps") is False:
        return "not retried, as a retry cannot help; missing"
    return "missing"
