"""The services of a testbed's engines for the steps of one trial."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lanlab.engine import Engine, Measurement
from lanlab.performers.engine_host import EngineHost, ask
from lanlab.trial_data import DatasetPlace, LinkPlace, Request, Result, Setup, Spec
from lanlab.workloads.steps import Part

# Imports for file services are delayed, so that a stream does not wait for them.
if TYPE_CHECKING:
    from lanlab.performers.servers.of_trial import Server
    from lanlab.workloads.service_parameters import ServiceParameters

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
        return self._hosts[role][0].raw_link

    def spare_address(self, role: str) -> str | None:
        return self._hosts[role][0].spare_address

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
        from lanlab.performers.directories import temporary

        return self._opened.enter_context(temporary(self._hosts[role][0], medium))

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
