"""
lanlab's own medium below a virtual LAN: an engine that carries every frame between the hosts, each
in the time that it takes on a wire.

The engine runs in its own network namespace, creates the interface of each host, and ends with its
input, as every engine does; the interfaces then carry nothing.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, cast

from lanlab import captures
from lanlab.engine import Engine
from lanlab.errors import EngineError, EngineLost, LabError, TestbedDamaged
from lanlab.messages import MediumCounts
from lanlab.testbeds.base import Counters, LinkFacts
from lanlab.testbeds.namespaces import Namespace

MEDIUM = "medium"
#: `tap`: each host's interface is a TAP. `packet_socket`: it is the end of a virtual cable (veth)
#: with a packet socket of the medium at the other end, which needs no device.
Interfaces = Literal["tap", "packet_socket"]
#: The device for TAPs (tuntap.rst in Linux). Containers often lack it.
TUN_DEVICE = Path("/dev/net/tun")

#: Creating the interfaces of 256 hosts takes less than a second.
_READY_S = 20.0
_CANCEL_S = 5.0


class Medium:
    """The medium of one testbed, from when every host has its interface until `close`."""

    def __init__(
        self,
        engine: str,
        place: Namespace,
        ports: Sequence[tuple[int, str, str]],
        link: LinkFacts,
        pcap: Path | None,
    ) -> None:
        """
        Args:
            engine: Path of `lanlab-engine`.
            place: Where the medium's process runs.
            ports: For each host a process in its namespace, the name of the interface to create
                there, and its hardware address.
            link: The link to emulate.
            pcap: Write every frame to this file, which must not exist.

        Raises:
            RunError: The system refused, with its message.
        """
        self.interfaces = usable_interfaces()
        self.seed = secrets.randbelow(2**63)
        self._pcap = pcap
        self._ports = [f"host{i}/{interface}" for i, (_, interface, _) in enumerate(ports)]
        self._read: MediumCounts | None = None
        self._over = threading.Event()
        self._end: LabError | None = None
        self._is_closed = False
        self.engine = Engine(MEDIUM, [*place.command_prefix, engine])
        try:
            self._carrying = self.engine.start(self._request(ports, link))
            self._carrying.on_over = self._over.set
            self._carrying.wait_ready(_READY_S)
        except BaseException:
            self.engine.close()
            raise

    def _request(self, ports: Sequence[tuple[int, str, str]], link: LinkFacts) -> dict[str, object]:
        is_bursty = link.loss_burst_frames > 1
        return {
            "type": "carry_frames",
            "ports": [
                {"namespace_pid": pid, "interface": interface, "mac": mac}
                for pid, interface, mac in ports
            ],
            "interfaces": self.interfaces,
            # Hubs and broadband cables are buses of different lengths.
            "topology": link.topology if link.topology in ("cable", "switch") else "bus",
            "rate_bps": link.rate_bps,
            "propagation_ns": link.propagation_ns,
            "delay_ns": link.delay_ns,
            "loss_ratio": link.loss_ratio,
            "loss_burst_frames": link.loss_burst_frames if is_bursty else None,
            "queue_bytes": link.queue_bytes,
            "switch_queue_bytes": link.switch_queue_bytes or 0,
            "seed": self.seed,
            "precise": link.precise,
            "pcap": None if self._pcap is None else str(self._pcap),
        }

    def counters(self) -> Counters:
        """Counters of the frames of each host's interface, by `medium_…`.

        Raises:
            TestbedDamaged: The medium has ended.
        """
        try:
            read = self.engine.ask({"type": "read_medium", "target": self._carrying.id})
        except (EngineError, EngineLost) as error:
            raise TestbedDamaged(self.damage() or error.message, host=MEDIUM) from None
        self._read = read
        return {
            port: {f"medium_{name}": cast("int", count) for name, count in counts.items()}
            for port, counts in zip(self._ports, read["ports"], strict=True)
        }

    def last_read(self) -> MediumCounts | None:
        if self._read is None:
            return None
        kept = {name: one for name, one in self._read.items() if name not in ("ports", "kind")}
        return cast("MediumCounts", kept)

    def facts(self) -> dict[str, object]:
        return {
            "engine_version": self.engine.hello["engine_version"],
            "interfaces": self.interfaces,
            "seed": self.seed,
            # nice(1) value: below 0 the process has priority.
            "nice": None if self._read is None else self._read["nice"],
            "pcap": None if self._pcap is None else str(self._pcap),
        }

    def lost(self, within_s: float) -> str | None:
        """How the medium's process ended; `None` if it still runs after this time."""
        self._over.wait(within_s)
        return self.engine.lost().message if self.engine.is_lost else None

    def damage(self) -> str | None:
        """How the medium ended, in the words of `Testbed.damage`; `None` while it works."""
        if (lost := self.lost(0.0)) is not None:
            return lost
        return self._ended(0.0).message if self._over.is_set() else None

    def close(self) -> None:
        """Stop the medium. The hosts' interfaces vanish with it, or with the hosts. A second call
        does nothing.
        """
        if not self.engine.is_lost and not self._over.is_set():
            with contextlib.suppress(EngineError, EngineLost):
                self.engine.ask({"type": "cancel", "target": self._carrying.id}, _CANCEL_S)
        # When the request has ended, the capture is complete on disk.
        if self._pcap is not None and not self._is_closed:
            self._note_capture(str(self._pcap))
        self._is_closed = True
        self.engine.close()

    def _note_capture(self, path: str) -> None:
        ended = self._ended(_CANCEL_S)
        counts = ended.partial if isinstance(ended, EngineError) else None
        if counts is None:
            captures.note_unknown(path, ended.message)
            return
        is_failed = isinstance(ended, EngineError) and ended.code == captures.RECORDING_FAILED
        why = ended.message if is_failed else None
        captures.note(path, int(counts["recorded_frames"]), int(counts["unrecorded_frames"]), why)

    def _ended(self, within_s: float) -> LabError:
        """The error that ended the medium's request, which runs until cancelled."""
        if self._end is None:
            try:
                self._carrying.result(within_s)
                self._end = EngineLost(f"{MEDIUM}: it has ended by itself")
            except (EngineError, EngineLost) as error:
                self._end = error
        return self._end


def usable_interfaces() -> Interfaces:
    """The kind of interface that hosts can have here: TAPs if `/dev/net/tun` can be opened."""
    try:
        os.close(os.open(TUN_DEVICE, os.O_RDWR | os.O_CLOEXEC))
    except OSError:
        return "packet_socket"
    return "tap"
