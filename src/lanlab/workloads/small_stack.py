"""The small stack: lanlab's own TCP in place of the system's, at one end of a trial."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

from lanlab.errors import UnmetNeed

if TYPE_CHECKING:
    from lanlab.workloads.steps import Stage

#: Sizes that its buffers may have.
BUFFERS = range(1460, 65_536)
MEMORY_HELP = "Most memory of the small stack in all: buffers, frames, timers."
ADDRESS_HELP = (
    "IPv4 address of the small stack: one that no host has. Default on the virtual LAN: a free one."
)


def without_address() -> ValueError:
    """What is wrong with a small stack that is given no address where lanlab knows of none."""
    problem = ValueError("stack: found `small` without an address of its own")
    problem.add_note("give one that no host has, as in `--stack-address 192.168.7.77`")
    return problem


def check_small_stack(parameters: Any) -> None:
    """
    Refuse a small stack with an address or buffers that it cannot have.

    Raises:
        ValueError: The address is not one of IPv4; or it scales no windows.
    """
    try:
        ipaddress.IPv4Address(parameters.stack_address or "0.0.0.0")
    except ValueError:
        raise ValueError(
            f"stack_address: found `{parameters.stack_address}`; allowed: an IPv4 address"
        ) from None
    if parameters.ip_version != 4:
        raise ValueError("ip_version: found 6; allowed with stack `small`: 4")
    for key in ("send_buffer_bytes", "receive_buffer_bytes"):
        size = getattr(parameters, key)
        if size is not None and size not in BUFFERS:
            raise ValueError(
                f"{key}: found {size}; allowed with stack `small`: {BUFFERS[0]} to {BUFFERS[-1]}"
            )


def requested(parameters: Any, stage: Stage, role: str) -> dict[str, Any]:
    """
    The small stack of a host in a request to its engine.

    Raises:
        UnmetNeed: No interface was named, or no address where lanlab knows of none.
    """
    link = stage.raw_link(role)
    if link is None:
        raise UnmetNeed(
            "the small stack is a station of its own on an Ethernet, and no interface was named",
            hint="name the one that leads to the peer, as in `--interface eth1`",
        )
    address = parameters.stack_address or stage.spare_address(role)
    if address is None:
        problem = without_address()
        raise UnmetNeed(str(problem), hint=problem.__notes__[0])
    return {"address": address, "memory_bytes": parameters.stack_memory_bytes, "link": link}
