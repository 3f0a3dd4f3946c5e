"""The small stack: lanlab's own TCP in place of the system's, at one end of a trial."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, cast

from lanlab.errors import UnmetNeed
from lanlab.frozen import dataclass
from lanlab.messages import OwnStack, OwnTcp, SocketOptions

if TYPE_CHECKING:
    from lanlab.workloads.steps import Stage


@dataclass(frozen=True)
class StackProfile:
    """The TCP parameters of a period system, where they differ from the small stack's defaults."""

    title: str
    mss_bytes: int
    receive_buffer_bytes: int
    send_buffer_bytes: int
    delayed_ack_ns: int
    no_delay: bool

    @property
    def request(self) -> OwnTcp:
        keys = ("mss_bytes", "receive_buffer_bytes", "send_buffer_bytes", "delayed_ack_ns")
        found = {key: getattr(self, key) for key in keys} | {"no_delay": self.no_delay}
        return cast("OwnTcp", found)


def _mtcp(title: str) -> StackProfile:
    return StackProfile(title, 1460, 8192, 8192, 0, no_delay=True)


#: Profiles by name. Windows 95 has a window of six Ethernet segments, and delays acknowledgements
#: and short segments (RFC 896), as was usual then.
PROFILES = {
    "mtcp": _mtcp("mTCP, as it is by default"),
    "pcjr": _mtcp("PCjr with mTCP"),
    "ibm-xt": _mtcp("IBM PC XT with mTCP"),
    "386-40": _mtcp("386-40 with mTCP"),
    "p133": _mtcp("Pentium 133 with mTCP"),
    "windows-95": StackProfile("Windows 95", 1460, 8760, 8760, 200_000_000, no_delay=False),
}
PROFILE_HELP = (
    "TCP settings of a period system: mtcp, one of its machines (pcjr, ibm-xt, 386-40, p133), or "
    "windows-95. Default: none."
)

BUFFERS = range(1460, 65_536)
MEMORY_HELP = "Memory limit of the small TCP."
ADDRESS_HELP = "Unused IPv4 address for the small TCP. Default on the virtual LAN: any free one."


def without_address() -> ValueError:
    """The error if the small stack has no address and lanlab has no default."""
    problem = ValueError("stack `small` needs an address of its own")
    problem.add_note("give an unused one, e.g. `--stack-address 192.168.7.77`")
    return problem


def check_small_stack(
    profile: str | None, address: str | None, ip_version: int | None, options: SocketOptions
) -> None:
    """
    Refuse a small stack with an unsuitable address or buffers.

    Raises:
        ValueError: The address is not IPv4, the profile is unknown, or it scales no windows.
    """
    if profile not in (None, *PROFILES):
        raise ValueError(f"stack_profile: found `{profile}`; allowed: {', '.join(PROFILES)}")
    try:
        ipaddress.IPv4Address(address or "0.0.0.0")
    except ValueError:
        raise ValueError(f"stack_address: found `{address}`; allowed: an IPv4 address") from None
    if ip_version != 4:
        raise ValueError("stack `small` supports only ip_version 4")
    sizes = {
        "send_buffer_bytes": options["send_buffer_bytes"],
        "receive_buffer_bytes": options["receive_buffer_bytes"],
    }
    for key, size in sizes.items():
        if size is not None and size not in BUFFERS:
            raise ValueError(
                f"{key}: found {size}; allowed with stack `small`: {BUFFERS[0]} to {BUFFERS[-1]}"
            )


def requested(
    address: str | None, memory_bytes: int, profile: str | None, stage: Stage, role: str
) -> OwnStack:
    """
    The small stack of a host in a request to its engine.

    Raises:
        UnmetNeed: No interface was named, or no address where lanlab has no default.
    """
    link = stage.raw_link(role)
    if link is None:
        raise UnmetNeed(
            "the small stack needs an Ethernet interface",
            hint="give the interface to the peer, e.g. `--interface eth1`",
        )
    address = address or stage.spare_address(role)
    if address is None:
        problem = without_address()
        raise UnmetNeed(str(problem), hint=problem.__notes__[0])
    asked: OwnStack = {"address": address, "memory_bytes": memory_bytes, "link": link}
    return asked if profile is None else asked | {"tcp": PROFILES[profile].request}
