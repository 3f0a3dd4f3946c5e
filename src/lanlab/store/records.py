"""
The records of a run and its trials in a store.

They are plain values, the same for every store. All dicts can be written as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lanlab import trial_data as data
from lanlab.frozen import dataclass
from lanlab.trial_data import Level as Level

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
    raw: Mapping[str, object]
    #: `code`, `message` and `hint` of a failed trial.
    error: data.ErrorRecord | None = None

    def result(self, role: str) -> data.RoleResult:
        """The result of a role; empty if there is none."""
        return data.result_of(self.raw, role)

    @property
    def setup(self) -> data.Setup:
        return data.setup_of(self.raw)

    @property
    def facts(self) -> data.TrialFacts:
        return data.facts_of(self.raw)

    @property
    def is_disturbed(self) -> bool:
        known: bool | None = getattr(self.raw, "is_disturbed", None)
        if known is not None:
            return known
        kept = data.pollution_of(self.raw)
        return any(finding["repeat_helps"] for finding in (kept["findings"] if kept else ()))


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
    study: data.StudyRecord
    scale: str
    seed: int
    #: `name`, `link`, `link_rate_bps` and the testbed's `facts`.
    testbed: data.TestbedRecord
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
    alternation: data.Alternation | None = None
    #: The user's `name`, `note` and `tags`, if set; `None` without any.
    label: data.LabelRecord | None = None
    #: The part that lists show, once the run has ended; `None` if not yet known.
    summary: data.Summary | None = None

    @property
    def is_simulated(self) -> bool:
        return bool(self.testbed.get("name") == "simulated")
