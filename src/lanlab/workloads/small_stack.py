"""The small stack: lanlab's own TCP in place of the system's, at one end of a trial."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

from lanlab.errors import UnmetNeed

#: Sizes that its buffers may have.
BUFFERS = range(1460, 65_536)
MEMORY_HELP = "Most memory of the small stack in all: buffers, frames, timers."
ADDRESS_HELP = "IPv4 address of the small stack: one that no host has."


def check_small_stack(parameters: Any) -> None:
    """
    Refuse a small stack without an address of its own, or with buffers that it cannot have.

    Raises:
        ValueError: It has none, or not of IPv4; or it scales no windows.
    """
    if parameters.stack_address is None:
        problem = ValueError("stack: found `small` without an address of its own")
        problem.add_note("give one that no host has, as in `--stack-address 192.168.7.77`")
        raise problem
    try:
        ipaddress.IPv4Address(parameters.stack_address)
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


def requested(parameters: Any) -> dict[str, Any]:
    """The small stack in a request to an engine, without its link."""
    return {"address": parameters.stack_address, "memory_bytes": parameters.stack_memory_bytes}


def own_link(link: Mapping[str, Any] | None) -> dict[str, Any]:
    """
    Its link in a request to an engine.

    Raises:
        UnmetNeed: No interface was named.
    """
    if link is None:
        raise UnmetNeed(
            "the small stack is a station of its own on an Ethernet, and no interface was named",
            hint="name the one that leads to the peer, as in `--interface eth1`",
        )
    return {"link": link}
