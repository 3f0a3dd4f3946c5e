"""Trials between the engines of a testbed's hosts."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

from lanlab.errors import LabError
from lanlab.performers.base import HasHosts, OnProgress
from lanlab.performers.conductor import conduct_timed
from lanlab.performers.engine_host import EngineHost
from lanlab.performers.sent_on_medium import SentOnMedium
from lanlab.performers.stage import EngineStage
from lanlab.roles import every_place
from lanlab.testbeds.base import HasMedium
from lanlab.workloads import CounterChanges, TrialOutcome, Workload
from lanlab.workloads.registry import P
from lanlab.workloads.steps import Steps


class EnginePerformer:
    """
    The engines of a testbed.

    Args:
        hosts: Each with an engine.
        lead_s: Time from announcing the start of a trial to the start, enough for every engine.
        medium: The testbed, if it may have a medium that counts.
    """

    def __init__(self, hosts: HasHosts, lead_s: float, medium: HasMedium | None = None) -> None:
        self._hosts, self._lead_s, self._medium = hosts, lead_s, medium

    def perform(
        self, kind: Workload[P], parameters: P, on_progress: OnProgress | None
    ) -> TrialOutcome:
        first, second, *others = self._hosts.engine_hosts(parameters.address_family)
        ends = ([first, *others], [second])
        direction = getattr(parameters, "traffic_direction", None)
        by_role = {role: ends[at] for role, at in every_place(kind.name, direction).items()}
        steps = kind.steps(parameters)
        return conduct(steps, by_role, self._lead_s, on_progress, self._medium)

    def metrics(
        self, kind: Workload[P], parameters: P, outcome: TrialOutcome, changes: CounterChanges
    ) -> dict[str, float | int]:
        return kind.summarise(parameters, outcome, changes)


def conduct(
    steps: Steps,
    hosts: Mapping[str, Sequence[EngineHost]],
    lead_s: float,
    on_progress: OnProgress | None = None,
    medium: HasMedium | None = None,
) -> TrialOutcome:
    """
    Run the steps of one trial: open, prepare, time, verify; and clean up, also after a failure.

    Args:
        hosts: By role, in the order of the workload's roles.
        lead_s: Time from announcing the start to the start.
        on_progress: Called from another thread a few times a second.
        medium: The testbed, if it may have a medium that counts.

    Returns:
        The outcome. A failed trial has `error` and the results up to then.
    """
    outcome = TrialOutcome()
    stage = None
    try:
        with contextlib.ExitStack() as opened:
            stage = EngineStage(hosts, opened, steps.too_long_hint)
            outcome.setup = stage.setup
            sent = SentOnMedium(medium, hosts) if medium and steps.counts_sent else None
            steps.open(stage)
            try:
                _conduct(steps, stage, lead_s, on_progress, outcome, sent)
            except BaseException as error:
                steps.empty(stage, error)
                raise
            steps.empty(stage, None)
    except LabError as error:
        outcome.error = error
    if stage is not None and stage.server is not None and stage.server_role in outcome.results:
        outcome.results[stage.server_role] |= stage.server.ended
    return outcome


def _conduct(
    steps: Steps,
    stage: EngineStage,
    lead_s: float,
    on_progress: OnProgress | None,
    outcome: TrialOutcome,
    sent: SentOnMedium | None,
) -> None:
    steps.prepare(stage)
    server = stage.server
    before_s = None if server is None else server.cpu_s()
    try:
        groups = steps.timed(stage)
        conduct_timed(steps, groups, stage.host_of, lead_s, on_progress, outcome, sent)
    finally:
        if server is not None:
            # The loss of a server is not the first cause of a failure.
            with contextlib.suppress(LabError):
                outcome.results[stage.server_role] = server.seen_since(before_s)
    steps.check(stage)
