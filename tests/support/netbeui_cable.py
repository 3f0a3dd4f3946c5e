"""Two hosts with an Ethernet cable, and what tshark says of the frames on it."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from peer_finding import peer_program
from programs import ran

from lanlab.testbeds.namespaces import Namespace, Namespaces


def dissected(pcap: Path, *wanted: str) -> list[str]:
    argv = [peer_program("tshark"), "-r", str(pcap), *wanted]
    said = ran(argv, check=True)
    return said.stdout.splitlines()


@pytest.fixture
def cable() -> Iterator[tuple[Namespace, Namespace]]:
    namespaces = Namespaces()
    try:
        one, other = namespaces.add(2)
        for host, argv in (
            (one, ["link", "add", "left", "type", "veth", "peer", "name", "right", "netns",
                   str(other.pid)]),
            (one, ["link", "set", "lo", "up"]),
            (one, ["link", "set", "left", "up"]),
            (other, ["link", "set", "right", "up"]),
        ):  # fmt: skip
            subprocess.run([*host.command_prefix, "ip", *argv], check=True, timeout=20)
        yield one, other
    finally:
        namespaces.close()
