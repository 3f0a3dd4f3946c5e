"""
Round trips to a peer that is not lanlab's: the allowed conditions, the one step, and the error for
a peer that does not answer.

Only this end counts, and times by its own clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from lanlab.errors import EngineError
from lanlab.roles import ROLES
from lanlab.trial_data import EchoRequested, Line, Request, RoleResult, Spec
from lanlab.workloads.outcome import Progress
from lanlab.workloads.parameters import FlowParameters
from lanlab.workloads.peers.peer import ECHO, check_ip_version, check_unused, parse_peer
from lanlab.workloads.peers.steps import OneEnd
from lanlab.workloads.steps import EngineReport

MOST_CONNECTIONS = 100
_REQUESTER = ROLES["echo"][0]
_PROTOCOLS = {"echo": "echo", "tcp": "connect", "icmp": "icmp"}
_HINTS = {
    "echo": "name an echo service (RFC 862)",
    "tcp": "check for a firewall in between, or raise --timeout",
    "icmp": "the peer answered a short request first: try a smaller --size",
}


def check_echo_peer(url: str, parameters: FlowParameters, outstanding_requests: int) -> None:
    """
    Refuse conditions that an echo with this peer cannot have.

    Raises:
        ValueError: The transport is another, or a parameter has no effect.
    """
    peer = parse_peer(url, ECHO)
    transports = ECHO[peer.protocol].transports
    if parameters.transport not in transports:
        allowed = "ICMP has no transport" if peer.protocol == "icmp" else f"use {transports[0]}"
        raise ValueError(
            f"transport {parameters.transport} cannot be used with a peer `{peer.protocol}://`: "
            f"{allowed}"
        )
    check_ip_version(peer, parameters)
    unused = ["port", "receiver_processor"]
    if peer.protocol == "tcp":
        unused += ["message_size_bytes", "nodelay"]
        if outstanding_requests > MOST_CONNECTIONS:
            raise ValueError(
                f"outstanding_requests: found {outstanding_requests}; allowed with a peer "
                f"`tcp://`: 1 to {MOST_CONNECTIONS}"
            )
    check_unused(parameters, unused)


class PeerEchoSteps(OneEnd):
    """
    The steps of an echo whose other end is a peer.

    Args:
        url: The peer's URL.
        parameters: Parameters of the condition.
        replies: Maximum replies waited for in sequence; 0 if a time ends the trial.
        spec: The echo, in the form of a request to an engine.
        longest_s: As in `Steps.longest_s`.
    """

    def __init__(
        self, url: str, parameters: FlowParameters, replies: int, spec: Spec, longest_s: float
    ) -> None:
        peer = parse_peer(url, ECHO)
        request: Request = {
            "type": "peer_echo",
            "spec": spec,
            "protocol": _PROTOCOLS[peer.protocol],
            "processor": parameters.sender_processor,
        }
        super().__init__(_REQUESTER, peer, parameters.address_family, request, longest_s)
        self._replies = replies

    def round_trips(self) -> int:
        return super().round_trips() + self._replies

    def progress(self, lines: Sequence[Line | None]) -> Progress:
        line = lines[0]
        assert line is not None
        return Progress(line["elapsed_ns"] / 1e9, line["messages"], line["bytes"], None)

    def collect(self, reports: Sequence[EngineReport]) -> dict[str, RoleResult]:
        """This end's measurements in the form of an echo requester's report; for ICMP with the kind
        of socket.
        """
        echoed = reports[0].result if reports else None
        if echoed is None:
            return {}
        found = cast("RoleResult", {**echoed["requested"]})
        if echoed["icmp_socket"] is not None:
            found["icmp_socket"] = echoed["icmp_socket"]
        return {_REQUESTER: found}


def check_answered(url: str, parameters: FlowParameters, requested: EchoRequested) -> None:
    """
    Check that a peer has answered.

    Raises:
        EngineError: It has not, or its answers are wrong.
    """
    count = requested["requests"]
    if requested["replies"] > 0 or requested["late_replies"] > 0 or count == 0:
        return
    protocol = parse_peer(url, ECHO).protocol
    if (foreign := requested["foreign_datagrams"]) > 0:
        raise EngineError(
            "peer.wrong_answer",
            f"none of the {count} requests came back as it was sent; {foreign} answers were others",
            hint=_HINTS["echo"],
        )
    size = f" of {parameters.message_size_bytes} bytes" if protocol != "tcp" else ""
    is_datagram = protocol == "echo" and parameters.transport == "udp"
    raise EngineError(
        "echo.nothing_arrived",
        f"none of the {count} requests{size} was answered",
        hint=_HINTS[protocol] + (", or try a smaller --size" if is_datagram else ""),
    )
