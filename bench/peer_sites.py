"""Where `peers.py` measures: a veth pair and the loopback of one host, in namespaces of its own."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanlab.addresses import AddressFamily, ip_family
from lanlab.engine import Engine, engine_path
from lanlab.performers.engine_host import EngineHost
from lanlab.testbeds import testbed
from lanlab.testbeds.base import Host
from lanlab.testbeds.tools import tool

_LOOPBACK: dict[AddressFamily, str] = {"ipv4": "127.0.0.1", "ipv6": "::1"}
_HEADERS = {4: 20 + 8 + 14, 6: 40 + 8 + 14}
_QUEUE_PACKETS = 4


@dataclass(frozen=True)
class Site:
    """Two ends and what joins them."""

    name: str
    engines: tuple[Engine, Engine]
    hosts: tuple[Host, Host]
    addresses: tuple[dict[AddressFamily, str], dict[AddressFamily, str]]
    device: str
    #: Of TCP, for programs that have no option for it.
    congestion_control: str

    def ends(self, ip_version: int) -> tuple[EngineHost, EngineHost]:
        """Source and target."""
        source, target = (
            EngineHost(
                engine,
                addresses[ip_family(ip_version)],
                engine.describe()["boot_id"],
                host,
            )
            for engine, host, addresses in zip(
                self.engines, self.hosts, self.addresses, strict=True
            )
        )
        return source, target

    @contextlib.contextmanager
    def watched(self, payload_bytes: int, nominal_ns: float) -> Iterator[dict[str, Any]]:
        """What arrives at the target meanwhile; the figures are there when it is over."""
        figures: dict[str, Any] = {}
        watcher = Path(__file__).with_name("peer_wire.py")
        process = subprocess.Popen(
            [
                *(*self.hosts[1].command_prefix, sys.executable, str(watcher)),
                *(self.device, str(payload_bytes), str(nominal_ns)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None and process.stdout is not None
        try:
            assert process.stdout.readline().strip() == "ready"
            yield figures
            process.stdin.close()
            figures |= json.loads(process.stdout.readline())
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    @contextlib.contextmanager
    def narrow(
        self, payload_bytes: int, messages_per_s: float, ip_version: int
    ) -> Iterator[dict[str, int]]:
        """A queue of 4 packets before a link of twice the rate; counts what it sent and dropped."""
        counts: dict[str, int] = {}
        frame = payload_bytes + _HEADERS[ip_version]
        speed = round(2 * 8 * frame * messages_per_s)
        # Room for four waiting. One may leave at once: a token bucket must hold a frame.
        shape = f"tbf rate {speed}bit burst {max(1_600, frame)} limit {_QUEUE_PACKETS * frame}"
        tc = [*self.hosts[0].command_prefix, tool("tc")]
        place = ["dev", self.device, "root"]
        subprocess.run([*tc, "qdisc", "replace", *place, *shape.split()], check=True)
        try:
            yield counts
            shown = subprocess.run(
                [*tc, "-s", "-j", "qdisc", "show", "dev", self.device],
                check=True,
                capture_output=True,
                text=True,
            )
            root = next(entry for entry in json.loads(shown.stdout) if entry.get("root"))
            counts |= {"packets": root["packets"], "drops": root["drops"]}
        finally:
            subprocess.run([*tc, "qdisc", "del", *place], check=True)


def _set_congestion_control(host: Host) -> str:
    """Make cubic a host's own, where the system lets it; gives the one that the host has."""
    file = "/proc/sys/net/ipv4/tcp_congestion_control"
    script = f"echo cubic 2>/dev/null > {file}; cat {file}"
    done = subprocess.run(
        [*host.command_prefix, "sh", "-c", script], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@contextlib.contextmanager
def sites() -> Iterator[dict[str, Site]]:
    """Both, until the end of the block."""
    with ExitStack() as stack:
        bed = stack.enter_context(testbed("virtual", 2, "unshaped"))
        first, second = bed.hosts
        control = {_set_congestion_control(host) for host in bed.hosts}.pop()

        def engine(host: Host) -> Engine:
            return stack.enter_context(Engine(host.name, [*host.command_prefix, engine_path()]))

        yield {
            "veth": Site(
                "veth",
                (engine(first), engine(second)),
                (first, second),
                (first.addresses, second.addresses),
                "eth0",
                control,
            ),
            "loopback": Site(
                "loopback",
                (engine(first), engine(first)),
                (first, first),
                (_LOOPBACK, _LOOPBACK),
                "lo",
                control,
            ),
        }
