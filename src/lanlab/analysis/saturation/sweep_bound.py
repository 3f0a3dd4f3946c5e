"""Checks the result of a search against a sweep over the same loads in the same run."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.trials.run_data import RunData
from lanlab.frozen import dataclass
from lanlab.plan.random_loss import RandomLoss
from lanlab.plan.search_reading import SearchReading, search_reading
from lanlab.store import TrialRecord
from lanlab.studies.scaling import ExperimentAtScale

_OF_NO_TRAFFIC = frozenset({"time_s", "warmup_s"})
#: Expected losses in a sweep if the claimed random loss exists. With this many, a sweep without
#: any loss has a probability of 5 %.
_LEAST_EXPECTED = 3.0


@dataclass(frozen=True)
class SweepBound:
    """A load that met a loss goal in every trial of a sweep, as did every lower load."""

    experiment: str
    #: The lowest load that its trials actually offered, in the factor's unit.
    load: float
    trials: int
    messages: float


def sweep_bound(
    search: ExperimentAtScale,
    steps: Sequence[TrialRecord],
    data: RunData,
    loss_ratio: float,
) -> SweepBound | None:
    """
    The highest load at which a sweep of the same traffic met a loss goal; `None` without one.

    Args:
        search: With its trials, `steps`.
        data: The run, with its sweeps.
        loss_ratio: The goal.
    """
    rule = search.search
    assert rule is not None
    found = []
    for sweep in data.experiments:
        if sweep.search is not None or rule.factor not in sweep.factors or not steps:
            continue
        own = data.counted(sweep.experiment.id)
        alike = [one for one in own if _is_alike(one, steps[0], rule.factor)]
        bound = _bound(sweep.experiment.id, alike, rule.factor, rule.metric, loss_ratio)
        # A single trial may meet the goal by chance.
        if bound is not None and bound.trials >= max(2, (rule.trials + 1) // 2):
            found.append(bound)
    return max(found, key=lambda one: one.load, default=None)


def refutes_random_loss(bound: SweepBound, loss: RandomLoss, loss_ratio: float) -> bool:
    """Whether a sweep met a goal that it would miss if messages were lost at every load."""
    expected = bound.messages * loss.low / loss.dispersion
    return loss_ratio < loss.low and expected > _LEAST_EXPECTED


def _is_alike(trial: TrialRecord, step: TrialRecord, factor: str) -> bool:
    def traffic(one: TrialRecord) -> dict[str, object]:
        left_out = {factor, *_OF_NO_TRAFFIC}
        return {key: value for key, value in one.parameters.items() if key not in left_out}

    return trial.workload == step.workload and traffic(trial) == traffic(step)


def _bound(
    experiment: str, trials: Sequence[TrialRecord], factor: str, metric: str, loss_ratio: float
) -> SweepBound | None:
    by_load: dict[float, list[SearchReading | None]] = {}
    for trial in trials:
        by_load.setdefault(float(trial.factors[factor]), []).append(
            search_reading(trial.metrics, metric)
        )
    found, messages = None, 0.0
    for load, every in sorted(by_load.items()):
        good = [one for one in every if one is not None and one.loss_ratio <= loss_ratio]
        if len(good) < len(every):
            break
        messages += sum(one.messages for one in good)
        offered = load * min(1.0, *(one.offered_ratio for one in good))
        found = SweepBound(experiment, offered, len(good), messages)
    return found
