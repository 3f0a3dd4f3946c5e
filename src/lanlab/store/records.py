"""
The records of a run and its trials in a store.

They are plain values, the same for every store. All dicts can be written as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

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
    #: Factor levels only, which identify the condition in its experiment.
    factors: dict[str, Level]
    #: All workload parameters of the condition, without unset ones.
    parameters: dict[str, Level]
    #: Randomised block, from 0; in a search, the step.
    block: int
    #: One of `TRIAL_PURPOSES`.
    purpose: str
    #: One of `TRIAL_STATUSES`.
    status: str
    #: ISO 8601, UTC, with microseconds.
    started_at: str
    elapsed_s: float
    #: Keys as in the workload's `metrics`, and further ones. A key is absent if not measured.
    metrics: Mapping[str, float | int]
    #: Requests, engine results, facts about hosts and link before and after, and detected
    #: disturbances (`pollution`).
    raw: Mapping[str, Any]
    #: `code`, `message` and `hint` of a failed trial.
    error: dict[str, Any] | None = None

    @property
    def is_disturbed(self) -> bool:
        known: bool | None = getattr(self.raw, "is_disturbed", None)
        if known is not None:
            return known
        findings = self.raw.get("pollution", {}).get("findings", ())
        return any(finding["repeat_helps"] for finding in findings)


class TrialHead(NamedTuple):
    """What lists need of a trial."""

    number: int
    experiment: str
    purpose: str
    factors: dict[str, Level]
    block: int
    status: str
    is_disturbed: bool
    metrics: Mapping[str, float | int]


@dataclass(frozen=True)
class RunRecord:
    id: str
    study_id: str
    #: The whole study file as validated, so that later changes to the file do not affect the run.
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
    #: The command as typed, without passwords; `None` if not recorded.
    command: str | None = None
    #: For an alternating run: `id` of the series, `turn` and `side` (each from 0), and all that is
    #: needed to continue the series (`lanlab.run.alternate`). `None` for any other run.
    alternation: dict[str, Any] | None = None
    #: The user's `name`, `note` and `tags`, if set; `None` without any.
    label: dict[str, Any] | None = None
    #: The part that lists show, once the run has ended; `None` if not yet known.
    summary: dict[str, Any] | None = None

    @property
    def is_simulated(self) -> bool:
        return bool(self.testbed.get("name") == "simulated")
