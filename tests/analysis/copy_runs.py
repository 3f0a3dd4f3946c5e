"""Runs of a study of copies that were never measured: times from costs that are known."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from copied_metrics import contents, copied
from planned_records import a_trial
from planned_runs import a_run

from lanlab.plan.plan import Plan, PlannedTrial
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.model import Study

#: Seconds a byte, a file and a trial, by service.
Costs = Mapping[str, tuple[float, float, float]]


def copy_study(
    services: Sequence[str], datasets: Sequence[str], trials: int = 5, **changes: Any
) -> Study:
    """A study with one experiment, `copies`, over services and datasets."""
    return Study.model_validate(
        {
            "schema": 1,
            "id": "copies-by-hand",
            "title": "Copies",
            "experiment": [
                {
                    "id": "copies",
                    "title": "Copies",
                    "workload": "copy",
                    "metrics": ["elapsed_ns", "goodput_bps"],
                    "factors": {"service": list(services), "dataset": list(datasets)},
                }
            ],
            "scale": {"quick": {"trials": {"min": trials, "max": trials}}},
            **changes,
        }
    )


def copy_run(
    study: Study,
    costs: Costs,
    spread: float = 0.0,
    fails: Callable[[PlannedTrial], bool] = lambda planned: False,
    scale: str = "quick",
) -> tuple[RunRecord, list[TrialRecord]]:
    """A whole run; each trial is off by a normal share with that deviation, from a fixed seed."""
    run, rng = a_run(study, scale, 10**9), random.Random(3)
    plan, trials = Plan(study, scale, run.seed), []
    while (planned := plan.next_trial()) is not None:
        metrics = copy_metrics(planned, costs, rng.gauss(1, spread))
        trials.append(a_trial(run, planned, None if fails(planned) else metrics))
        plan.record(trials[-1])
    return run, trials


def copy_metrics(planned: PlannedTrial, costs: Costs, noise: float = 1.0) -> dict[str, float | int]:
    """What a trial comes to at these costs; a stream carries 9.4 Mbit/s."""
    if planned.workload == "stream":
        return {"goodput_bps": 9.4e6 * noise}
    dataset = str(planned.parameters["dataset"])
    octets, files = contents(dataset)
    byte_s, file_s, trial_s = costs[str(planned.parameters["service"])]
    return copied(dataset, (byte_s * octets + file_s * files + trial_s) * noise)
