"""Records of trials that a plan ordered and nothing measured."""

from typing import Any

from lanlab.plan.plan import PlannedTrial
from lanlab.store import RunRecord, TrialRecord

START = "2026-11-21T08:15:00.000000+00:00"


def a_trial(
    run: RunRecord,
    planned: PlannedTrial,
    metrics: dict[str, float | int] | None,
    raw: dict[str, Any] | None = None,
) -> TrialRecord:
    """A trial with these results, or without any one that failed."""
    error: dict[str, Any] = {"code": "peer.silent", "message": "nothing heard for 3 s"}
    return TrialRecord(
        run_id=run.id,
        number=planned.number,
        experiment=planned.experiment,
        workload=planned.workload,
        factors=dict(planned.factors),
        parameters=dict(planned.parameters),
        block=planned.block,
        purpose=planned.purpose,
        status="failed" if metrics is None else "done",
        started_at=START,
        elapsed_s=0.5,
        metrics=metrics or {},
        raw=raw or {},
        error={**error, "hint": None} if metrics is None else None,
    )
