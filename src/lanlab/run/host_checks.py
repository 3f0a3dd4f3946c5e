"""
Checks step by step whether real hosts can be measured: each is reachable, has an engine, and
reports its facts; then a few messages go from the first to the second.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from lanlab.addresses import AddressFamily
from lanlab.analysis.disturbances.interface_cautions import cautions, kernel_caution
from lanlab.analysis.disturbances.path_cautions import path_cautions
from lanlab.errors import EngineError, LabError
from lanlab.performers import EngineHost, Hosts, metrics_of, perform_between
from lanlab.performers.clocks import read_clocks
from lanlab.performers.paths import probed_paths
from lanlab.run.unreached import explained
from lanlab.testbeds import testbed
from lanlab.testbeds.base import Testbed
from lanlab.testbeds.needs import Need
from lanlab.testbeds.remote.destinations import HERE, PREFIX, Destination, read_destinations
from lanlab.trial_data import HostSeen, InterfaceSeen, PathSeen, TestbedFacts
from lanlab.units import format_rate, format_time
from lanlab.workloads import WORKLOADS, CounterChanges

#: This machine as the second host when one is checked alone; nothing is measured between them.
_ALONE = f"{HERE}=127.0.0.1"
_REQUESTS = 10
#: Size of a request that every path carries. The longest packets are checked separately.
_REQUEST_BYTES = 64


def check_hosts(name: str) -> dict[str, list[Need]]:
    """
    The results for the hosts of a testbed.

    Args:
        name: Name of the testbed, as in `ssh:here,alice@nas`.

    Returns:
        By host, and by direction between two of them, the checks. If a host cannot be reached the
            directions are not checked.

    Raises:
        UsageError: The name or its file is malformed.
    """
    destinations = read_destinations(name.removeprefix(PREFIX))
    found = {each.label: list(_reached(each)) for each in destinations if each.ssh is not None}
    if all(need.found for needs in found.values() for need in needs):
        try:
            for place, needs in _together(name, len(destinations)):
                found[place] = [*found.get(place, []), *needs]
        except LabError as error:
            found["together"] = [_failed("testbed", error)]
    return found


def _failed(name: str, error: LabError) -> Need:
    return Need(name, False, error.message, error.hint or "")


def _reached(destination: Destination) -> Iterator[Need]:
    try:
        with testbed(f"{PREFIX}{_ALONE},{destination}") as bed:
            host = cast("TestbedFacts", bed.facts())["reached"]["host1"]
    except LabError as error:
        yield _failed("ssh", error)
        return
    yield Need("ssh", True, f"connects without a question; {host['architecture']}")
    engine = host["engine"]
    copied = "copied now" if engine["was_copied"] else "was there"
    yield Need("engine", True, f"{engine['path']}, {copied}")


def _together(name: str, count: int) -> Iterator[tuple[str, list[Need]]]:
    with testbed(name, count) as bed, Hosts(bed) as hosts:
        lasting, passing = hosts.lasting_facts(), hosts.passing_facts()["hosts"]
        interfaces = hosts.interfaces()
        has_ipv4 = all("ipv4" in host.addresses for host in bed.hosts)
        family: AddressFamily = "ipv4" if has_ipv4 else "ipv6"
        ends = dict(zip((host.name for host in bed.hosts), hosts.engine_hosts(family), strict=True))
        clocks = read_clocks(ends).readings
        for host in bed.hosts:
            facts: HostSeen = {**lasting[host.name], **passing[host.name]}
            error_ns = clocks[host.name].error_ns
            yield (
                host.label,
                [
                    _kernel(facts),
                    _interface(interfaces.get(host.label), list(host.addresses.values())),
                    _clock(facts, error_ns),
                ],
            )
        way = f"{bed.hosts[0].label} to {bed.hosts[1].label}"
        first, second, *_ = ends.values()
        tried = [_tried(bed, first, second, one, family) for one in ("udp", "tcp")]
        yield way, tried
        if any(need.found for need in tried):
            for name, path in probed_paths(list(ends.values()), interfaces, {}).items():
                yield name, [_longest(name, path)]
        surprises = cautions(interfaces)
        yield way, [Need("link", False, caution, required=False) for caution in surprises]


def _kernel(facts: HostSeen) -> Need:
    processors = f"{facts['processors']} x {facts['processor'] or 'processor'}"
    detail = f"{facts['system']} {facts['kernel']}, {processors}"
    if facts.get("governor"):
        detail += f", governor {facts['governor']}"
    caution = kernel_caution(facts.get("kernel"))
    return Need("kernel", caution is None, detail, caution or "", required=False)


def _interface(found: InterfaceSeen | None, addresses: list[str]) -> Need:
    if found is None:
        return Need(
            "interface",
            False,
            f"none has the address {' or '.join(addresses)}",
            "give an address of the host on the measured network: `--address`, or `address` in "
            "the host file",
        )
    speed = "speed not known" if not found["speed_bps"] else format_rate(found["speed_bps"])
    duplex = {True: ", full duplex", False: ", half duplex", None: ""}[found["full_duplex"]]
    detail = f"{found['name']} ({', '.join(addresses)}), {speed}{duplex}, MTU {found['mtu_bytes']}"
    return Need("interface", True, f"{detail}, {found['driver'] or 'driver not known'}")


def _clock(facts: HostSeen, error_ns: int) -> Need:
    source = facts.get("clock_source") or "not known"
    within = format_time(error_ns / 1e9)
    return Need("clock", True, f"kernel clock source {source}; read from here to within {within}")


def _tried(
    bed: Testbed, first: EngineHost, second: EngineHost, transport: str, family: AddressFamily
) -> Need:
    kind = WORKLOADS["echo"]
    wish = {
        "transport": transport,
        "ip_version": 4 if family == "ipv4" else 6,
        "message_size_bytes": _REQUEST_BYTES,
        "requests": _REQUESTS,
        "warmup_s": 0,
    }
    parameters = kind.Parameters.model_validate(wish)
    outcome = perform_between(kind, parameters, first, second, bed.start_lead_s)
    name = transport.upper()
    if outcome.error is None:
        try:
            found = metrics_of(kind, parameters, outcome, CounterChanges())
        except EngineError as error:
            return _failed(name, error)
        detail = f"{found['replies']} of {found['requests']} requests came back"
        if "rtt_p50_ns" in found:
            detail += f", p50 {format_time(found['rtt_p50_ns'] / 1e9)}"
        return Need(name, True, detail)
    names = dict(zip(kind.roles, (host.name for host in bed.hosts), strict=False))
    requests = outcome.setup.get("requests", {})
    return _failed(name, explained(outcome.error, bed, requests, names, {}))


def _longest(name: str, path: PathSeen) -> Need:
    if path["there"] is None or path["back"] is None:
        why = path.get("error", "no answer to any")
        return Need("packets", True, f"the longest are not known: {why}", required=False)
    found = path_cautions({name: path})
    if not found:
        return Need("packets", True, f"up to {path['there']['least_bytes']} B pass, and back")
    smaller = min(path["there"]["least_bytes"], path["back"]["least_bytes"])
    advice = f"set the MTU of both interfaces to {smaller}, or let ICMP `too big` through"
    is_lost = not path["was_told"]
    return Need("packets", False, found[0], advice if is_lost else "", required=is_lost)
