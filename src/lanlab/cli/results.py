"""How commands print the results of a run."""

from __future__ import annotations

from typing import Any

from lanlab.cli.terminal import answer, print_json
from lanlab.store import RunRecord, TrialRecord


def modes_as_json(trial: TrialRecord) -> dict[str, Any] | None:
    """What a trial was measured with; `None` where no engine of ours told."""
    from lanlab.analysis.modes import modes_of

    modes = modes_of(trial)
    return None if modes is None else modes.to_json()


def run_as_json(run: RunRecord, trials: list[TrialRecord]) -> dict[str, Any]:
    """A run and its trials, for programs. What the engines said in full stays in the store."""
    from lanlab.analysis.attempts import counting

    counted = {trial.number for trial in counting(trials)}
    return {
        "run": run.id,
        "study": run.study_id,
        "scale": run.scale,
        "seed": run.seed,
        "testbed": run.testbed["name"],
        "link": run.testbed["link"],
        "status": run.status,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "trials": [
            {
                "number": trial.number,
                "experiment": trial.experiment,
                "block": trial.block,
                "purpose": trial.purpose,
                "status": trial.status,
                "is_polluted": trial.is_polluted,
                "counts": trial.number in counted,
                "pollution": trial.raw.get("pollution"),
                "factors": trial.factors,
                "error": trial.error,
                "modes": modes_as_json(trial),
                **trial.metrics,
            }
            for trial in trials
        ],
    }


def print_run(run: RunRecord, trials: list[TrialRecord], as_json: bool) -> None:
    """The answer of a run: sentences and tables, or one JSON object."""
    if as_json:
        print_json(run_as_json(run, trials))
        return
    from lanlab.report.answer import sentences
    from lanlab.report.text import tables

    console, table_console = answer(), answer(markup=True)
    for table in tables(run, trials):
        table_console.print(table)
        console.print()
    for sentence in sentences(run, trials):
        console.print(sentence)
    failed = sum(trial.status == "failed" for trial in trials)
    console.print(
        f"{run.status}: {len(trials)} trials, {failed} failed; "
        f"`lanlab report {run.id}` draws the figures"
    )
