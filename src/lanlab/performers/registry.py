"""Which performer carries out the trials of a condition on a testbed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lanlab.performers.base import OnProgress, Performer
from lanlab.performers.engine_host import EngineHost
from lanlab.performers.engines import EnginePerformer, conduct
from lanlab.performers.hosts import Hosts
from lanlab.testbeds.base import Testbed
from lanlab.workloads import CounterChanges, TrialOutcome, Workload
from lanlab.workloads.drivers.registry import OWN

#: By the name of a testbed whose hosts are simulated: what simulates them. No engine runs there,
#: and nothing of this machine disturbs its trials.
SIMULATORS: dict[str, Callable[[Testbed], Performer]] = {}


def performer_for(parameters: Any, bed: Testbed, hosts: Hosts) -> Performer:
    """
    What carries out the trials of a condition.

    Args:
        parameters: Of the condition.
        hosts: Of the testbed; without engines if they are simulated.
    """
    if bed.name in SIMULATORS:
        return SIMULATORS[bed.name](bed)
    if parameters.driver != OWN:
        from lanlab.performers.programs import ProgramPerformer

        return ProgramPerformer(hosts)
    return EnginePerformer(hosts, bed.start_lead_s)


def perform_between(
    kind: Workload,
    parameters: Any,
    first: EngineHost,
    second: EngineHost,
    lead_s: float,
    on_progress: OnProgress | None = None,
) -> TrialOutcome:
    """
    Carry a trial out between two hosts without a testbed.

    Args:
        first, second: The hosts, in the order of the workload's roles.
        lead_s: How far ahead the start is sent.
    """
    if parameters.driver != OWN:
        from lanlab.performers.programs import run_program

        return run_program(kind, parameters, first, second)
    hosts = dict(zip(kind.roles, ([first], [second]), strict=True))
    return conduct(kind.steps(parameters), hosts, lead_s, on_progress)


def metrics_of(
    kind: Workload, parameters: Any, outcome: TrialOutcome, changes: CounterChanges
) -> dict[str, float | int]:
    """The results of a trial of `perform_between`."""
    if parameters.driver != OWN:
        from lanlab.performers.programs import program_metrics

        return program_metrics(kind, parameters, outcome)
    return kind.summarise(parameters, outcome, changes)
