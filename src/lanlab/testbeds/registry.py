"""The testbeds that there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lanlab.errors import of_name
from lanlab.testbeds.base import Testbed


def _loopback(hosts: int, link: str) -> Testbed:
    from lanlab.testbeds.loopback import LoopbackTestbed

    return LoopbackTestbed(hosts, link)


def _virtual(hosts: int, link: str) -> Testbed:
    from lanlab.engine.locate import engine_path
    from lanlab.testbeds.virtual import VirtualTestbed

    return VirtualTestbed(hosts, link, find_engine=engine_path)


#: Name to what opens it, given the number of hosts and the link.
TESTBEDS: Mapping[str, Callable[[int, str], Testbed]] = {
    "loopback": _loopback,
    "virtual": _virtual,
}


def testbed(name: str, hosts: int = 2, link: str = "unshaped") -> Testbed:
    """Open a testbed; close it, or leave its `with` block, to end it.

    Args:
        name: One of `TESTBEDS`.
        hosts: How many hosts it has.
        link: As `lanlab.testbeds.link.parse_link` reads it.

    Raises:
        UnknownName: There is no such testbed.
        UsageError: It cannot have so many hosts or such a link.
        UnmetNeed: The machine lacks what it needs.
        RunError: The system refused a step. As after the others, nothing is left behind.
    """
    return of_name("testbed", name, TESTBEDS)(hosts, link)
