"""A LAN inside this machine: hosts are network namespaces, joined by a cable or a switch."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from lanlab.errors import TestbedDamaged, UnmetNeed, UsageError
from lanlab.testbeds import shaping, wiring
from lanlab.testbeds.base import Counters, Host, LinkFacts
from lanlab.testbeds.counters import queue_counters, read_interfaces, root_queues
from lanlab.testbeds.damage import (
    Found,
    carrier_changes,
    damage_of,
    found_on,
    interruption_of,
)
from lanlab.testbeds.leftovers import clean_leftovers
from lanlab.testbeds.link import JoinedBy, LinkRequest, parse_link
from lanlab.testbeds.namespaces import Namespace, Namespaces
from lanlab.testbeds.tools import Command, run_each, run_tool, tool

MIN_HOSTS = 2
MAX_HOSTS = 256


def _topology(hosts: int, request: LinkRequest) -> JoinedBy:
    if not MIN_HOSTS <= hosts <= MAX_HOSTS:
        raise UsageError(f"virtual: {hosts} hosts; allowed: {MIN_HOSTS} to {MAX_HOSTS}")
    if request.topology == "cable" and hosts > 2:
        raise UsageError(
            f"virtual: a cable joins 2 hosts, not {hosts}",
            hint="ask for a switch, as in `10M:switch`",
        )
    return request.topology or ("cable" if hosts == 2 else "switch")


def _link_facts(rate_bps: int | None, topology: JoinedBy) -> LinkFacts:
    shaped = rate_bps is not None
    return LinkFacts(
        rate_bps=rate_bps,
        shape="tbf" if shaped else "none",
        topology=topology,
        framing="ethernet" if shaped else "none",
        overhead_bytes=shaping.HEADER_BYTES + shaping.BEYOND_HEADER_BYTES if shaped else 0,
        minimum_wire_bytes=shaping.MINIMUM_WIRE_BYTES if shaped else 0,
        queue_bytes=shaping.HOST_QUEUE_BYTES if shaped else None,
        switch_queue_bytes=shaping.SWITCH_QUEUE_BYTES if shaped and topology == "switch" else None,
        burst_bytes=shaping.burst_bytes(rate_bps) if rate_bps is not None else None,
        mtu_bytes=shaping.MTU_BYTES,
        offloads="off" if shaped else "on",
    )


class VirtualTestbed:
    """See `lanlab.testbeds.base.Testbed`. Linux only; as root, or where user namespaces are."""

    name = "virtual"
    #: Each engine hears of a start within a millisecond or so; one that does not says so, and the
    #: start is tried again with twice the lead.
    start_lead_s = 0.04

    def __init__(
        self, hosts: int, link: str, *, find_engine: Callable[[], str | os.PathLike[str]]
    ) -> None:
        """
        Args:
            hosts: How many hosts.
            link: As `parse_link` reads it; 2 hosts get a cable unless a switch is asked for.
            find_engine: Gives the path of `lanlab-engine`, which switches offloads off; asked
                only for a shaped link.

        Raises:
            UsageError: A number of hosts or a link that is not allowed.
            UnmetNeed: The machine lacks a tool or a right.
            RunError: The system refused a step; everything made before is gone again.
        """
        request = parse_link(link)
        topology = _topology(hosts, request)
        if sys.platform != "linux":
            raise UnmetNeed(
                f"the virtual testbed needs Linux, not {platform.system()}",
                hint="use --testbed loopback",
            )
        engine = None if request.rate_bps is None else os.fspath(find_engine())
        self._ip, self._tc = tool("ip"), tool("tc")
        if topology == "switch":
            tool("bridge")
        clean_leftovers()

        self.link = _link_facts(request.rate_bps, topology)
        self._namespaces = Namespaces()
        #: Label of each namespace (`host0`, `switch`) to the namespace.
        self._places: dict[str, Namespace] = {}
        self._devices: dict[str, tuple[str, ...]] = {}
        #: What each place had when it was made.
        self._made: dict[str, Found] = {}
        self._carriers_made: dict[str, dict[str, int]] = {}
        try:
            self._make(hosts)
            if request.rate_bps is not None and engine is not None:
                self._shape(request.rate_bps, engine)
            self._made = {place: found_on(each.pid) for place, each in self._places.items()}
            self._carriers_made = self._carriers()
            # Here, where others wait for programs anyway.
            self._facts = self._look()
        except BaseException:
            self.close()
            raise
        self.hosts = tuple(
            Host(
                f"host{i}",
                wiring.addresses(i, self._ipv6),
                self._places[f"host{i}"].command_prefix,
                wiring.HOST_DEVICE,
            )
            for i in range(hosts)
        )

    def _make(self, hosts: int) -> None:
        switched = self.link.topology == "switch"
        members = self._namespaces.add(hosts + switched)
        self._places = {f"host{i}": members[i] for i in range(hosts)}
        self._devices = {f"host{i}": (wiring.HOST_DEVICE,) for i in range(hosts)}
        self._ipv6 = Path("/proc/net/if_inet6").exists()
        if switched:
            switch = self._places["switch"] = members[hosts]
            self._devices["switch"] = tuple(wiring.port(i) for i in range(hosts))
            pids = [namespace.pid for namespace in members[:hosts]]
            self._batch(switch, "ip", wiring.switch_batch(pids, self._ipv6))
            self._batch(switch, "bridge", wiring.forwarding_batch(hosts))
        else:
            self._batch(members[0], "ip", wiring.cable_batch(members[1].pid))
        run_each(
            Command((*members[i].command_prefix, self._ip, "-batch", "-"), text)
            for i, text in enumerate(
                wiring.host_batches(hosts, self._ipv6, shaped=self.link.rate_bps is not None)
            )
        )

    def _batch(self, namespace: Namespace, name: str, text: str) -> None:
        run_tool((*namespace.command_prefix, tool(name), "-batch", "-"), text)

    def _shape(self, rate_bps: int, engine: str) -> None:
        commands = []
        for place, namespace in self._places.items():
            devices = self._devices[place]
            queue_bytes = (
                shaping.SWITCH_QUEUE_BYTES if place == "switch" else shaping.HOST_QUEUE_BYTES
            )
            batch = shaping.shaping_batch(devices, rate_bps, queue_bytes)
            commands.append(Command((*namespace.command_prefix, self._tc, "-batch", "-"), batch))
            # With offloads on, the shaper would see packets of 64 kB that no wire carries.
            offloads = (*namespace.command_prefix, engine, "offloads", "--device")
            commands += [Command((*offloads, device, "--set", "off")) for device in devices]
        run_each(commands)

    def _queues(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Place, then device, to its root queue as `tc` describes it."""
        shown = run_each(
            Command((*namespace.command_prefix, self._tc, "-s", "-j", "qdisc", "show"))
            for namespace in self._places.values()
        )
        return {place: root_queues(text) for place, text in zip(self._places, shown, strict=True)}

    def facts(self) -> dict[str, Any]:
        """See `Testbed.facts`; as it was made."""
        return self._facts

    def _look(self) -> dict[str, Any]:
        ip_version, tc_version = run_each(Command((path, "-V")) for path in (self._ip, self._tc))
        return {
            "system": platform.system(),
            "kernel": platform.release(),
            "ip": ip_version.strip(),
            "tc": tc_version.strip(),
            "privileges": self._namespaces.privileges,
            "link": self.link.to_json(),
            "queues": self._queues(),
        }

    def counters(self) -> Counters:
        """See `Testbed.counters`; of a shaped link with those of its queues (`qdisc_…`)."""
        counters = {}
        # Through /proc no process is needed: cheap enough for every trial.
        for place, namespace in self._places.items():
            table = read_interfaces(Path(f"/proc/{namespace.pid}/net/dev"))
            for device in self._devices[place]:
                if device not in table:
                    raise TestbedDamaged(
                        f"the counters of {place}/{device} cannot be read", host=place
                    )
                counters[f"{place}/{device}"] = table[device]
        if self.link.rate_bps is not None:
            for place, queues in self._queues().items():
                for device in self._devices[place]:
                    counters[f"{place}/{device}"] |= queue_counters(queues[device])
        return counters

    def damage(self) -> str | None:
        """See `Testbed.damage`."""
        now = {
            place: None if each.holder.poll() is not None else found_on(each.pid)
            for place, each in self._places.items()
        }
        return damage_of(self._made, now) or interruption_of(self._carriers_made, self._carriers())

    def _carriers(self) -> dict[str, dict[str, int]]:
        shown = run_each(
            Command((*namespace.command_prefix, self._ip, "-s", "-s", "-j", "link"))
            for namespace in self._places.values()
        )
        return {
            place: carrier_changes(text) for place, text in zip(self._places, shown, strict=True)
        }

    def close(self) -> None:
        """See `Testbed.close`; ends whatever still runs on the hosts."""
        self._places, self._made = {}, {}
        self._namespaces.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
