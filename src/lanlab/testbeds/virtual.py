"""A LAN inside this machine: hosts are network namespaces, joined by a cable or a switch."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import cast

from lanlab.engine import Engine, engine_path
from lanlab.errors import EngineError, EngineLost, TestbedDamaged, UsageError
from lanlab.messages import HostInterface, HostsRead, MediumCounts
from lanlab.testbeds import shaping, wiring
from lanlab.testbeds.base import Counters, Host, LinkFacts, Testbed
from lanlab.testbeds.counters import queue_counters, read_interfaces
from lanlab.testbeds.damage import Found, damage_of, found_on, interruption_of
from lanlab.testbeds.link import JoinedBy, LinkRequest, parse_link
from lanlab.testbeds.medium import MEDIUM, Medium
from lanlab.testbeds.namespaces import Namespace, Namespaces
from lanlab.testbeds.pcap import check_pcap
from lanlab.testbeds.process_leftovers import clean_leftovers
from lanlab.testbeds.tools import Command, run_each, tool

MIN_HOSTS = 2
MAX_HOSTS = 256
#: Time between the end of a process, which removes its interfaces, and its detection.
_MEDIUM_ENDS_WITHIN_S = 0.2


def _topology(hosts: int, request: LinkRequest) -> JoinedBy:
    if not MIN_HOSTS <= hosts <= MAX_HOSTS:
        raise UsageError(f"virtual: {hosts} hosts; allowed: {MIN_HOSTS} to {MAX_HOSTS}")
    if request.topology == "cable" and hosts > 2:
        raise UsageError(
            f"virtual: a cable joins 2 hosts, not {hosts}",
            hint="ask for a switch, e.g. `10M:switch`",
        )
    return request.topology or ("cable" if hosts == 2 else "switch")


def _check_capture(pcap: Path, request: LinkRequest) -> Path:
    if request.shape != "medium":
        raise UsageError(
            f"--pcap: cannot capture frames on link `{request}`; allowed: a stated speed up to 100 "
            "Mbit/s, kept by the medium",
            hint="add e.g. `--link 100M`, or omit --pcap",
        )
    return check_pcap(pcap)


_Interfaces = dict[str, dict[str, HostInterface]]


def _carriers(interfaces: _Interfaces) -> dict[str, dict[str, int]]:
    return {
        place: {device: each["carrier_changes"] for device, each in of_place.items()}
        for place, of_place in interfaces.items()
    }


class VirtualTestbed(Testbed):
    """Linux only; needs root or user namespaces."""

    name = "virtual"
    #: Each engine receives the announcement of a start within about a millisecond; if it is late,
    #: it reports that, and the start is repeated with twice the lead.
    start_lead_s = 0.01

    def __init__(
        self,
        hosts: int,
        link: str,
        *,
        find_engine: Callable[[], str | os.PathLike[str]] = engine_path,
        pcap: Path | None = None,
    ) -> None:
        """
        Args:
            hosts: Number of hosts.
            link: In the form of `parse_link`; 2 hosts get a cable unless a switch is requested.
            find_engine: Returns the path of `lanlab-engine`, which sets the hosts up and is the
                medium.
            pcap: Write every frame on the medium to this file.

        Raises:
            UsageError: The number of hosts, the link or the file is not allowed.
            UnmetNeed: The machine lacks a tool or a right.
            RunError: The system refused a step; everything created before is removed again.
        """
        request = parse_link(link)
        topology = _topology(hosts, request)
        pcap = None if pcap is None else _check_capture(pcap, request)
        engine = os.fspath(find_engine())
        self._check_tools(request, topology)
        clean_leftovers()

        self.link = LinkFacts.of(request, topology)
        self._medium: Medium | None = None
        self._engine: Engine | None = None
        self._namespaces = Namespaces()
        #: Label of each namespace (`host0`, `switch`) to the namespace.
        self._places: dict[str, Namespace] = {}
        self._devices: dict[str, tuple[str, ...]] = {}
        self._made: dict[str, Found] = {}
        self._versions: dict[str, str] = {}
        self._carriers_made: dict[str, dict[str, int]] = {}
        try:
            self._make(hosts, engine, pcap)
            if self.link.shape == "tbf" and request.rate_bps is not None:
                self._shape(request.rate_bps, engine)
            self._made = {place: found_on(each.pid) for place, each in self._places.items()}
            interfaces = self._interfaces()
            self._carriers_made = _carriers(interfaces)
            self._facts = self._look(interfaces)
        except BaseException:
            self.close()
            raise
        self.hosts = tuple(
            Host(
                f"host{i}",
                wiring.addresses(i, self._ipv6),
                self._places[f"host{i}"].command_prefix,
                wiring.HOST_DEVICE,
                raw_link={"interface": wiring.HOST_DEVICE},
                spare_address=wiring.spare_address(),
            )
            for i in range(hosts)
        )

    @staticmethod
    def _check_tools(request: LinkRequest, topology: JoinedBy) -> None:
        if request.shape == "medium":
            return
        tool("ip")
        if request.shape == "tbf":
            tool("tc")
        if topology == "switch":
            tool("bridge")

    def _make(self, hosts: int, engine: str, pcap: Path | None) -> None:
        has_medium = self.link.shape == "medium"
        has_bridge = self.link.topology == "switch" and not has_medium
        members = self._namespaces.add(hosts + (has_bridge or has_medium))
        self._places = {f"host{i}": members[i] for i in range(hosts)}
        self._devices = {f"host{i}": (wiring.HOST_DEVICE,) for i in range(hosts)}
        self._ipv6 = Path("/proc/net/if_inet6").exists()
        pids = [namespace.pid for namespace in members[:hosts]]
        if has_medium:
            place = self._places[MEDIUM] = members[hosts]
            self._devices[MEDIUM] = ()
            ports = [(pid, wiring.HOST_DEVICE, wiring.mac(i)) for i, pid in enumerate(pids)]
            self._medium = Medium(engine, place, ports, self.link, pcap)
            self._engine = self._medium.engine
        else:
            place = members[hosts if has_bridge else 0]
            # The engine starts while the tools connect the hosts.
            network = [*place.command_prefix, engine]
            self._engine = Engine("network", network, is_awaited=False)
            if has_bridge:
                self._places["switch"] = place
                self._devices["switch"] = tuple(wiring.port(i) for i in range(hosts))
                self._batch(place, "ip", wiring.switch_batch(pids, self._ipv6))
                self._batch(place, "bridge", wiring.forwarding_batch(hosts))
            else:
                self._batch(place, "ip", wiring.cable_batch(members[1].pid))
            self._engine.greet()
        shaped = self.link.rate_bps is not None
        self._engine.ask(wiring.hosts_request(pids, self._ipv6, shaped))
        if self._medium is not None:
            # Traffic from setting up interfaces does not belong to a trial.
            self._medium.counters()

    def _batch(self, namespace: Namespace, name: str, text: str) -> None:
        path = tool(name)
        batch = Command((*namespace.command_prefix, path, "-batch", "-"), text)
        # In parallel, because both wait for a process to start.
        _, version = run_each([batch, Command((path, "-V"))])
        self._versions[name] = version.strip()

    def _shape(self, rate_bps: int, engine: str) -> None:
        commands = []
        for place, namespace in self._places.items():
            devices = self._devices[place]
            queue_bytes = (
                shaping.SWITCH_QUEUE_BYTES if place == "switch" else shaping.HOST_QUEUE_BYTES
            )
            batch = shaping.shaping_batch(devices, rate_bps, queue_bytes)
            commands.append(Command((*namespace.command_prefix, tool("tc"), "-batch", "-"), batch))
            # With offloads on, the shaper would see packets of 64 kB that no wire carries.
            offloads = (*namespace.command_prefix, engine, "offloads", "--device")
            commands += [Command((*offloads, device, "--set", "off")) for device in devices]
        *_, version = run_each([*commands, Command((tool("tc"), "-V"))])
        self._versions["tc"] = version.strip()

    def _interfaces(self) -> _Interfaces:
        assert self._engine is not None
        pids = [namespace.pid for namespace in self._places.values()]
        try:
            read = self._engine.ask({"type": "read_hosts", "namespace_pids": pids})
        except (EngineError, EngineLost) as error:
            raise TestbedDamaged(error.message, host=self._engine.name) from None
        return {
            place: {interface["name"]: interface for interface in interfaces}
            for place, interfaces in zip(
                self._places, cast("HostsRead", read)["hosts"], strict=True
            )
        }

    def facts(self) -> dict[str, object]:
        """See `Testbed.facts`; the state at set-up."""
        return self._facts

    def _look(self, interfaces: _Interfaces) -> dict[str, object]:
        queues = {
            place: {device: of_place[device]["queue"] for device in self._devices[place]}
            for place, of_place in interfaces.items()
        }
        return {
            "system": platform.system(),
            "kernel": platform.release(),
            **self._versions,
            "privileges": self._namespaces.privileges,
            "link": self.link.to_json(),
            "queues": queues,
            **({} if self._medium is None else {"medium": self._medium.facts()}),
        }

    def counters(self) -> Counters:
        """See `Testbed.counters`; a link with a speed adds its queues' counters (`qdisc_…`), a
        medium its own (`medium_…`).
        """
        if self._medium is not None and (ended := self._medium.damage()) is not None:
            raise TestbedDamaged(ended, host=MEDIUM)
        counters = {}
        # Reading /proc starts no process: cheap enough for every trial.
        for place, namespace in self._places.items():
            table = read_interfaces(Path(f"/proc/{namespace.pid}/net/dev"))
            for device in self._devices[place]:
                if device not in table:
                    raise TestbedDamaged(
                        f"the counters of {place}/{device} cannot be read", host=place
                    )
                counters[f"{place}/{device}"] = table[device]
        if self.link.rate_bps is not None:
            for place, interfaces in self._interfaces().items():
                for device in self._devices[place]:
                    counters[f"{place}/{device}"] |= queue_counters(interfaces[device])
        if self._medium is not None:
            # Read last, so that the lateness covers the trial alone.
            for interface, found in self._medium.counters().items():
                counters[interface] |= found
        return counters

    def medium_read(self) -> MediumCounts | None:
        return None if self._medium is None else self._medium.last_read()

    def medium_counters(self) -> Counters:
        return {} if self._medium is None else self._medium.counters()

    def damage(self) -> str | None:
        now = {
            place: None if each.holder.poll() is not None else found_on(each.pid)
            for place, each in self._places.items()
        }
        found = damage_of(self._made, now)
        if self._medium is not None:
            # If the medium's process ends, the interfaces of all hosts are gone.
            lost = self._medium.lost(_MEDIUM_ENDS_WITHIN_S) if found else None
            found = lost or found or self._medium.damage()
        try:
            return found or interruption_of(self._carriers_made, _carriers(self._interfaces()))
        except TestbedDamaged as error:
            return error.message

    def close(self) -> None:
        """See `Testbed.close`; ends all that still runs on the hosts."""
        self._places, self._made = {}, {}
        engine, self._engine = self._engine, None
        medium, self._medium = self._medium, None
        try:
            if medium is not None:
                medium.close()
            elif engine is not None:
                engine.close()
        finally:
            self._namespaces.close()
