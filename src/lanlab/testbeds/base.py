"""
The interface of every testbed: hosts, their addresses, a link, and a clean end, also after an
error.

A performer needs nothing else from a testbed: it prefixes an engine's command with a host's
`command_prefix`, and talks to the engine through its standard input and output.
"""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, Self, runtime_checkable

from lanlab.addresses import AddressFamily
from lanlab.closing import Closing
from lanlab.engine.command import EngineCommand
from lanlab.frozen import dataclass
from lanlab.messages import LinkPlace, MediumCounts
from lanlab.testbeds import shaping
from lanlab.testbeds.link import JoinedBy, LinkRequest

if TYPE_CHECKING:
    from lanlab.testbeds.remote.programs import RemotePrograms
    from lanlab.testbeds.worlds import Worlds

#: Counters by interface (`host0/eth0`), then by name (`rx_packets`, `qdisc_drops`).
Counters = dict[str, dict[str, int]]

Topology = Literal["loopback", "cable", "switch", "hub", "bus", "broadband", "network"]


@dataclass(frozen=True)
class Host:
    #: `host0`, `host1`, …
    name: str
    addresses: dict[AddressFamily, str]
    command_prefix: tuple[str, ...]
    #: Interface to the measured network; `None` if unknown.
    interface: str | None = None
    called: str | None = None
    #: Starts the host's engine; `None`: run this machine's engine with `command_prefix`.
    start_engine: Callable[[], EngineCommand] | None = None
    #: The host's Ethernet on the measured network, for frames without IP; or `None`.
    raw_link: LinkPlace | None = None
    #: An unused IPv4 address of the measured network; `None` if lanlab knows of none.
    spare_address: str | None = None
    #: Whether other programs and servers can be started on the host by `command_prefix`.
    runs_programs: bool = True
    programs_there: RemotePrograms | None = None

    @property
    def label(self) -> str:
        return self.called or self.name


@dataclass(frozen=True)
class LinkFacts:
    #: `None` if only the machine limits it.
    rate_bps: int | None
    #: What limits the rate: `none`; `tbf`, a token bucket at every sending interface; `medium`,
    #: lanlab's own medium, which carries each frame in the time that it takes on a wire.
    shape: str
    topology: Topology
    #: `ethernet` if a frame takes as much time as on a real wire, `none` if it takes none.
    framing: str
    #: Bytes of a frame on the wire beyond its IP packet; Ethernet: header 14, check sequence 4,
    #: preamble 8, gap 12.
    overhead_bytes: int
    minimum_wire_bytes: int
    #: Capacity of a host's sending queue in bytes on the wire; more is dropped.
    queue_bytes: int | None
    switch_queue_bytes: int | None
    burst_bytes: int | None
    mtu_bytes: int | None
    #: Segmentation, coalescing and checksum offloads: `off`, or `on` as the system has them.
    offloads: str
    delay_ns: int = 0
    propagation_ns: int = 0
    loss_ratio: float = 0.0
    #: Mean number of frames lost in a row; 1 for losses that are independent of each other.
    loss_burst_frames: float = 1.0
    precise: bool = False

    @classmethod
    def as_it_is(cls, topology: Topology, mtu_bytes: int | None = None) -> Self:
        return cls(
            rate_bps=None,
            shape="none",
            topology=topology,
            framing="none",
            overhead_bytes=0,
            minimum_wire_bytes=0,
            queue_bytes=None,
            switch_queue_bytes=None,
            burst_bytes=None,
            mtu_bytes=mtu_bytes,
            offloads="on",
        )

    @classmethod
    def of(cls, request: LinkRequest, topology: JoinedBy) -> Self:
        rate_bps, shape = request.rate_bps, request.shape
        shaped = rate_bps is not None
        is_switched = shaped and topology == "switch"
        return cls(
            rate_bps=rate_bps,
            shape=shape,
            topology=topology,
            framing="ethernet" if shaped else "none",
            overhead_bytes=shaping.HEADER_BYTES + shaping.BEYOND_HEADER_BYTES if shaped else 0,
            minimum_wire_bytes=shaping.MINIMUM_WIRE_BYTES if shaped else 0,
            queue_bytes=shaping.HOST_QUEUE_BYTES if shaped else None,
            switch_queue_bytes=shaping.SWITCH_QUEUE_BYTES if is_switched else None,
            burst_bytes=shaping.burst_bytes(rate_bps) if rate_bps and shape == "tbf" else None,
            mtu_bytes=shaping.MTU_BYTES,
            offloads="off" if shaped else "on",
            delay_ns=request.delay_ns,
            propagation_ns=request.propagation(),
            loss_ratio=request.loss_ratio,
            loss_burst_frames=request.loss_burst_frames,
            precise=request.precise,
        )

    def to_json(self) -> dict[str, object]:
        return dataclasses.asdict(self)


class Testbed(Closing):
    """Hosts that exist until `close`, which leaves nothing behind."""

    #: The testbed's name in the registry.
    name: str
    #: The hosts, `host0` first.
    hosts: tuple[Host, ...]
    #: The link between them.
    link: LinkFacts
    #: Time from announcing a trial's start to the start, enough for every engine, seconds.
    start_lead_s: float

    def facts(self) -> dict[str, object]:
        """Facts on the testbed for a trial's record, as JSON."""
        return {
            "system": platform.system(),
            "kernel": platform.release(),
            "link": self.link.to_json(),
        }

    def counters(self) -> Counters:
        """Current counters of every interface; empty if the system has none, or the engines report
        them with the facts on their hosts.
        """
        return {}

    def damage(self) -> str | None:
        """A change of the testbed since it was set up, as a sentence without a full stop; `None` if
        there is none. A damaged testbed can be closed, and another opened.
        """
        return None


@runtime_checkable
class HasMedium(Protocol):
    def medium_read(self) -> MediumCounts | None:
        """The medium's report from the last reading of counters, including its `lateness` since the
        previous reading. `None` for a link without a medium.
        """

    def medium_counters(self) -> Counters:
        """The current counters of `Testbed.counters` that the medium counts; empty for a link
        without one.
        """


@runtime_checkable
class Simulates(Protocol):
    @property
    def worlds(self) -> Worlds:
        """The engines that compute its trials."""

    def pcap_of(self, number: int) -> Path | None:
        """The capture file of a trial, by its number from 0; `None` for no file."""

    def versions(self) -> dict[str, str]:
        """Versions of the programs that simulate."""
