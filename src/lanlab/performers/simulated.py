"""Trials on modelled machines: one request to an engine runs a whole trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from lanlab import messages as m
from lanlab.errors import LabError, UsageError
from lanlab.performers.base import OnProgress, SimulatedTrial
from lanlab.testbeds.link import LinkRequest, parse_link
from lanlab.workloads import CounterChanges, TrialOutcome, Workload
from lanlab.workloads.definitions import definitions
from lanlab.workloads.parameters import TrialParameters
from lanlab.workloads.registry import WORKLOADS, AnyWorkload, P, Simulates, workload

#: Maximum events of a world; more are taken for an endless loop. Some minutes of work.
MAX_EVENTS = 2_000_000_000


class SimulatedPerformer:
    """
    An engine that simulates a trial from its beginning to its end.

    Args:
        bed: The simulated testbed, which has the engines.
        trial: The machines and the seed.
    """

    def __init__(self, bed: Any, trial: SimulatedTrial) -> None:
        self._bed, self._trial = bed, trial

    def perform(
        self, kind: Workload[P], parameters: P, on_progress: OnProgress | None
    ) -> TrialOutcome:
        outcome = TrialOutcome()
        try:
            request = simulate_request(kind, parameters, self._trial)
            outcome.setup = {
                "capabilities": {role: {} for role in kind.roles},
                "machines": dict(zip(kind.roles, self._trial.names, strict=True)),
                "requests": {"simulate": request},
            }
            result = self._bed.worlds.result(request)
            outcome.setup["world"] = result["world"]
            if timed := result["world"]["timed"]:
                sent = dict(zip(kind.roles, timed, strict=True))
                outcome.setup["medium"] = {"sent": sent}
            outcome.results = check_workload(kind.name).simulated_results(parameters, result)
        except LabError as error:
            outcome.error = error
        return outcome

    def metrics(
        self, kind: Workload[P], parameters: P, outcome: TrialOutcome, changes: CounterChanges
    ) -> dict[str, float | int]:
        """See `Performer.metrics`. The world's counters show where frames were lost."""
        return kind.summarise(parameters, outcome, world_changes(kind, outcome.setup["world"]))


def simulate_request(kind: Workload[P], parameters: P, trial: SimulatedTrial) -> m.Request:
    """
    The request to an engine to simulate a trial.

    Raises:
        UsageError: A parameter or the link has no counterpart in a simulation.
    """
    work = check_simulated(parameters).simulated_work(parameters, trial.habits)
    frames: m.Request = {} if trial.pcap is None else {"pcap": str(trial.pcap)}
    client, server = trial.machines
    options = parameters.socket_options()
    ends = [*[client] * parameters.simulated_clients, server]
    machines = [_with_options(one, options) for one in ends]
    return {
        "type": "simulate",
        **frames,
        "seed": trial.seed,
        "world": {
            "medium": medium_request(parse_link(trial.link), len(machines)),
            "machines": machines,
            "bounds": {"events": MAX_EVENTS, "virtual_time_ns": None},
        },
        "work": {"workload": kind.name, **work},
    }


def check_workload(name: str) -> Simulates[Any]:
    """
    A workload that can be simulated.

    Raises:
        UsageError: It cannot be simulated.
    """
    kind = workload(name)
    if not isinstance(kind, Simulates):
        allowed = ", ".join(key for key, one in WORKLOADS.items() if isinstance(one, Simulates))
        raise UsageError(
            f"workload `{name}` cannot be simulated; allowed: {allowed}",
            hint="run it on testbed `virtual`",
        )
    return kind


def check_simulated(parameters: TrialParameters) -> Simulates[Any]:
    """
    The workload of a condition that can be simulated.

    Raises:
        UsageError: Its workload or one of its parameters has no counterpart in a simulation.
    """
    kind = check_workload(parameters.workload)
    model: type[TrialParameters] = type(parameters)
    for one in definitions(model).values():
        found = getattr(parameters, one.key)
        if one.simulated and found not in one.simulated:
            known = " or ".join("none" if each is None else str(each) for each in one.simulated)
            raise UsageError(
                f"{one.key}: found `{found}`; allowed on testbed `simulated`: {known}",
                hint="omit it, or run it on testbed `virtual`",
            )
    return kind


def _with_options(machine: m.SimulatedMachine, options: m.SocketOptions) -> m.SimulatedMachine:
    changed = machine.copy()
    if (size := options.get("send_buffer_bytes")) is not None:
        changed["send_buffer_bytes"] = size
    if (size := options.get("receive_buffer_bytes")) is not None:
        changed["receive_buffer_bytes"] = size
    if options.get("nodelay"):
        changed["tcp"] = {**machine["tcp"], "nagle": False}
    return changed


def medium_request(link: LinkRequest, machines: int) -> m.SimulatedMedium:
    """
    A link in the form of a simulation.

    Raises:
        UsageError: It cannot be simulated.
    """
    problem = None
    if link.rate_bps is None:
        problem = "has no speed"
    elif link.token_bucket:
        problem = "has a token bucket"
    elif link.loss_burst_frames != 1:
        problem = "loses frames in bursts"
    if problem is not None:
        raise UsageError(
            f"link `{link}` {problem}; allowed on testbed `simulated`: a stated speed with a "
            "topology, delay, propagation and independent losses",
            hint="write e.g. `--link 10M:hub`",
        )
    topology = {None: "cable", "cable": "cable", "switch": "switch"}.get(link.topology, "bus")
    if topology == "cable" and machines > 2:
        speed = str(link).partition(",")[0].removesuffix(":cable")
        raise UsageError(
            f"link `{link}` is a cable, which joins 2 machines; found {machines - 1} stations and "
            "their server",
            hint=f"join them, e.g. with `--link {speed}:switch` or `--link {speed}:hub`",
        )
    # With this queue at every port, a world's memory is bounded for any medium.
    medium = {
        **({} if topology == "switch" else {"switch_queue_bytes": 0}),
        "topology": topology,
        "rate_bps": link.rate_bps,
        "propagation_ns": link.propagation(),
        "delay_ns": link.delay_ns,
        "loss_ratio": link.loss_ratio,
    }
    return cast("m.SimulatedMedium", medium)


def world_changes(kind: AnyWorkload, world: m.SimulatedFacts) -> CounterChanges:
    """The world's counts, by the names of a testbed's interface counters."""
    # All machines but the last have the first role.
    first, last = kind.roles
    return CounterChanges(
        {
            first: _counts(world["hosts"][:-1], world["medium"][:-1]),
            last: _counts(world["hosts"][-1:], world["medium"][-1:]),
        }
    )


def _counts(
    hosts: Sequence[m.SimulatedHostFacts], ports: Sequence[m.SimulatedPortFacts]
) -> dict[str, int]:
    return {
        "qdisc_drops": 0,
        "tx_drops": 0,
        "rx_drops": sum(
            host["ring_dropped_frames"] + host["queue_dropped_frames"] for host in hosts
        ),
        "medium_frames": sum(port["offered_frames"] for port in ports),
        "medium_lost_chance": sum(port["lost_chance_frames"] for port in ports),
        "medium_lost_excessive_collisions": sum(
            port["lost_excessive_collisions_frames"] for port in ports
        ),
        "medium_lost_switch_queue": sum(port["lost_switch_queue_frames"] for port in ports),
    }
