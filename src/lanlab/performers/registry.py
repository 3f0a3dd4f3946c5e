"""Which performer carries out the trials of a condition on a testbed."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from lanlab.performers.base import HostsOf, OnProgress, Performer, SimulatedTrial
from lanlab.performers.engine_host import EngineHost
from lanlab.performers.engines import EnginePerformer
from lanlab.performers.hosts import Hosts
from lanlab.testbeds.base import HasMedium, Testbed
from lanlab.workloads import CounterChanges, TrialOutcome, Workload
from lanlab.workloads.drivers.registry import OWN
from lanlab.workloads.parameters import TrialParameters
from lanlab.workloads.registry import P


def _simulated(bed: Testbed, trial: SimulatedTrial) -> Performer:
    from lanlab.performers.simulated import SimulatedPerformer

    return SimulatedPerformer(bed, trial)


#: By the name of a testbed with simulated hosts: its simulator. No engine runs there, and nothing
#: on this machine disturbs its trials.
SIMULATORS: dict[str, Callable[[Testbed, SimulatedTrial], Performer]] = {"simulated": _simulated}


def performer_for(
    parameters: TrialParameters, bed: Testbed, hosts: Hosts, trial: SimulatedTrial | None = None
) -> Performer:
    """
    The performer of a condition's trials.

    Args:
        parameters: Parameters of the condition.
        hosts: Hosts of the testbed; without engines if they are simulated.
        trial: Machines and seed on a simulated testbed.
    """
    if bed.name in SIMULATORS:
        assert trial is not None
        return SIMULATORS[bed.name](bed, trial)
    medium = bed if isinstance(bed, HasMedium) else None
    return _between(parameters, hosts.engine_hosts, bed.start_lead_s, medium)


def perform_between(
    kind: Workload[P],
    parameters: P,
    first: EngineHost,
    second: EngineHost,
    lead_s: float,
    on_progress: OnProgress | None = None,
) -> TrialOutcome:
    """
    Run a trial between two hosts without a testbed.

    Args:
        first, second: The hosts, in the order of the workload's roles.
        lead_s: Time from announcing the start to the start.
    """
    performer = _between(parameters, lambda _: [first, second], lead_s)
    return performer.perform(kind, parameters, on_progress)


def metrics_of(
    kind: Workload[P], parameters: P, outcome: TrialOutcome, changes: CounterChanges
) -> dict[str, float | int]:
    """The results of a trial of `perform_between`."""
    return _between(parameters, lambda _: [], 0).metrics(kind, parameters, outcome, changes)


def _between(
    parameters: TrialParameters, hosts: HostsOf, lead_s: float, medium: HasMedium | None = None
) -> Performer:
    if parameters.driver != OWN:
        from lanlab.performers.programs import ProgramPerformer

        # It measures streams and echoes only.
        return cast("Performer", ProgramPerformer(hosts))
    return EnginePerformer(hosts, lead_s, medium)
