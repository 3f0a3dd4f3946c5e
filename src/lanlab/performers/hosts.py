"""The engines of a testbed: started, queried, replaced when lost, ended."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Mapping, Sequence
from typing import cast

from lanlab.addresses import FAMILY_NAMES, AddressFamily, bare, ip_family
from lanlab.closing import Closing
from lanlab.engine import DESCRIBE, Engine, Measurement
from lanlab.errors import EngineLost, LabError, UnmetNeed
from lanlab.performers.engine_host import EngineHost
from lanlab.testbeds.base import HasMedium, Host, Testbed
from lanlab.testbeds.engines import HostEngine, start_engines
from lanlab.trial_data import HostFacts, HostSeen, InterfaceSeen, Moment

#: Facts of a host that do not change while it is up; all others are read before and after each
#: trial.
_LASTING = frozenset(
    {
        "system",
        "architecture",
        "kernel",
        "boot_id",
        "kernel_clock",
        "processor",
        "processors",
        "processors_online",
        "memory_bytes",
        "congestion_controls",
        "max_receive_buffer_bytes",
        "max_send_buffer_bytes",
    }
)
#: Properties of an interface that change only by configuration.
_KEPT = (
    "mtu_bytes",
    "speed_bps",
    "full_duplex",
    "driver",
    "wireless",
    "supported_speed_bps",
    "power_saving",
    "ptp_clock",
)


class Hosts(Closing):
    """
    An engine on each host of a testbed, until `close`.

    Args:
        has_engines: Whether the hosts are real; simulated ones have no engines and no facts.
        engines: Engines already started, by host; this object closes them.
    """

    def __init__(
        self,
        testbed: Testbed,
        *,
        has_engines: bool = True,
        engines: Mapping[str, HostEngine] | None = None,
    ) -> None:
        self._testbed = testbed
        self._engines: dict[str, Engine] = {}
        self._facts: dict[str, HostFacts] = {}
        if engines is not None:
            self._take(engines)
        elif has_engines:
            self._take(start_engines(testbed.hosts))

    def _take(self, started: Mapping[str, HostEngine]) -> None:
        self._engines |= {name: one.engine for name, one in started.items()}
        self._facts |= {name: one.facts for name, one in started.items()}

    def revive(self) -> None:
        """
        Restart every lost engine.

        Raises:
            EngineLost: It cannot be started again.
        """
        for host in self._testbed.hosts:
            engine = self._engines.get(host.name)
            if engine is not None and engine.is_lost:
                engine.close()
                self._take(start_engines([host]))

    def address(self, host: Host, family: AddressFamily) -> str | None:
        """
        The address of a host in a family: the testbed's or, for a real host, another of the same
        interface; `None` if unknown.
        """
        if family in host.addresses or not self._are_real:
            return host.addresses.get(family)
        return address_of(self._facts.get(host.name, {}), host.addresses.values(), family)

    @property
    def _are_real(self) -> bool:
        return any(host.start_engine for host in self._testbed.hosts)

    def engine_hosts(self, family: AddressFamily) -> list[EngineHost]:
        """
        The hosts of a trial, in the testbed's order.

        Raises:
            UnmetNeed: A host has no address of that family.
        """
        return [self._engine_host(host, family) for host in self._testbed.hosts]

    def _engine_host(self, host: Host, family: AddressFamily) -> EngineHost:
        address = self.address(host, family)
        if address is None:
            raise UnmetNeed(
                f"{host.name} has no {FAMILY_NAMES[family]} address",
                hint="enable it on this system, or omit its conditions",
            )
        facts = self._facts[host.name]
        # A clock that starts with its process is not shared with other engines, even within one
        # boot.
        boot_id = facts.get("boot_id") if facts.get("kernel_clock") else None
        delay_ns = self._testbed.link.delay_ns
        return EngineHost(self._engines[host.name], address, boot_id, host, delay_ns)

    def lasting_facts(self) -> dict[str, HostSeen]:
        return {
            name: cast("HostSeen", {k: value for k, value in facts.items() if k in _LASTING})
            for name, facts in self._facts.items()
        }

    def _interface(self, host: Host) -> str | None:
        facts = self._facts.get(host.name, {})
        return measured_interface(host, self._testbed.hosts, facts)

    def interfaces(self) -> dict[str, InterfaceSeen]:
        """Interface to the measured network by the user's name of a host, if its engine knows
        it."""
        found = {}
        for host in self._testbed.hosts:
            facts, name = self._facts.get(host.name, {}), self._interface(host)
            if name is not None and name in (facts.get("interfaces") or {}):
                found[host.label] = lasting_facts(facts, name)
        return found

    def passing_facts(self) -> Moment:
        """Facts that may change between trials, by host, and the testbed's counters, as of now."""
        hosts = self._passing_facts()
        try:
            counters: dict[str, dict[str, int] | str] = dict(self._testbed.counters())
        except LabError as error:
            counters = {"unknown": error.message}
        medium = None
        if isinstance(self._testbed, HasMedium) and "unknown" not in counters:
            medium = self._testbed.medium_read()
        is_seen_by_engines = self._are_real
        for host in self._testbed.hosts:
            interface = self._interface(host) if is_seen_by_engines else None
            if interface is not None:
                found = counters_of(hosts[host.name], interface)
                counters |= {f"{host.name}/{interface}": found} if found else {}
        facts = cast("Moment", {"hosts": hosts, "counters": counters})
        return facts if medium is None else {**facts, "medium": medium}

    def _passing_facts(self) -> dict[str, HostSeen]:
        hosts: dict[str, HostSeen] = {}
        asked: dict[str, Measurement] = {}
        for name, engine in self._engines.items():
            try:
                asked[name] = engine.start(DESCRIBE)
            except LabError as error:
                hosts[name] = {"unknown": error.message}
        for name, question in asked.items():
            try:
                facts = self._engines[name].answer(question)
            except LabError as error:
                hosts[name] = {"unknown": error.message}
            else:
                kept = {key: value for key, value in facts.items() if key not in _LASTING}
                hosts[name] = cast("HostSeen", kept)
        return hosts

    def loss(self) -> EngineLost | None:
        """How an engine ended unexpectedly; `None` if all are running."""
        return next((engine.lost() for engine in self._engines.values() if engine.is_lost), None)

    def versions(self) -> dict[str, str]:
        engines = {engine.hello["engine_version"] for engine in self._engines.values()}
        return {"lanlab-engine": ", ".join(sorted(engines))}

    def close(self) -> None:
        """End every engine."""
        # Close all inputs before waiting for any engine.
        for engine in self._engines.values():
            engine.begin_to_close()
        for engine in self._engines.values():
            engine.close()
        self._engines.clear()


