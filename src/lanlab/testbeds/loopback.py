"""Hosts that are all this machine, joined by its loopback interface. Needs no rights."""

from __future__ import annotations

from pathlib import Path

from lanlab.addresses import AddressFamily
from lanlab.errors import UsageError
from lanlab.testbeds.base import Counters, Host, LinkFacts, Testbed
from lanlab.testbeds.counters import read_interfaces
from lanlab.testbeds.link import check_unshaped

MAX_HOSTS = 256


def has_ipv6() -> bool:
    """Whether this machine has ::1."""
    import socket

    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def _mtu_bytes() -> int | None:
    try:
        return int(Path("/sys/class/net/lo/mtu").read_text())
    except (OSError, ValueError):
        return None


class LoopbackTestbed(Testbed):
    """All hosts have the same addresses."""

    name = "loopback"
    start_lead_s = 0.01

    def __init__(self, hosts: int, link: str) -> None:
        """
        Raises:
            UsageError: The number of hosts is not allowed, or the link is shaped.
        """
        if not 1 <= hosts <= MAX_HOSTS:
            raise UsageError(f"loopback: {hosts} hosts; allowed: 1 to {MAX_HOSTS}")
        hint = "use --testbed virtual for a link of a stated speed or topology"
        check_unshaped(self.name, link, hint)
        addresses: dict[AddressFamily, str] = {"ipv4": "127.0.0.1"}
        if has_ipv6():
            addresses["ipv6"] = "::1"
        self.hosts = tuple(Host(f"host{i}", dict(addresses), ()) for i in range(hosts))
        self.link = LinkFacts.as_it_is("loopback", _mtu_bytes())

    def counters(self) -> Counters:
        """See `Testbed.counters`; they cover the whole machine's loopback, including other
        programs.
        """
        table = read_interfaces(Path("/proc/net/dev"))
        return {"lo": table["lo"]} if "lo" in table else {}

    def close(self) -> None:
        """See `Testbed.close`: there is nothing to close."""
