"""Hosts joined by lanlab's own medium, an engine on the first two: where `medium.py` measures."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from lanlab.addresses import ip_family
from lanlab.engine import Engine, engine_path
from lanlab.performers.engine_host import EngineHost
from lanlab.testbeds import wiring
from lanlab.testbeds.base import Host, LinkFacts
from lanlab.testbeds.counters import read_interfaces
from lanlab.testbeds.link import JoinedBy, parse_link
from lanlab.testbeds.medium import Medium
from lanlab.testbeds.namespaces import Namespaces
from lanlab.testbeds.tools import tool

_CAPTURE_S = 30
_VIRTUAL_NS = 100_000_000_000
_LOAD = Path(__file__).parents[1] / "target/release/examples/medium_load"


def bus_on_virtual_time(**plan: Any) -> dict[str, Any]:
    """
    What a bus carries under a load.

    Needs `cargo build --release --package lanlab-medium --example medium_load`.
    """
    asked = json.dumps({"queue_frames": 64, "seed": 1} | plan)
    found = subprocess.run([_LOAD], input=asked, text=True, stdout=subprocess.PIPE, check=True)
    loaded: dict[str, Any] = json.loads(found.stdout)
    return loaded


class Lan:
    """Hosts on one link, until `close`."""

    def __init__(
        self,
        hosts: int,
        rate_bps: int | None,
        *,
        topology: JoinedBy = "cable",
        precise: bool = False,
        loss_ratio: float = 0.0,
    ) -> None:
        """
        Args:
            rate_bps: Of the medium; `None` for the same interfaces on a medium that takes no time.
        """
        text = f"{rate_bps or 10_000_000}:{topology}"
        if loss_ratio:
            text += f",loss={100 * loss_ratio}%"
        self._hosts = hosts
        self._namespaces = Namespaces()
        self._medium: Medium | None = None
        self._engines: list[Engine] = []
        try:
            facts = LinkFacts.of(parse_link(text), topology)
            self._link = dataclasses.replace(facts, rate_bps=rate_bps, precise=precise)
            members = self._namespaces.add(hosts + 1)
            self._members = members
            ports = [
                (each.pid, wiring.HOST_DEVICE, wiring.mac(i))
                for i, each in enumerate(members[:hosts])
            ]
            self._medium = Medium(str(engine_path()), members[hosts], ports, self._link, None)
            pids = [each.pid for each in members[:hosts]]
            self._medium.engine.ask(wiring.hosts_request(pids, ipv6=True, shaped=True))
            self._engines = [
                Engine(f"host{i}", [*members[i].command_prefix, str(engine_path())]) for i in (0, 1)
            ]
        except BaseException:
            self.close()
            raise

    def prefix(self, host: int) -> tuple[str, ...]:
        """Put before a command, starts it on that host."""
        return self._members[host].command_prefix

    def address(self, host: int, ip_version: int) -> str:
        """Its address."""
        return wiring.addresses(host, ipv6=True)[ip_family(ip_version)]

    def ends(self, ip_version: int) -> tuple[EngineHost, EngineHost]:
        """The first two hosts, as a trial takes them."""
        source, target = (
            EngineHost(
                engine,
                self.address(i, ip_version),
                engine.describe()["boot_id"],
                Host(f"host{i}", {}, self.prefix(i)),
            )
            for i, engine in enumerate(self._engines)
        )
        return source, target

    def read(self) -> dict[str, Any]:
        """What the medium says of itself."""
        assert self._medium is not None
        counters = self._medium.counters()
        last = self._medium.last_read()
        assert last is not None
        ports = [
            {name.removeprefix("medium_"): count for name, count in each.items()}
            for each in counters.values()
        ]
        return {**last, "ports": ports}

    def thread(self) -> MediumThread:
        """What the system says of the medium's thread: the one of its process that worked most."""
        assert self._medium is not None
        tasks = Path(f"/proc/{self._medium.engine.pid}/task")
        return max((MediumThread.of(each) for each in tasks.iterdir()), key=lambda each: each.ticks)

    def interface_drops(self) -> int:
        """Frames that hosts' interfaces had no room for."""
        tables = (
            read_interfaces(Path(f"/proc/{each.pid}/net/dev"))
            for each in self._members[: self._hosts]
        )
        return sum(table[wiring.HOST_DEVICE]["tx_drops"] for table in tables)

    def saturated_on_virtual_time(self, hosts: int, frame_bytes: int) -> float:
        """Utilisation of the same hub on virtual time, all hosts with a frame always."""
        loaded = bus_on_virtual_time(
            rate_bps=self._link.rate_bps,
            stations=hosts,
            propagation_ns=self._link.propagation_ns,
            frame_bytes=frame_bytes,
            duration_ns=_VIRTUAL_NS,
            warmup_ns=_VIRTUAL_NS // 10,
        )
        return float(loaded["utilisation_ratio"])

    def watch(self, *hosts: int) -> list[Watch]:
        """Have tshark count the frames of lanlab's stream on hosts."""
        watches = [Watch(self.prefix(host), self._members[host].pid) for host in hosts]
        for watch in watches:
            watch.await_begin()
        return watches

    def close(self) -> None:
        """End it."""
        for engine in self._engines:
            engine.close()
        if self._medium is not None:
            self._medium.close()
        self._namespaces.close()


@dataclasses.dataclass(frozen=True)
class MediumThread:
    """The medium's thread, since its start (proc(5))."""

    user_ticks: int
    system_ticks: int
    reads: int
    writes: int

    @classmethod
    def of(cls, task: Path) -> MediumThread:
        """The thread of a folder in `/proc/PID/task`."""
        # The name of a thread may hold spaces; fields are counted from the one after it.
        fields = (task / "stat").read_text().rpartition(") ")[2].split()
        counts = dict(line.split(": ") for line in (task / "io").read_text().splitlines())
        return cls(int(fields[11]), int(fields[12]), int(counts["syscr"]), int(counts["syscw"]))

    @property
    def ticks(self) -> int:
        """Its processor time."""
        return self.user_ticks + self.system_ticks


class Watch:
    """tshark on one host."""

    def __init__(self, prefix: tuple[str, ...], pid: int) -> None:
        """
        Args:
            pid: Of a process in the network of the host.
        """
        # Those that are bound to something (packet(7)).
        self._sockets = Path(f"/proc/{pid}/net/packet")
        self._others = len(self._sockets.read_text().splitlines())
        self._shown = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        # Data messages of a stream alone: 500 bytes of payload, not the session's.
        self._tshark = subprocess.Popen(
            [*prefix, tool("tshark"), "-i", wiring.HOST_DEVICE, "-f", "udp and greater 542",
             "-a", f"duration:{_CAPTURE_S}", "-T", "fields", "-e", "frame.number", "-l"],
            stdout=self._shown, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def await_begin(self, within_s: float = 20.0) -> None:
        """Wait until it has its socket: it says nothing when it has begun."""
        deadline = time.monotonic() + within_s
        while len(self._sockets.read_text().splitlines()) == self._others:
            assert time.monotonic() < deadline, "tshark does not begin"
            time.sleep(0.02)
        # From there to its filter.
        time.sleep(0.3)

    def end(self) -> int:
        """How many it saw, once it shows no more: it shows frames some time after they came."""
        shown, size = -1, 0
        while shown != size and self._tshark.poll() is None:
            shown = size
            # Longer than tshark needs to show a frame.
            time.sleep(1.0)
            size = os.fstat(self._shown.fileno()).st_size
        self._tshark.terminate()
        self._tshark.wait(20)
        with self._shown:
            self._shown.seek(0)
            return len(self._shown.read().splitlines())
