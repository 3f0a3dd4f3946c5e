"""Trials between the engines of a testbed's hosts."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lanlab.engine import Engine, Measurement
from lanlab.errors import LabError
from lanlab.performers.base import HostsOf, OnProgress
from lanlab.performers.conductor import SentOnMedium, conduct_timed
from lanlab.performers.engine_host import EngineHost, ask, temporary_directory
from lanlab.roles import every_place
from lanlab.testbeds.base import HasMedium
from lanlab.trial_data import DatasetPlace, LinkPlace, Request, Result, Setup, Spec
from lanlab.workloads import CounterChanges, TrialOutcome, Workload
from lanlab.workloads.registry import P
from lanlab.workloads.steps import Part, Steps

# Imports for file services are delayed, so that a stream does not wait for them.
if TYPE_CHECKING:
    from lanlab.performers.servers.of_trial import Server
    from lanlab.workloads.services.parameters import ServiceParameters

_whole: weakref.WeakKeyDictionary[Engine, dict[tuple[str, str], str]] = weakref.WeakKeyDictionary()
_PAGE_BYTES = 4096
_MEMORY_S = 150.0
_LOOK_S = 30.0


class EngineStage:
    """
    The hosts of one trial, and its opened resources.

    Args:
        hosts: By role, the initiator first.
        opened: Receives what ends with the trial.
        too_long_hint: See `Steps.too_long_hint`.
    """

    def __init__(
        self,
        hosts: Mapping[str, Sequence[EngineHost]],
        opened: contextlib.ExitStack,
        too_long_hint: str | None,
    ) -> None:
        self._hosts, self._opened, self._too_long_hint = hosts, opened, too_long_hint
        self._asked: list[Measurement] = []
        self.setup: Setup = {"capabilities": {role: {} for role in hosts}}
        #: The file server, if there is one, and the role of its host: the last.
        self.server: Server | None = None
        self.server_role = tuple(hosts)[-1]

    def host_of(self, part: Part) -> EngineHost:
        return self._hosts[part.role][part.place]

    def ask(self, role: str, request: Request, within_s: float) -> Result:
        """See `Stage.ask`; the following methods also implement `Stage`."""
        host = self._hosts[role][0]
        return ask(host, request, within_s, self._too_long_hint, self._asked)

    def address(self, role: str, place: int = 0) -> str:
        return self._hosts[role][place].address

    def raw_link(self, role: str) -> LinkPlace | None:
        return self._hosts[role][0].on.raw_link

    def spare_address(self, role: str) -> str | None:
        return self._hosts[role][0].on.spare_address

    def hosts(self, role: str) -> int:
        return len(self._hosts[role])

    def round_trip_ns(self) -> int:
        return 2 * max(host.delay_ns for hosts in self._hosts.values() for host in hosts)

    def share_a_kernel(self) -> bool:
        boots = {host.boot_id for hosts in self._hosts.values() for host in hosts}
        return len(boots) == 1 and None not in boots

    def serve(self, parameters: ServiceParameters, connections: int) -> Server:
        from lanlab.performers.servers.of_trial import served

        client, server = (hosts[0] for hosts in self._hosts.values())
        self.server = self._opened.enter_context(served(parameters, client, server, connections))
        return self.server

    def serve_peer(self, role: str, service: str) -> int:
        from lanlab.performers.peer_serving import plain_peer

        return self._opened.enter_context(plain_peer(self._hosts[role][0], service))

    def directory(self, role: str, medium: str) -> str:
        return self._opened.enter_context(temporary_directory(self._hosts[role][0], medium))

    def dataset(self, role: str, medium: str, key: str, described: Spec, within_s: float) -> str:
        whole = _whole.setdefault(self._hosts[role][0].engine, {})
        if (medium, key) not in whole:
            place: DatasetPlace = {"cache": {"medium": medium, "key": key}}
            request: Request = {"type": "dataset", "spec": described, "place": place}
            self.setup["dataset"] = made = self.ask(role, request, within_s)
            whole[medium, key] = made["directory"]
        return whole[medium, key]

    def make_memory_ready(self, role: str, octets: int, files: int, directory: str) -> None:
        wanted = octets + files * _PAGE_BYTES
        request: Request = {"type": "ready_memory", "bytes": wanted, "directory": directory}
        answer = self.ask(role, request, _MEMORY_S)
        noted: dict[str, object] = {"wanted_bytes": wanted, "ready_bytes": answer["ready_bytes"]}
        self.setup["memory"] = noted
        if answer["reason"] is None:
            noted["elapsed_s"] = answer["elapsed_ns"] / 1e9
        else:
            noted["reason"] = answer["reason"]

    def free_bytes(self, role: str, directory: str) -> int | None:
        answer = self.ask(role, {"type": "measure_room", "directory": directory}, _LOOK_S)
        free: int | None = answer["free_bytes"]
        return free

    def to_remove(
        self, parameters: ServiceParameters, kind: str, spec: Spec, within_s: float
    ) -> Callable[[BaseException | None], None]:
        from lanlab.performers.trial_leftovers import Emptying, empty_left, noted

        client = next(iter(self._hosts.values()))[0]

        def ask_client(request: Request) -> Result:
            return ask(client, request, within_s, self._too_long_hint)

        note_emptied: Callable[[], None] = _nothing
        if parameters.is_users_server:
            empty_left(parameters.server, spec["service"], ask_client, self.setup)
            note = noted(parameters.server, kind, spec)
            note_emptied = self._opened.enter_context(note)
        asked = self._asked
        return Emptying(parameters, kind, spec, ask_client, self.setup, note_emptied, asked)


def _nothing() -> None:
    """The data on lanlab's own server vanishes with it."""


class EnginePerformer:
    """
    The engines of a testbed.

    Args:
        hosts: Each with an engine.
        lead_s: Time from announcing the start of a trial to the start, enough for every engine.
        medium: The testbed, if it may have a medium that counts.
    """

    def __init__(self, hosts: HostsOf, lead_s: float, medium: HasMedium | None = None) -> None:
        self._hosts, self._lead_s, self._medium = hosts, lead_s, medium

    def perform(
        self, kind: Workload[P], parameters: P, on_progress: OnProgress | None
    ) -> TrialOutcome:
        first, second, *others = self._hosts(parameters.address_family)
        ends = ([first, *others], [second])
        places = every_place(kind.name, parameters.data_direction)
        by_role = {role: ends[at] for role, at in places.items()}
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
