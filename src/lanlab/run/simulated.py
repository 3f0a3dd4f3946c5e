"""The machines of a simulated trial, and the refusals before any is simulated."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace

from lanlab.analysis.trials.attempts import condition_key
from lanlab.errors import UsageError
from lanlab.performers import SimulatedTrial, trial_seed
from lanlab.performers.simulated import SimulatedPerformer, simulate_request
from lanlab.plan.conditions import Condition, expand
from lanlab.plan.plan import Plan, PlannedTrial
from lanlab.run.open_testbed import OpenTestbed
from lanlab.store import Level, RunRecord
from lanlab.studies.counterparts import place_at
from lanlab.studies.machines import KnownMachine, known_machine
from lanlab.studies.model import Study
from lanlab.testbeds.base import Simulates
from lanlab.testbeds.simulated import SimulatedTestbed
from lanlab.workloads import CounterChanges, workload
from lanlab.workloads.registry import Habits

Wanted = tuple[Condition, SimulatedTrial]


def check_worlds(study: Study, conditions: Sequence[Condition], link: str) -> None:
    """
    Refuse conditions that cannot be simulated.

    Raises:
        UsageError: No place matches a condition, or a parameter or link has no counterpart.
    """
    if study.simulation is None:
        return
    for condition in conditions:
        trial = on_machines(study, condition, link, seed=0)
        simulate_request(workload(condition.workload), condition.values, trial)


def simulated_trial(run: RunRecord, planned: PlannedTrial, testbed: OpenTestbed) -> SimulatedTrial:
    for one, trial in testbed.expected:
        if one == planned:
            return trial
    trial = _simulated_trial(run, planned, testbed)
    testbed.expected.append((planned, trial))
    return trial


def _simulated_trial(run: RunRecord, planned: PlannedTrial, testbed: OpenTestbed) -> SimulatedTrial:
    seed = trial_seed(run.seed, planned.experiment, planned.factors, planned.purpose, planned.block)
    study = testbed.study_of(run)
    if study.simulation is None:
        return SimulatedTrial((), (), str(run.testbed["link"]), seed)
    trial = on_machines(study, planned, str(run.testbed["link"]), seed)
    if not isinstance(testbed.bed, Simulates):
        return trial
    return replace(trial, pcap=testbed.bed.pcap_of(planned.number))


def expect_worlds(run: RunRecord, plan: Plan, testbed: OpenTestbed) -> None:
    """Compute the worlds of the next likely trials in parallel."""
    bed = testbed.bed
    # A simulator without machines, for example a test's.
    if not isinstance(bed, Simulates) or testbed.study_of(run).simulation is None:
        return
    if bed.worlds.most < 2:
        return
    bed.worlds.expect(
        [
            simulate_request(
                workload(planned.workload), planned.values, simulated_trial(run, planned, testbed)
            )
            for planned in plan.upcoming(2 * bed.worlds.most)
        ]
    )


def on_machines(study: Study, trial: Condition, link: str, seed: int) -> SimulatedTrial:
    """
    A trial of a study on its machines.

    Raises:
        UsageError: No machine represents its condition.
    """
    assert study.simulation is not None
    place = place_at(study, trial.parameters, trial.experiment)
    if place is None:
        levels = ", ".join(f"{name} {level}" for name, level in trial.factors.items())
        raise UsageError(
            f"experiment `{trial.experiment}`: no [[place]] in machines.toml covers "
            f"{levels or 'its condition'}",
            hint="add one there",
        )
    machines = [known_machine(study.simulation, name) for name in place.machines]
    _check_sessions(machines[-1], trial.parameters.get("stations", 1))
    return trial_on(machines, study.simulation.link_of(place, trial.parameters) or link, seed)


def _check_sessions(server: KnownMachine, stations: Level) -> None:
    most = server.numbers.get("sessions")
    if most is not None and int(stations) > most.value:
        raise UsageError(
            f"stations: found {stations}; allowed: 1 to {most.value:g}, the sessions of "
            f"`{server.id}`",
            hint=f"raise `sessions` of machine `{server.id}` to simulate more",
        )


def trial_on(machines: Sequence[KnownMachine], link: str, seed: int) -> SimulatedTrial:
    of_station = machines[0].numbers
    patience, retries = of_station.get("patience_ms"), of_station.get("retries")
    habits = Habits(
        outstanding_requests=machines[0].outstanding_requests,
        patience_ns=None if patience is None else round(1e6 * patience.value),
        retries=None if retries is None else int(retries.value),
        waits_on="waits_on" in of_station and bool(of_station["waits_on"].value),
    )
    return SimulatedTrial(
        names=[one.id for one in machines],
        machines=[one.request() for one in machines],
        link=link,
        seed=seed,
        habits=habits,
    )


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
            key = condition.experiment, condition_key(condition.factors)
            found[key] = float(metrics[metric])
    return found


def _key(condition: Condition, trial: SimulatedTrial) -> str:
    values = condition.values.model_dump(mode="json")
    return json.dumps([condition.workload, values, asdict(trial)], sort_keys=True)
