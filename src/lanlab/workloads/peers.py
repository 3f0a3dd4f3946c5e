"""
A program at the other end of a stream that is not lanlab's: its URL, and what a condition with
one can have.

This end connects, sends or receives, and counts. What only the other end could count is not known.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lanlab.frozen import dataclass
from lanlab.roles import BOTH, REVERSE

if TYPE_CHECKING:
    from lanlab.workloads.stream import StreamParameters

#: Most flows to a peer, as the engine has it.
MOST_FLOWS = 128
_MAX_PORT = 65_535
_LONGEST_NAME = 253
_URL = re.compile(
    r"(?P<protocol>[a-z0-9]+)://(?:\[(?P<literal>[^\]/?#]+)\]|(?P<name>[^\[\]:/?#@]+))"
    r"(?::(?P<port>\d{1,5}))?/?"
)


@dataclass(frozen=True)
class _Protocol:
    """What a peer speaks."""

    #: Port where none is named; `None`: one must be.
    port: int | None
    transports: tuple[str, ...]
    directions: tuple[str, ...]
    #: A URL of it.
    example: str


PROTOCOLS: Mapping[str, _Protocol] = {
    "tcp": _Protocol(None, ("tcp",), ("forward", "reverse"), "tcp://192.168.7.2:5001"),
    "iperf3": _Protocol(
        5201, ("tcp", "udp"), ("forward", "reverse", "both"), "iperf3://192.168.7.2"
    ),
}


@dataclass(frozen=True)
class Peer:
    """Where a peer is and what it speaks."""

    protocol: str
    #: Name or address.
    host: str
    port: int

    @property
    def ip_version(self) -> int | None:
        """That of its address; `None` of a name."""
        try:
            return ipaddress.ip_address(self.host).version
        except ValueError:
            return None


def parse_peer(url: str) -> Peer:
    """
    A peer from its URL.

    Raises:
        ValueError: It is none; its note says how one is written.

    Examples:
        >>> parse_peer("tcp://old-pc:7")
        Peer(protocol='tcp', host='old-pc', port=7)
        >>> parse_peer("tcp://[fe80::1%25eth0]:9").host
        'fe80::1%eth0'
    """
    match = _URL.fullmatch(url.strip())
    known = PROTOCOLS.get(match["protocol"]) if match else None
    if match is None or known is None:
        raise _problem(f"found `{url}`; allowed: a URL with {_schemes()}", "tcp")
    host = match["literal"] or match["name"]
    port = int(match["port"]) if match["port"] else known.port
    if port is None or not 1 <= port <= _MAX_PORT:
        found = "no port" if port is None else f"port {port}"
        raise _problem(f"found {found} in `{url}`; allowed: 1 to {_MAX_PORT}", match["protocol"])
    if len(host) > _LONGEST_NAME:
        raise _problem(f"found a name of {len(host)} characters", match["protocol"])
    return Peer(match["protocol"], host.replace("%25", "%"), port)


def _schemes() -> str:
    return " or ".join(f"{name}://" for name in PROTOCOLS)


def _problem(text: str, protocol: str) -> ValueError:
    problem = ValueError(f"peer: {text}")
    problem.add_note(f"write it as in `{PROTOCOLS[protocol].example}`")
    return problem


#: Parameters that have no effect on a stream with a peer, and so must keep their default. Of those
#: of one end alone only this end's have one.
_OF_LANLAB_AT_BOTH_ENDS = (
    *("port", "timestamps", "receiver_quota_ratio", "receiver_work_s", "receiver_rivals"),
)
_RATES = ("rate_bps", "rate_messages_per_s")
_OF_THE_SENDER = ("sender_processor", "io", "when_late")
_OF_THE_RECEIVER = ("receiver_processor", "receive", "read_bytes")


def check_peer(parameters: StreamParameters) -> None:
    """
    Refuse what no stream with this peer can be.

    Raises:
        ValueError: It goes another way, over another transport, or has a parameter without effect.
    """
    assert parameters.peer is not None
    peer = parse_peer(parameters.peer)
    known = PROTOCOLS[peer.protocol]
    for key, allowed in (
        ("transport", known.transports),
        ("traffic_direction", known.directions),
    ):
        found = getattr(parameters, key)
        if found not in allowed:
            raise ValueError(
                f"{key}: found {found}; allowed with a peer `{peer.protocol}://`: "
                f"{' or '.join(allowed)}"
            )
    if peer.ip_version not in (None, parameters.ip_version):
        problem = ValueError(
            f"ip_version: found {parameters.ip_version} and an IPv{peer.ip_version} address of "
            "the peer"
        )
        problem.add_note(f"measure with -{peer.ip_version}")
        raise problem
    if parameters.flows > MOST_FLOWS:
        raise ValueError(f"flows: found {parameters.flows}; allowed with a peer: 1 to {MOST_FLOWS}")
    unused: tuple[str, ...] = ("receiver_processor",)
    if parameters.traffic_direction == REVERSE:
        # An iperf3 server keeps the rate that it is asked for.
        unused = (*_OF_THE_SENDER, *(() if peer.protocol == "iperf3" else _RATES))
    elif parameters.traffic_direction != BOTH:
        unused = _OF_THE_RECEIVER
    for key in (*_OF_LANLAB_AT_BOTH_ENDS, *unused):
        value = getattr(parameters, key)
        if value != type(parameters).model_fields[key].default:
            raise ValueError(
                f"{key}: found {value}, which has no effect here; the other end is the peer's"
            )


def shown_metric(parameters: Mapping[str, Any]) -> str | None:
    """The figure of a stream to a peer, whose program counts nothing for lanlab; `None` where it is
    the workload's own."""
    if parameters.get("peer") is None or parameters.get("traffic_direction") == REVERSE:
        return None
    return "acknowledged_bps" if parameters.get("transport") == "tcp" else "peer_goodput_bps"
