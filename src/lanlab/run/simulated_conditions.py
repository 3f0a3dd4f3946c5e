"""Conditions on arbitrary machines, simulated without a stored run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from lanlab.analysis.attempts import condition_key
from lanlab.performers import SimulatedTrial, trial_seed
from lanlab.performers.simulated import SimulatedPerformer, simulate_request
from lanlab.plan import Condition, expand
from lanlab.run.simulated import on_machines
from lanlab.studies import Study
from lanlab.testbeds.simulated import SimulatedTestbed
from lanlab.workloads import CounterChanges, workload

Wanted = tuple[Condition, SimulatedTrial]


class SimulatedConditions:
    """
    Simulates conditions, each only once for the same machines and seed.

    Args:
        bed: The simulated testbed, which has the engines.
    """

    def __init__(self, bed: SimulatedTestbed) -> None:
        self._bed = bed
        self._known: dict[str, Mapping[str, float | int]] = {}

    @property
    def simulated(self) -> int:
        return len(self._known)

    def expect(self, wanted: Iterable[Wanted]) -> None:
        """Simulate these in parallel; they are requested next, in this order."""
        self._bed.worlds.expect(
            [
                simulate_request(workload(condition.workload), condition.values, trial)
                for condition, trial in wanted
                if _key(condition, trial) not in self._known
            ]
        )

    def metrics(self, condition: Condition, trial: SimulatedTrial) -> Mapping[str, float | int]:
        """
        The result of a trial of a condition.

        Raises:
            LabError: It has no result.
        """
        key = _key(condition, trial)
        if key not in self._known:
            performer = SimulatedPerformer(self._bed, trial)
            kind = workload(condition.workload)
            outcome = performer.perform(kind, condition.values, None)
            if outcome.error is not None:
                raise outcome.error
            self._known[key] = performer.metrics(kind, condition.values, outcome, CounterChanges())
        return self._known[key]


def first_metrics(
    study: Study, scale: str, link: str, seed: int, conditions: SimulatedConditions
) -> dict[tuple[str, str], float]:
    """
    The first metric of each experiment at each of its conditions, from one trial each.

    Args:
        study: With machines; all its experiments can be simulated.
        link: The run's link, for places without their own medium.
        seed: The run's seed: the trial is the run's first one of its condition.

    Returns:
        By experiment and `condition_key`, in the metric's SI unit. A search has none.
    """
    metric_of = {one.id: one.metrics[0] for one in study.experiment if one.search is None}
    wanted = [
        (
            one,
            on_machines(
                study, one, link, trial_seed(seed, one.experiment, one.factors, "trial", 0)
            ),
        )
        for one in expand(study, scale)
        if one.experiment in metric_of
    ]
    conditions.expect(wanted)
    found = {}
    for condition, trial in wanted:
        metrics = conditions.metrics(condition, trial)
        metric = metric_of[condition.experiment]
        if metric in metrics:
            key = condition.experiment, condition_key(dict(condition.factors))
            found[key] = float(metrics[metric])
    return found


def _key(condition: Condition, trial: SimulatedTrial) -> str:
    values = condition.values.model_dump(mode="json")
    return json.dumps([condition.workload, values, asdict(trial)], sort_keys=True)
