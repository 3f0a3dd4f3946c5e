"""The one step of a trial with a peer, in which only this end takes part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from lanlab import trial_data as m
from lanlab.addresses import AddressFamily
from lanlab.roles import REVERSE, REVERSE_PREFIX, ROLES
from lanlab.workloads.outcome import Progress
from lanlab.workloads.peers.peer import Peer, parse_peer
from lanlab.workloads.services.small_stack import requested
from lanlab.workloads.steps import Before, EngineReport, Part, Stage, Steps, joined_samples

if TYPE_CHECKING:
    from lanlab.workloads.stream.parameters import StreamParameters

#: Resolvers query several servers several times (resolv.conf(5)).
_RESOLVE_S = 60.0
_DIRECTIONS: Mapping[str, m.PeerDirection] = {
    "forward": "send",
    "reverse": "receive",
    "both": "both",
}
REPORT = "peer"


class OneEnd(Steps):
    """
    The steps of a trial whose other end is a peer.

    Args:
        role: This end's role.
        peer: The other end.
        family: Family of the peer's address.
        request: Request to this end's engine, without the peer's address.
        longest_s: As in `Steps.longest_s`.
    """

    def __init__(
        self, role: str, peer: Peer, family: AddressFamily, request: m.Request, longest_s: float
    ) -> None:
        self._role, self._peer, self._family = role, peer, family
        self._longest_s = longest_s
        self._request: m.Request = {**request, "peer": peer.host, "port": peer.port}

    def open(self, stage: Stage) -> None:
        if self._peer.ip_version is None:
            asked: m.Request = {
                "type": "resolve",
                "name": self._peer.host,
                "family": "ipv6" if self._family == "ipv6" else "ipv4",
                "port": self._peer.port,
            }
            self._request["peer"] = stage.ask(self._role, asked, _RESOLVE_S)["address"]

    def timed(self, stage: Stage) -> Sequence[Sequence[Part]]:
        def request(before: Before) -> m.Request:
            return self._request

        return [[Part(self._role, request)]]

    def longest_s(self) -> float:
        return self._longest_s


class PeerSteps(OneEnd):
    """
    The steps of a stream whose other end is a peer.

    Args:
        parameters: Parameters of the condition.
        spec: The stream, in the form of a request to an engine.
        longest_s: As in `Steps.longest_s`.
    """

    def __init__(self, parameters: StreamParameters, spec: m.Spec, longest_s: float) -> None:
        sender, receiver = ROLES["stream"]
        is_reverse = parameters.traffic_direction == REVERSE
        peer = parse_peer(parameters.peer or "")
        processors = (parameters.sender_processor, parameters.receiver_processor)
        request: m.Request = {
            "type": "peer_stream",
            "spec": spec,
            "protocol": peer.protocol,
            "direction": _DIRECTIONS[parameters.traffic_direction],
            "processor": processors[is_reverse],
        }
        self._parameters = parameters
        role, self._other = (receiver, sender) if is_reverse else (sender, receiver)
        super().__init__(role, peer, parameters.address_family, request, longest_s)

    def open(self, stage: Stage) -> None:
        if self._parameters.stack == "small":
            asked = self._parameters
            address, memory_bytes = asked.stack_address, asked.stack_memory_bytes
            self._request["stack"] = requested(
                address, memory_bytes, asked.stack_profile, stage, self._role
            )
        if self._peer.is_started:
            service = "chargen" if self._request["direction"] == "receive" else "discard"
            port = stage.serve_peer(self._other, service)
            self._request |= {"peer": stage.address(self._other), "port": port}
            return
        super().open(stage)

    def progress(self, lines: Sequence[m.Line | None]) -> Progress:
        line = lines[0]
        assert line is not None
        elapsed_s = line["elapsed_ns"] / 1e9
        return Progress(elapsed_s, line["messages"], line["bytes"], None, tcp=line.get("tcp"))

    def collect(self, reports: Sequence[EngineReport]) -> dict[str, m.RoleResult]:
        """This end's counts in the form of a stream end's report. For a sender, the intervals are
        the bytes acknowledged by the peer's TCP.
        """
        part = reports[0] if reports else None
        streamed = None if part is None else part.result
        if part is None or streamed is None:
            return {}
        found: dict[str, m.RoleResult] = {}
        sender, receiver = ROLES["stream"]
        if streamed["sent"] is not None:
            found[sender] = _sent(streamed) | joined_samples(part)
        if streamed["received"] is not None:
            is_second = streamed["sent"] is not None
            role = f"{REVERSE_PREFIX}{receiver}" if is_second else receiver
            samples = m.RoleResult() if is_second else joined_samples(part)
            found[role] = cast("m.RoleResult", {**streamed["received"], **samples})
        if streamed.get("stack") is not None:
            for own in found.values():
                own["stack"] = streamed["stack"]
        if streamed["report"] is not None:
            report = {**streamed["report"], "waited_ns": streamed["waited_ns"]}
            found[REPORT] = cast("m.RoleResult", report)
        return found


def _sent(streamed: m.PeerStreamed) -> m.RoleResult:
    own = cast("m.RoleResult", {**(streamed["sent"] or {})})
    acknowledged = streamed["acknowledged"]
    if acknowledged is not None:
        kept = {k: v for k, v in acknowledged.items() if k != "intervals"}
        own["acknowledged"] = cast("m.Acknowledged", kept)
        own["intervals"] = acknowledged["intervals"]
    if streamed["returned_bytes"] is not None:
        own["returned_bytes"] = streamed["returned_bytes"]
    return own
