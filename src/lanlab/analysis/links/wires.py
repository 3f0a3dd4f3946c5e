"""The limit of a run's link, from its record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lanlab.analysis.links.limits import (
    GAP_BYTES,
    MTU_BYTES,
    tcp_limit_bps,
    udp_limit_bps,
    udp_wire_bytes,
    wire_bytes,
)
from lanlab.frozen import dataclass
from lanlab.store import Level, RunRecord
from lanlab.testbeds.link import SHARED, LinkRequest, parse_link
from lanlab.trial_data import TestbedFacts
from lanlab.units import format_rate

if TYPE_CHECKING:
    from lanlab.studies.model import Study

_OF_SOFTWARE = frozenset(
    {"veth", "tun", "bridge", "dummy", "macvlan", "ipvlan", "vxlan", "openvswitch", "virtio_net",
     "vmxnet3", "hv_netvsc", "xen_netfront", "wireguard"}
)  # fmt: skip


@dataclass(frozen=True)
class Wire:
    """A link with a known speed and the properties that determine its limits."""

    rate_bps: float
    #: Whether the hosts share one wire, on which acknowledgements take time from data.
    is_shared: bool = False
    #: Whether a frame occupies the link twice, because a switch forwards it only when complete.
    is_switched: bool = False
    way_ns: int = 0
    #: Whether a token bucket limits the speed, rather than the time of a frame on the wire.
    has_token_bucket: bool = False
    #: Whether the speed is reported by drivers of real hosts, and not measured.
    is_of_adapters: bool = False
    mtu_bytes: int = MTU_BYTES
    #: Whether TCP segments carry the timestamps option; simulated machines do not send it.
    has_timestamps: bool = True

    @property
    def limit_name(self) -> str:
        return "limit by the adapters' speed" if self.is_of_adapters else "link limit"

    @property
    def share_name(self) -> str:
        if self.is_of_adapters:
            return f"the limit by the adapters' speed of {format_rate(self.rate_bps)}"
        return "the link's limit"

    def goodput_limit_bps(
        self, transport: str, ip_version: int, message_size_bytes: int | None
    ) -> float:
        """
        The maximum goodput of messages in one direction, bit/s.

        Args:
            transport: `tcp` or `udp`.
            ip_version: 4 or 6.
            message_size_bytes: Size of a UDP message; TCP segments are full.
        """
        if transport == "tcp":
            return tcp_limit_bps(
                self.rate_bps,
                ip_version,
                timestamps=self.has_timestamps,
                mtu_bytes=self.mtu_bytes,
                is_shared=self.is_shared,
            )
        assert message_size_bytes is not None
        return udp_limit_bps(
            self.rate_bps, message_size_bytes, ip_version, mtu_bytes=self.mtu_bytes
        )

    def idle_round_trip_ns(self, message_size_bytes: int, ip_version: int) -> float:
        """The minimum time for a UDP message and its echo to cross an idle link, ns: both complete
        frames, without the gap after a frame and without processing time in the hosts.
        """
        octets = udp_wire_bytes(message_size_bytes, ip_version) - GAP_BYTES
        if self.is_switched:
            # The switch sends the first frame of a message when it has received all of it.
            octets += min(octets, wire_bytes(MTU_BYTES) - GAP_BYTES)
        return 2 * 8e9 * octets / self.rate_bps + 2 * self.way_ns


def wire_of(run: RunRecord) -> Wire | None:
    """The link of a run; `None` if it is unknown, or if only the machine limits the speed."""
    rate_bps = run.testbed.get("link_rate_bps")
    if not rate_bps:
        return _of_adapters(run.testbed.get("facts") or {})
    facts = run.testbed.get("link_facts") or {}
    has_medium = facts.get("shape") == "medium"
    return Wire(
        rate_bps=rate_bps,
        is_shared=facts.get("topology") in SHARED,
        is_switched=has_medium and facts.get("topology") == "switch",
        way_ns=facts.get("delay_ns", 0) + facts.get("propagation_ns", 0),
        has_token_bucket=facts.get("shape") == "tbf",
        has_timestamps=not run.is_simulated,
    )


def link_at(
    run: RunRecord, parameters: Mapping[str, Level], study: Study | None = None
) -> str | None:
    """The link of a condition's simulated machines; `None` if it is the run's. `study` is the run's
    study, if it has been read.
    """
    recorded = run.study.get("simulation") or {}
    if not recorded.get("medium"):
        return None
    from lanlab.studies.counterparts import place_at
    from lanlab.studies.model import Study

    study = study or Study.model_validate(run.study)
    place = place_at(study, parameters)
    assert study.simulation is not None
    return None if place is None else study.simulation.link_of(place, parameters)


def wire_at(
    run: RunRecord, parameters: Mapping[str, Level], study: Study | None = None
) -> Wire | None:
    """The link of one condition of a run, see `link_at`."""
    link = link_at(run, parameters, study)
    return wire_of(run) if link is None else wire_asked_for(link, has_timestamps=False)


def limit_name(run: RunRecord) -> str:
    link = wire_of(run)
    return "link limit" if link is None else link.limit_name


def _of_adapters(facts: TestbedFacts) -> Wire | None:
    """The limit by the speeds that drivers of real hosts report. `None` if a speed is unknown, or
    if an interface is virtual, wireless, or not known to be full duplex.
    """
    interfaces = facts.get("interfaces") or {}
    if "reached" not in facts or len(interfaces) != len(facts["reached"]):
        return None
    speeds, sizes = [], []
    for one in interfaces.values():
        is_shared = one.get("wireless") or one.get("full_duplex") is not True
        speed_bps = one.get("speed_bps")
        if is_shared or not speed_bps or one.get("driver") in _OF_SOFTWARE:
            return None
        speeds.append(speed_bps)
        sizes.append(one.get("mtu_bytes") or MTU_BYTES)
    # The second host is one end; all others are at the other end.
    first, second, *others = speeds
    return Wire(min(second, first + sum(others)), is_of_adapters=True, mtu_bytes=min(sizes))


def wire_asked_for(text: str, *, has_timestamps: bool = True) -> Wire | None:
    """The link of two hosts that a text describes, in the syntax of
    `lanlab.testbeds.link.parse_link`; `None` if it is unshaped.
    """
    asked: LinkRequest = parse_link(text)
    if asked.rate_bps is None:
        return None
    return Wire(
        rate_bps=asked.rate_bps,
        is_shared=asked.is_shared,
        is_switched=asked.shape == "medium" and asked.topology == "switch",
        way_ns=asked.delay_ns + asked.propagation(),
        has_token_bucket=asked.shape == "tbf",
        has_timestamps=has_timestamps,
    )
