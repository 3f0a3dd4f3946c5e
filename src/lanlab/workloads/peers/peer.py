"""
A program at the other end that is not lanlab's: its URL, and the conditions that a stream with it
can have.

This end connects, sends or receives, and counts. Counts that only the other end could make are
unknown.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from lanlab.addresses import is_of_one_link, zone_of
from lanlab.frozen import dataclass
from lanlab.roles import REVERSE

if TYPE_CHECKING:
    from lanlab.workloads.parameters import FlowParameters

#: In place of a URL: lanlab's own plain server at the second host, which reads, or writes if the
#: stream comes from it.
STARTED = "tcp"
#: Maximum flows to a peer, as in the engine; and to a peer that lanlab starts.
MOST_FLOWS, MOST_STARTED_FLOWS = 128, 100
_MAX_PORT = 65_535
_LONGEST_NAME = 253
_URL = re.compile(
    r"(?P<protocol>[a-z0-9]+)://(?:\[(?P<literal>[^\]/?#]+)\]|(?P<name>[^\[\]:/?#@]+))"
    r"(?::(?P<port>\d{1,5}))?/?"
)


@dataclass(frozen=True)
class _Protocol:
    #: Default port; `None`: the URL must name one; 0: the protocol has none.
    port: int | None
    transports: tuple[str, ...]
    example: str
    directions: tuple[str, ...] = ()


Protocols = Mapping[str, _Protocol]
PROTOCOLS: Protocols = {
    "tcp": _Protocol(None, ("tcp",), "tcp://192.168.7.2:5001", ("forward", "reverse")),
    "iperf3": _Protocol(
        5201, ("tcp", "udp"), "iperf3://192.168.7.2", ("forward", "reverse", "both")
    ),
}
#: For round trips: an echo service (RFC 862), opening a connection, or ICMP, which is not a
#: transport and is measured like datagrams.
ECHO: Protocols = {
    "echo": _Protocol(7, ("udp", "tcp"), "echo://192.168.7.2"),
    "tcp": _Protocol(None, ("tcp",), "tcp://192.168.7.2:80"),
    "icmp": _Protocol(0, ("udp",), "icmp://192.168.7.2"),
}
PEERS: Mapping[str, Protocols] = {"stream": PROTOCOLS, "echo": ECHO}


@dataclass(frozen=True)
class Peer:
    protocol: str
    #: Name or address; empty for a peer that lanlab starts.
    host: str
    port: int

    @property
    def is_started(self) -> bool:
        return not self.host

    @property
    def ip_version(self) -> int | None:
        """IP version of the peer's address; `None` for a name."""
        try:
            return ipaddress.ip_address(self.host).version
        except ValueError:
            return None


def parse_peer(url: str, protocols: Protocols = PROTOCOLS) -> Peer:
    """
    A peer from its URL.

    Args:
        protocols: The allowed protocols.

    Raises:
        ValueError: The URL is not valid; a note says how to write one.

    Examples:
        >>> parse_peer("tcp://old-pc:7")
        Peer(protocol='tcp', host='old-pc', port=7)
        >>> parse_peer("tcp://[fe80::1%25eth0]:9").host
        'fe80::1%eth0'
        >>> parse_peer("icmp://router", ECHO)
        Peer(protocol='icmp', host='router', port=0)
        >>> parse_peer("tcp").is_started
        True
    """
    if url.strip() == STARTED and protocols is PROTOCOLS:
        return Peer(STARTED, "", 0)
    if re.fullmatch(r"\w+://", url.strip()):
        raise _problem(f"found no host in `{url}`", f"{url.strip()}192.168.7.2")
    match = _URL.fullmatch(url.strip())
    known = protocols.get(match["protocol"]) if match else None
    if match is None or known is None:
        schemes = " or ".join(f"{name}://" for name in protocols)
        schemes += f", or `{STARTED}`" if protocols is PROTOCOLS else ""
        example = next(iter(protocols.values())).example
        if "tcp" in protocols and re.fullmatch(r"[\w.-]+:[0-9]+", url.strip(), re.ASCII):
            example = f"tcp://{url.strip()}"
        raise _problem(f"found `{url}`; allowed: a URL with {schemes}", example)
    host = match["literal"] or match["name"]
    port = int(match["port"]) if match["port"] else known.port
    if known.port == 0 and port != 0:
        raise _problem(f"found port {port} in `{url}`; ICMP has none", known.example)
    if known.port != 0 and (port is None or not 1 <= port <= _MAX_PORT):
        found = "no port" if port is None else f"port {port}"
        raise _problem(f"found {found} in `{url}`; allowed: 1 to {_MAX_PORT}", known.example)
    if len(host) > _LONGEST_NAME:
        raise _problem(f"found a name of {len(host)} characters", known.example)
    host = host.replace("%25", "%")
    if is_of_one_link(host) and not zone_of(host):
        raise _problem(
            f"found `{host}`, an address of each link; allowed: one with its interface",
            f"{match['protocol']}://[{host}%eth0]" + (f":{port}" if port else ""),
        )
    return Peer(match["protocol"], host, port or 0)


def _problem(text: str, example: str) -> ValueError:
    problem = ValueError(f"peer: {text}")
    problem.add_note(f"write e.g. `{example}`")
    return problem


def check_ip_version(peer: Peer, parameters: FlowParameters) -> None:
    """
    Raises:
        ValueError: The peer's address is of another version of IP.
    """
    if peer.ip_version in (None, parameters.ip_version):
        return
    problem = ValueError(
        f"ip_version {parameters.ip_version} cannot be used with the peer's IPv{peer.ip_version} "
        "address"
    )
    problem.add_note(f"measure with -{peer.ip_version}")
    raise problem


def check_unused(parameters: FlowParameters, unused: Iterable[str], where: str = "a peer") -> None:
    """
    Raises:
        ValueError: One of these parameters is set.
    """
    for key in unused:
        value = getattr(parameters, key)
        if value != type(parameters).model_fields[key].default:
            raise ValueError(f"{key} has no effect with {where}")


def without_meaning(parameters: Mapping[str, object]) -> tuple[str, ...]:
    """
    Keys of an echo's parameters that have no meaning with its peer.

    Examples:
        >>> without_meaning({"peer": "icmp://router"}), without_meaning({"peer": None})
        (('transport',), ())
    """
    scheme = str(parameters.get("peer") or "").partition("://")[0]
    return {"icmp": ("transport",), "tcp": ("message_size_bytes",)}.get(scheme, ())


def shown_metric(parameters: Mapping[str, object]) -> str | None:
    """The metric shown for a stream to a peer that reports nothing to lanlab; `None` for the
    workload's own.
    """
    is_to_peer = parameters.get("peer") is not None and "traffic_direction" in parameters
    if not is_to_peer or parameters["traffic_direction"] == REVERSE:
        return None
    return "acknowledged_bps" if parameters.get("transport") == "tcp" else "peer_goodput_bps"
