"""The table of testbeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import cast

from lanlab.errors import UsageError, of_name
from lanlab.frozen import dataclass
from lanlab.testbeds.base import Testbed


def _of(module: str, name: str) -> Callable[..., Testbed]:
    """A class of testbeds whose module is imported when the first is opened."""

    def opened(*args: object, **others: object) -> Testbed:
        kind = getattr(import_module(f"lanlab.testbeds.{module}"), name)
        return cast("Testbed", kind(*args, **others))

    return opened


def _ssh_hosts(text: str) -> list[str | None]:
    from lanlab.testbeds.remote.destinations import read_destinations

    return [None if one.ssh is None else one.label for one in read_destinations(text)]


@dataclass(frozen=True)
class RealHosts:
    #: Opens a testbed, from the part after `:` in its name, the number of hosts and the link.
    open: Callable[[str, int, str], Testbed]
    example: str
    how_to_reach: str
    #: Labels of the hosts in the part of a name after `:`; `None` is this machine. Without this
    #: function a name lists no hosts, and the testbed has as many as it needs.
    listed_hosts: Callable[[str], list[str | None]] | None = None


TESTBEDS: Mapping[str, Callable[..., Testbed]] = {
    "loopback": _of("loopback", "LoopbackTestbed"),
    "virtual": _of("virtual", "VirtualTestbed"),
    "simulated": _of("simulated", "SimulatedTestbed"),
}

#: Kinds of real hosts, by the part of the name before `:`.
REAL_HOSTS: Mapping[str, RealHosts] = {
    "ray": RealHosts(
        _of("ray", "RayTestbed"),
        "`ray:10.0.0.1:6379`, the address of the cluster's head node",
        "nodes are measured at the addresses by which the Ray cluster knows them: start them with "
        "addresses of one network",
    ),
    "ssh": RealHosts(
        _of("ssh", "SshTestbed"),
        "`ssh:here,alice@nas` or `ssh:lab.toml`",
        "give the addresses of a network that both hosts are in: --address and --from-address, or "
        "`address` in the host file",
        _ssh_hosts,
    ),
}
#: Prefix that names this machine with an Ethernet interface, for frames without IP.
INTERFACE = "interface:"
#: Kinds of testbeds with any number of hosts, each with its own processors.
WITH_ANY_HOSTS = ("virtual", *(kind for kind, one in REAL_HOSTS.items() if not one.listed_hosts))


def real_hosts(name: str) -> RealHosts | None:
    """The kind of a testbed of real hosts; `None` for others."""
    return REAL_HOSTS.get(name.partition(":")[0])


def is_of_real_hosts(name: str) -> bool:
    """Whether a testbed's hosts and network exist independently of lanlab."""
    return real_hosts(name) is not None


def listed_hosts(name: str) -> list[str | None] | None:
    """
    Labels of the hosts that the name of a testbed lists; `None` for this machine.

    Returns:
        `None` if the name lists no hosts.

    Raises:
        UsageError: The list is malformed.
    """
    kind = real_hosts(name)
    if kind is None or kind.listed_hosts is None:
        return None
    return kind.listed_hosts(name.partition(":")[2])


def testbed(name: str, hosts: int = 2, link: str = "unshaped", pcap: Path | None = None) -> Testbed:
    """Open a testbed; close it, or leave its `with` block, to end it.

    Args:
        name: One of `TESTBEDS`, `ssh:` and hosts, or `ray:` and a cluster.
        hosts: Number of hosts.
        link: In the form of `lanlab.testbeds.link.parse_link`.
        pcap: Write to this file every frame on the link, if it has a medium, or every frame of this
            machine's station at an interface. Simulated trials after the first have files next to
            it.

    Raises:
        UnknownName: The testbed is unknown.
        UsageError: It cannot have this number of hosts or this link.
        UnmetNeed: The machine lacks a requirement.
        RunError: The system refused a step. After any error, nothing is left behind.
    """
    if name.startswith(INTERFACE):
        from lanlab.testbeds.interface import InterfaceTestbed

        return InterfaceTestbed(name.removeprefix(INTERFACE), hosts, pcap)
    if pcap is not None:
        if name in ("virtual", "simulated"):
            return TESTBEDS[name](hosts, link, pcap=pcap)
        raise UsageError(
            f"--pcap: cannot capture frames on testbed `{name}`; allowed: `simulated`, `virtual` "
            "with a link of a stated speed up to 100 Mbit/s, --interface",
            hint="add e.g. `--testbed virtual --link 100M`, or omit --pcap",
        )
    if (kind := real_hosts(name)) is not None:
        _, colon, text = name.partition(":")
        if not colon:
            raise UsageError(f"testbed `{name}` has no hosts", hint=f"write e.g. {kind.example}")
        return kind.open(text, hosts, link)
    if name.endswith(".toml") and name not in TESTBEDS:
        raise UsageError(
            f"testbed `{name}` is a file", hint=f"for a file of hosts, use `--testbed ssh:{name}`"
        )
    return of_name("testbed", name, TESTBEDS)(hosts, link)
