"""
What a run and its trials leave in a store.

Plain values, the same for every store: everything in a dict can be written as JSON.
"""

from __future__ import annotations

from typing import Any

from lanlab.frozen import dataclass

Level = bool | int | float | str

RUN_STATUSES = ("running", "done", "interrupted", "failed")
TRIAL_STATUSES = ("done", "failed")
TRIAL_PURPOSES = ("trial", "search", "confirm", "curve")


@dataclass(frozen=True)
class TrialRecord:
    """One execution of a condition, with all that is needed to repeat it."""

    run_id: str
    #: Order of execution within the run, from 0.
    number: int
    experiment: str
    workload: str
    #: Factor levels only: what identifies the condition in its experiment.
    factors: dict[str, Level]
    #: All workload parameters of the condition; those that are not set are left out.
    parameters: dict[str, Level]
    #: Randomised block, from 0; of a search, the step.
    block: int
    #: One of `TRIAL_PURPOSES`.
    purpose: str
    #: One of `TRIAL_STATUSES`.
    status: str
    #: ISO 8601, UTC, with microseconds.
    started_at: str
    elapsed_s: float
    #: Result keys as in the workload's `metrics`, and more; absent means not measured.
    metrics: dict[str, float | int]
    #: Requests, engine results, host and link facts before and after, and `pollution`: what was
    #: found that disturbed it.
    raw: dict[str, Any]
    #: `code`, `message` and `hint` of a failed trial.
    error: dict[str, Any] | None = None

    @property
    def is_disturbed(self) -> bool:
        findings = self.raw.get("pollution", {}).get("findings", ())
        return any(finding["repeat_helps"] for finding in findings)


@dataclass(frozen=True)
class RunRecord:
    id: str
    study_id: str
    #: The whole study file as validated, so that a run outlives changes to it.
    study: dict[str, Any]
    scale: str
    seed: int
    #: `name`, `link`, `link_rate_bps` and the testbed's `facts`.
    testbed: dict[str, Any]
    versions: dict[str, str]
    #: One of `RUN_STATUSES`.
    status: str
    #: ISO 8601, UTC, with microseconds.
    started_at: str
    ended_at: str | None = None
    #: The command as it was typed, without passwords; `None` where it was not recorded.
    command: str | None = None
    #: Place of a run taken in turns with others: `id` of the series, `turn` and `side` (each from
    #: 0), and all that the series needs to go on (`lanlab.run.alternate`); `None` of any other run.
    alternation: dict[str, Any] | None = None
    #: What people call it: `name`, `note` and `tags`, each only if there is one; `None`: nothing.
    label: dict[str, Any] | None = None

    @property
    def is_simulated(self) -> bool:
        return bool(self.testbed.get("name") == "simulated")
