"""What `peers.py` measures: cells, and who takes part in each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from lanlab.store import Level
from lanlab.workloads import workload
from lanlab.workloads.drivers.registry import DRIVERS, OWN
from lanlab.workloads.parameters import FlowParameters

Kind = Literal["messages", "bulk", "round-trip", "pacing", "queue"]

#: Asked of both ends' sockets in all UDP cells, by whoever can.
UDP_BUFFER_BYTES = 2 * 2**20
#: 5 Mbit/s by size: whole messages a second, as not every tool takes another rate.
PACED_MESSAGES_PER_S = {64: 9_766, 500: 1_250}


@dataclass(frozen=True)
class Cell:
    """One condition that all who can are measured at."""

    name: str
    title: str
    kind: Kind
    workload: str
    parameters: Mapping[str, Level]
    #: lanlab's own ways of doing it, by name.
    modes: Mapping[str, Mapping[str, Level]]
    #: Peers' ways beside the plain one, by driver: what is added to their name, and parameters.
    peers: Mapping[str, Mapping[str, Mapping[str, Level]]] = field(default_factory=dict)
    #: Only these peers, or all.
    only: frozenset[str] | None = None
    #: Whom lanlab is compared with, where that is not the best one.
    reference: str | None = None


@dataclass(frozen=True)
class Contender:
    """Someone who takes part in a cell."""

    label: str
    driver: str
    parameters: FlowParameters


def _modes(*ways: tuple[str, str]) -> dict[str, dict[str, Level]]:
    """`io`, `receive` of each mode."""
    return {f"lanlab {io}/{wait}": {"io": io, "receive": wait} for io, wait in ways}


_RECEIVING = _modes(
    ("single", "block"),
    ("single", "poll"),
    ("single", "spin"),
    ("batch", "poll"),
    ("batch", "spin"),
    ("auto", "auto"),
)
_SEGMENTING = _modes(("segment", "poll"), ("segment", "spin"), ("segment", "auto"))
_WRITING = _modes(("single", "block"), ("single", "poll"), ("single", "spin"), ("single", "auto"))
_PACING = _modes(("single", "block"))

_UDP: Mapping[str, Level] = {
    "transport": "udp",
    "send_buffer_bytes": UDP_BUFFER_BYTES,
    "receive_buffer_bytes": UDP_BUFFER_BYTES,
}
_TCP: Mapping[str, Level] = {"transport": "tcp", "congestion_control": "cubic"}
_PACED: tuple[tuple[Kind, str, str], ...] = (
    ("pacing", "pace", "gaps on the wire"),
    ("queue", "queue", "loss in a queue of 4 packets at twice the rate"),
)


def _cells() -> Iterator[Cell]:
    for size in (2, 64, 500, 1408):
        yield Cell(
            f"udp-{size}",
            f"UDP, {size} bytes, each datagram a packet of its own",
            "messages",
            "stream",
            {**_UDP, "message_size_bytes": size},
            _RECEIVING,
        )
    for size in (64, 1408):
        yield Cell(
            f"segment-{size}",
            f"UDP, {size} bytes, with segmentation (up to 64 datagrams at once)",
            "messages",
            "stream",
            {**_UDP, "message_size_bytes": size},
            _SEGMENTING,
            {"iperf3": {" --gsro": {"io": "segment"}}},
            frozenset({"iperf3"}),
        )
    for name, size in (("tcp-bulk", 131_072), ("tcp-500", 500), ("tcp-2", 2)):
        yield Cell(
            name,
            f"TCP, writes of {size} bytes",
            "bulk",
            "stream",
            {**_TCP, "message_size_bytes": size},
            _WRITING,
        )
    for wait, only in (("block", None), ("spin", frozenset({"sockperf"}))):
        yield Cell(
            f"echo-{wait}",
            f"UDP round trip, 128 bytes, both ends waiting by `{wait}`",
            "round-trip",
            "echo",
            {"transport": "udp", "message_size_bytes": 128, "receive": wait},
            {f"lanlab {wait}": {}},
            only=only,
        )
    for kind, name, where in _PACED:
        for size, rate in PACED_MESSAGES_PER_S.items():
            yield Cell(
                f"{name}-{size}",
                f"5 Mbit/s of {size}-byte datagrams: {where}",
                kind,
                "stream",
                {**_UDP, "message_size_bytes": size, "rate_messages_per_s": float(rate)},
                _PACING,
                reference="nuttcp",
            )


CELLS: Mapping[str, Cell] = {cell.name: cell for cell in _cells()}


def contenders(
    cell: Cell, ip_version: int, time_s: float, drivers: list[str]
) -> tuple[list[Contender], dict[str, str]]:
    """Who takes part in a cell, and by label why others cannot."""
    base = {**cell.parameters, "ip_version": ip_version, "time_s": time_s}
    # The client on one processor, the server on another, for everybody.
    base |= {"sender_processor": 0, "receiver_processor": 1}
    able, refused = [], {}
    for label, mode in cell.modes.items():
        able.append(Contender(label, OWN, _checked(cell, {**base, **mode})))
    for driver in drivers:
        if cell.only is not None and driver not in cell.only:
            continue
        if cell.workload not in DRIVERS[driver].abilities():
            continue
        for suffix, mode in cell.peers.get(driver, {"": {}}).items():
            asked, note = _as_it_can(driver, cell, {**base, **mode, "driver": driver})
            label = f"{driver}{suffix}{note}"
            try:
                parameters = _checked(cell, asked)
                DRIVERS[driver].check_found(cell.workload, parameters)
            except ValidationError as error:
                refused[label] = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
            except Exception as error:
                refused[label] = str(error)
            else:
                able.append(Contender(label, driver, parameters))
    return able, refused


def _checked(cell: Cell, parameters: Mapping[str, Any]) -> FlowParameters:
    return workload(cell.workload).Parameters.model_validate(dict(parameters))


def _as_it_can(driver: str, cell: Cell, asked: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """What a peer has no option for is left as it has it; its least size is named."""
    abilities = DRIVERS[driver].abilities()[cell.workload]
    if abilities.buffers == "none":
        asked = {key: value for key, value in asked.items() if not key.endswith("_buffer_bytes")}
    if "congestion_control" not in abilities.takes:
        # The hosts' own is the same, or else it is said which they have.
        asked.pop("congestion_control", None)
    least, _ = abilities.sizes.get(asked["transport"], (1, 0))
    # Datagrams/s change little with the length; octets/s of writes are another condition.
    if cell.kind == "messages" and asked["message_size_bytes"] < least:
        asked["message_size_bytes"] = least
        return asked, f" ({least} B)"
    return asked, ""


def buffer_limits() -> str:
    """What the kernel allows of the buffers that are asked for."""
    limits = []
    for name in ("rmem_max", "wmem_max"):
        value = Path(f"/proc/sys/net/core/{name}").read_text().strip()
        limits.append(f"net.core.{name} {value}")
    return ", ".join(limits)
