"""The results of a single measurement as one JSON object, and the means of its trials."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lanlab import captures

if TYPE_CHECKING:
    from lanlab.store import Level, RunRecord, TrialRecord


def as_json(run: RunRecord, trials: list[TrialRecord]) -> dict[str, Any]:
    """
    One object: the results by their keys in the store, and where they were measured. With several
    trials each number is the mean over successful trials, and `trials` has each trial. With several
    drivers, `drivers` has the numbers of each.
    """
    from lanlab.analysis.failures import failures
    from lanlab.analysis.measured_where import measured_where
    from lanlab.cli.results import agreed_as_json, commands_as_json, modes_as_json
    from lanlab.workloads.option_words import by_option

    where = measured_where(run)
    failed = {failure.trial.number: failure.to_json() for failure in failures(trials)}
    found = by_driver(trials)
    means = {name: mean_metrics(of_driver) for name, of_driver in found.items()}
    parameters = dict(trials[0].parameters)
    if len(found) > 1:
        del parameters["driver"]
    ended = [modes_as_json(trial) for trial in trials if trial.status == "done"]
    # The I/O modes of all successful trials, if equal: an engine may choose differently in each.
    modes = ended[0] if ended and all(other == ended[0] for other in ended) else None
    return {
        "run": run.id,
        "testbed": where.testbed,
        "link": where.link,
        "workload": trials[0].workload,
        "options": by_option(trials[0].workload, parameters),
        # Keys as in studies and the store, for programs written for version 0.1.
        "parameters": parameters,
        "modes": modes,
        # Means are over the `n` successful trials.
        "n": sum(trial.status == "done" for trial in trials),
        "failed_trials": len(failed),
        **captures.to_json(),
        **({"tools": means, "drivers": means} if len(found) > 1 else next(iter(means.values()))),
        "trials": [
            {
                "number": trial.number,
                **(_tool_of(trial) if len(found) > 1 else {}),
                "status": trial.status,
                "error": trial.error,
                "failure": failed.get(trial.number),
                "pollution": trial.raw.get("pollution"),
                "modes": modes_as_json(trial),
                **agreed_as_json(trial),
                **commands_as_json(trial),
                **trial.metrics,
            }
            for trial in trials
        ],
    }


def _tool_of(trial: TrialRecord) -> dict[str, Level]:
    """The measuring program, by the option's name and by the key of version 0.1."""
    return {"tool": trial.parameters["driver"], "driver": trial.parameters["driver"]}


def by_driver(trials: list[TrialRecord]) -> dict[str, list[TrialRecord]]:
    found: dict[str, list[TrialRecord]] = {}
    for trial in trials:
        found.setdefault(str(trial.parameters["driver"]), []).append(trial)
    return found


def mean_metrics(trials: list[TrialRecord]) -> dict[str, float | int]:
    """The mean of each metric that all finished trials have. For a single trial, its value."""
    done = [trial.metrics for trial in trials if trial.status == "done"]
    if len(done) == 1:
        return dict(done[0])
    common = [key for key in done[0] if all(key in metrics for metrics in done)] if done else []
    return {key: math.fsum(metrics[key] for metrics in done) / len(done) for key in common}
