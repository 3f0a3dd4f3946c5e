"""A small study, stores for it, and watchers that interfere with its runs."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lanlab.plan.plan import PlannedTrial
from lanlab.plan.running import Estimate
from lanlab.run import RunRequest
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.sqlite import SqliteStore
from lanlab.studies.load import parse_study
from lanlab.studies.model import Study
from lanlab.workloads import Progress

#: Two experiments, five conditions, ten trials that end by their count: no pause of a busy machine
#: leaves one without a result.
SMALL: dict[str, Any] = {
    "schema": 1,
    "id": "small",
    "title": "Small messages",
    "testbed": {"hosts": 2, "link": "unshaped"},
    "experiment": [
        {
            "id": "sizes",
            "title": "Goodput of small messages",
            "workload": "stream",
            "metrics": ["goodput_bps"],
            "parameters": {"rate_bps": "1M", "messages": 50},
            "factors": {"message_size_bytes": [50, 100, 200]},
        },
        {
            "id": "round-trips",
            "title": "Round trips of small messages",
            "workload": "echo",
            "metrics": ["rtt_mean_ns"],
            "parameters": {"requests": 50},
            "factors": {"message_size_bytes": [50, 100]},
        },
    ],
    "scale": {
        "quick": {
            "parameters": {"warmup_s": 0},
            # As many as planned, whatever else this machine does meanwhile.
            "trials": {"min": 2, "max": 2, "repeat_polluted": 0},
        }
    },
}


def small_study(**parameters: Any) -> Study:
    """The small study, with some parameters of its streams changed."""
    first, second = SMALL["experiment"]
    changed = {**first, "parameters": {**first["parameters"], **parameters}}
    return parse_study({**SMALL, "experiment": [changed, second]}, "small.toml")


def repeating_study(repeat_polluted: int) -> Study:
    (scale,) = SMALL["scale"].values()
    trials = {**scale["trials"], "repeat_polluted": repeat_polluted}
    return parse_study({**SMALL, "scale": {"quick": {**scale, "trials": trials}}}, "small.toml")


def slow_study(time_s: float = 1.5) -> Study:
    """One condition, two trials, each long enough to say how far it is before it ends."""
    (scale,) = SMALL["scale"].values()
    experiment = {
        **SMALL["experiment"][0],
        "factors": {"message_size_bytes": [100]},
        "parameters": {"rate_bps": "1M"},
    }
    parameters = {**scale["parameters"], "time_s": time_s}
    return parse_study(
        {
            **SMALL,
            "experiment": [experiment],
            "scale": {"quick": {**scale, "parameters": parameters}},
        },
        "slow.toml",
    )


def on_loopback(study: Study, seed: int | None = 1) -> RunRequest:
    return RunRequest(study, "quick", "loopback", None, seed)


class Watching:
    """Keeps what it is told; tests put their interference in its place."""

    def __init__(self) -> None:
        self.run: RunRecord | None = None
        self.planned: list[PlannedTrial] = []
        self.ended: list[TrialRecord] = []
        #: Called once, by another thread, in the middle of a trial.
        self.in_mid_trial: Callable[[], None] | None = None

    def run_started(self, run: RunRecord, estimate: Estimate) -> None:
        self.run = run

    def trial_started(self, trial: PlannedTrial, estimate: Estimate) -> None:
        self.planned.append(trial)

    def trial_progress(self, trial: PlannedTrial, progress: Progress) -> None:
        interfere, self.in_mid_trial = self.in_mid_trial, None
        if interfere is not None:
            interfere()

    def trial_ended(self, trial: TrialRecord) -> None:
        self.ended.append(trial)


class Interrupting(Watching):
    """Ends the run, as Ctrl-C does, when so many trials have ended and another has begun."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._after = after

    def trial_started(self, trial: PlannedTrial, estimate: Estimate) -> None:
        super().trial_started(trial, estimate)
        if len(self.planned) > self._after:
            raise KeyboardInterrupt


def order_of(trials: list[TrialRecord]) -> list[tuple[Any, ...]]:
    return [(t.number, t.experiment, t.factors, t.block, t.purpose) for t in trials]


def alive(pid: int) -> bool:
    """Whether a process is there. One that has ended is not, once it has been waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def a_store(folder: Path) -> SqliteStore:
    return SqliteStore(folder / "store.sqlite")
