"""
The requirements of parameters that otherwise have no effect.

A condition that sets such a parameter without its requirement would not measure what was requested,
or measure the same twice: it is refused. A parameter's default value needs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lanlab.frozen import dataclass
from lanlab.ipx import has_segment
from lanlab.services import SERVICES

#: Takes the parameters of a workload.
_Met = Callable[[Any], bool]


@dataclass(frozen=True)
class Need:
    key: str
    met: _Met
    words: str
    values: tuple[object, ...] = ()


def _over(transport: str) -> _Met:
    return lambda parameters: parameters.transport == transport


def _is_on_ipx(parameters: Any) -> bool:
    return has_segment(SERVICES[parameters.service])


#: Needs of `stream` and `echo`.
FLOW_NEEDS = (
    Need("nodelay", _over("tcp"), "transport tcp"),
    Need("timestamps", _over("udp"), "transport udp", ("kernel",)),
)
STREAM_NEEDS = (
    Need("read_bytes", _over("tcp"), "transport tcp"),
    Need("drain_s", _over("udp"), "transport udp"),
    Need("when_late", lambda p: p.has_rate, "a rate, rate_bps or rate_messages_per_s"),
    Need(
        "stack",
        lambda p: p.peer == "tcp" or (p.peer or "").startswith("tcp://"),
        "a peer, as in tcp://192.168.7.2:5001, or `tcp`",
    ),
    Need("stack_address", lambda p: p.stack == "small", "stack `small`"),
    Need("stack_profile", lambda p: p.stack == "small", "stack `small`"),
    Need("stack_memory_bytes", lambda p: p.stack == "small", "stack `small`"),
    Need("receiver_rivals", lambda p: p.receiver_processor is not None, "receiver_processor"),
)
ECHO_NEEDS = (
    Need(
        "timestamps",
        lambda p: p.rate_requests_per_s is None,
        "a closed loop, without rate_requests_per_s",
        ("kernel",),
    ),
    Need(
        "timestamps",
        lambda p: p.outstanding_requests in (None, 1),
        "one request on its way at a time, without outstanding_requests",
        ("kernel",),
    ),
    Need(
        "outstanding_requests",
        lambda p: p.rate_requests_per_s is None,
        "a closed loop, without rate_requests_per_s",
    ),
)
#: Needs of `copy`, `stations` and `metadata`, besides those in `lanlab.service_options`.
SERVICE_NEEDS = (
    Need(
        "wins",
        lambda p: p.has_netbios_name,
        "a server by its URL and name, as in smb1://OLD-BOX/SHARE, over IPv4",
    ),
    Need("ipx_framing", _is_on_ipx, "a service on IPX, as `smb1+ipx` or `ncp`"),
    Need("ipx_network", _is_on_ipx, "a service on IPX, as `smb1+ipx` or `ncp`"),
    Need("ip_version", lambda p: p.is_over_ip, "carrier `tcp`"),
    Need(
        "port",
        lambda p: p.has_port,
        "service `sftp` or the like, and server `embedded`; a URL has its own, as in "
        "sftp://HOST:2222/PATH",
    ),
)
COPY_NEEDS = (
    Need("stack", lambda p: p.service == "ftp", "service `ftp`"),
    Need("stack_address", lambda p: p.stack == "small", "stack `small`"),
    Need("stack_profile", lambda p: p.stack == "small", "stack `small`"),
    Need("stack_memory_bytes", lambda p: p.stack == "small", "stack `small`"),
    Need(
        "medium",
        lambda p: p.tree is None or p.direction == "download",
        "files that lanlab makes on this host, or a download",
    ),
)
STATIONS_NEEDS = (
    Need("arrivals", lambda p: p.loop == "open", "an open loop, with rate_operations_per_s"),
    Need("sync", lambda p: p.operation != "read", "written blocks"),
    Need("read_ratio", lambda p: p.operation == "mix", "operation `mix`"),
)


def refuse_without_effect(parameters: Any, needs: Sequence[Need]) -> None:
    """
    Raises:
        ValueError: A parameter has no effect in this condition.
    """
    for need in needs:
        value = getattr(parameters, need.key)
        is_set = value != type(parameters).model_fields[need.key].default
        if is_set and (not need.values or value in need.values) and not need.met(parameters):
            raise ValueError(f"{need.key} has no effect here; it needs {need.words}")
