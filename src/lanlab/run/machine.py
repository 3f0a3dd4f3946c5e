"""Requirements of a condition that only the machine can confirm."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from lanlab.errors import UnmetNeed
from lanlab.workloads.parameters import FlowParameters

_CONTROLS = Path("/proc/sys/net/ipv4")


def check_machine(parameters: FlowParameters, testbed: str) -> None:
    """
    Refuse processors and congestion controls that this machine lacks.

    Raises:
        UnmetNeed: It lacks one, or this user may not use it.
    """
    for processor in (parameters.sender_processor, parameters.receiver_processor):
        _check_processor(processor)
    for name in parameters.congestion_controls:
        _check_control(name, testbed)


def _check_processor(processor: int | None) -> None:
    if processor is None:
        return
    usable = os.sched_getaffinity(0)
    if processor not in usable:
        raise UnmetNeed(
            f"processor {processor} is not available to lanlab; allowed: "
            f"{', '.join(map(str, sorted(usable)))}",
            hint="name one of these; `taskset` and containers limit them further",
        )


def _check_control(name: str, testbed: str) -> None:
    import socket

    try:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
            tried.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
    except OSError as error:
        if error.errno == errno.ENOENT:
            raise UnmetNeed(
                f"congestion control `{name}` is not available on this machine; allowed: "
                f"{_listed('tcp_available_congestion_control')}",
                hint=f"name one of these, or load it as root: `modprobe tcp_{name}`",
            ) from None
        # In its own namespaces, lanlab may do what this user otherwise may not.
        if error.errno == errno.EPERM and testbed == "loopback":
            raise UnmetNeed(
                f"congestion control `{name}` is not allowed to this user; allowed: "
                f"{_listed('tcp_allowed_congestion_control')}",
                hint="name one of these, or run lanlab as root",
            ) from None


def _listed(name: str) -> str:
    try:
        return ", ".join((_CONTROLS / name).read_text(encoding="ascii").split()) or "none"
    except OSError:
        return "others"
