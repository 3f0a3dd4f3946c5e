"""Result of a stored run in a few words, for lists of runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lanlab.analysis.trials.attempts import by_condition, counting
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.number_text import number
from lanlab.figures.wording import quantity
from lanlab.store import RunRecord, TrialHead, TrialRecord
from lanlab.trial_data import ExperimentData

_DIGITS = 3


def metrics_of_list(run: RunRecord) -> dict[str, str] | None:
    """The metric of each experiment that a list shows; `None` if it shows a search."""
    experiments = run.study.get("experiment", ())
    if any(experiment.get("search") for experiment in experiments):
        return None
    return {str(one["id"]): str(one["metrics"][0]) for one in experiments}


def result_text(run: RunRecord, trials: Sequence[TrialRecord | TrialHead]) -> str:
    """The first metric of the first experiment that has one: the mean of a single condition, or the
    minimum and maximum of several.
    """
    experiments = run.study.get("experiment", ())
    for experiment in experiments:
        own = [trial for trial in trials if trial.experiment == experiment["id"]]
        if experiment.get("search"):
            text = _searched(run, [trial for trial in own if isinstance(trial, TrialRecord)])
        else:
            text = _measured(experiment, own)
        if text:
            return text
    return ""


def _measured(experiment: ExperimentData, trials: Sequence[TrialRecord | TrialHead]) -> str:
    metric = str(experiment["metrics"][0])
    found = {
        key: [trial.metrics[metric] for trial in own if metric in trial.metrics]
        for key, own in by_condition(counting(trials)).items()
    }
    means = sorted(math.fsum(values) / len(values) for values in found.values() if values)
    if not means:
        return ""
    shown = quantity(None, metric).readable(means)
    if len(means) == 1:
        return f"{shown.name} {shown.text(means[0], _DIGITS)}"
    low, high = (number(shown.shown(mean), _DIGITS) for mean in (means[0], means[-1]))
    return f"{shown.name} {low} … {high} {shown.unit}".rstrip() + f" in {len(means)} conditions"


def _searched(run: RunRecord, trials: Sequence[TrialRecord]) -> str:
    from lanlab.analysis.saturation.search import saturations
    from lanlab.report.saturation.saturation_text import goal_text, highest

    for found in saturations(RunData(run, trials)):
        for goal in found.goals:
            load = highest(goal)
            if load is not None:
                shown = quantity(None, found.factor)
                lost = goal_text(goal.result.loss_ratio)
                at_least = "at least " if found.is_of_host else ""
                return f"{lost} lost up to {at_least}{shown.text(load, _DIGITS)}"
        if found.is_of_host:
            return "not known: host disturbed"
    return ""
