"""Probes the paths between the hosts of a testbed for their largest packets."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from lanlab.addresses import seen_from
from lanlab.errors import LabError
from lanlab.performers.engine_host import EngineHost, ask, cancel
from lanlab.trial_data import InterfaceSeen, PathSeen, Request

#: Time limit of one search, and of starting and ending its ends. A path that carries full packets
#: takes a round trip, one that answers nothing 0.28 s.
WITHIN_S = 2.0
_ANSWER_S = 5.0
#: Every path of IPv6 carries packets of this length (RFC 8200, section 5).
_LEAST_BYTES = 1280
_MOST_BYTES = 65_535
#: Paths probed in parallel: each takes at least a round trip.
_AT_ONCE = 8


def probed_paths(
    hosts: Sequence[EngineHost], interfaces: Mapping[str, InterfaceSeen], ports: Request
) -> dict[str, PathSeen]:
    """
    The largest IP packets that pass between the second host and each of the others.

    Args:
        hosts: Hosts of a trial, in the testbed's order.
        interfaces: By users' name of a host, with `mtu_bytes`.
        ports: `port` and `last_port` on which the second host may listen, because firewalls may
            block others.

    Returns:
        By the path, as in `pc1 to nas`. Paths within one host, and those with an unknown MTU, are
            omitted.
    """
    first, second, *others = hosts
    found: dict[str, tuple[EngineHost, PathSeen]] = {}
    for host in (first, *others):
        ends = [interfaces.get(one.engine.label, {}).get("mtu_bytes") for one in (host, second)]
        known = [each for each in ends if each]
        is_within = any(ipaddress.ip_address(one.address).is_loopback for one in (host, second))
        if is_within or min(known, default=0) < _LEAST_BYTES:
            continue
        # The other end's interface is no limit here: longer packets are lost there.
        mtus: PathSeen = {"interface_mtu_bytes": min(known), "sender_mtu_bytes": known[0]}
        found[f"{host.engine.label} to {second.engine.label}"] = (host, mtus)

    def probe(path: tuple[EngineHost, PathSeen]) -> PathSeen:
        host, mtus = path
        try:
            probed = _probe(host, second, min(mtus["sender_mtu_bytes"], _MOST_BYTES), ports)
        except LabError as error:
            # The trials report errors of a host or the network.
            probed = {"there": None, "back": None, "error": error.message}
        return {**mtus, **probed}

    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        return dict(zip(found, pool.map(probe, found.values()), strict=True))


def _probe(host: EngineHost, second: EngineHost, most_bytes: int, ports: Request) -> PathSeen:
    session = secrets.token_hex(16)
    peer = seen_from(second.address, host.address)
    request = {"bind": second.address, "peer": peer, "session": session, **ports}
    answering = second.engine.start({"type": "path_mtu_answer", **request})
    try:
        ready = answering.wait_ready(_ANSWER_S)
        request = {
            "type": "path_mtu_probe",
            "bind": host.address,
            "peer": seen_from(host.address, second.address),
            "port": ready["ports"][0],
            "session": session,
            "most_bytes": most_bytes,
            "within_ns": round(1e9 * WITHIN_S),
        }
        probed = ask(host, request, WITHIN_S + _ANSWER_S)
    finally:
        cancel(second.engine, answering)
    return {"there": probed["there"], "back": probed["back"], "was_told": probed["was_told"]}