def interface_of(facts: HostFacts, addresses: Collection[str]) -> str | None:
    """The interface with one of these addresses; `None` if the engine reports none."""
    return next(
        (
            name
            for name, interface in (facts.get("interfaces") or {}).items()
            if not set(map(bare, addresses)).isdisjoint(interface["addresses"])
        ),
        None,
    )


def address_of(facts: HostFacts, addresses: Collection[str], family: AddressFamily) -> str | None:
    """
    The address of a family on the same interface as a host's other addresses.

    Returns:
        The first that every host of the network can reach; `None` if there is none.

    Examples:
        >>> seen = {"interfaces": {"eth0": {"addresses": ["10.0.0.2", "fe80::2", "fd00::2"]}}}
        >>> address_of(seen, ["10.0.0.2"], "ipv6"), address_of(seen, ["10.0.0.9"], "ipv6")
        ('fd00::2', None)
    """
    name = interface_of(facts, addresses)
    if name is None:
        return None
    known = (ipaddress.ip_address(text) for text in facts["interfaces"][name]["addresses"])
    return next(
        (str(one) for one in known if ip_family(one.version) == family and not one.is_link_local),
        None,
    )


def measured_interface(host: Host, hosts: Sequence[Host], facts: HostFacts) -> str | None:
    """
    The interface of a host to the measured network.

    Args:
        hosts: All hosts of the testbed: if it knows the interface of one, hosts without one carry
            no frames, for example this machine's loopback next to an interface without IP.
    """
    if any(one.interface for one in hosts):
        return host.interface
    return interface_of(facts, host.addresses.values())


def lasting_facts(facts: HostFacts, name: str) -> InterfaceSeen:
    interface = cast("dict[str, object]", facts["interfaces"][name])
    return cast("InterfaceSeen", {"name": name} | {key: interface[key] for key in _KEPT})


def counters_of(facts: HostFacts, name: str) -> dict[str, int]:
    return dict((facts.get("interfaces") or {}).get(name, {}).get("counters", {}))
