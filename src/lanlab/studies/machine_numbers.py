"""The numbers that a machine of a simulation has: their names, units and ranges."""

from __future__ import annotations

from collections.abc import Mapping

from lanlab.frozen import dataclass


@dataclass(frozen=True)
class NumberKind:
    """What a number of a machine is."""

    #: What it says of the machine, a short sentence.
    help: str
    unit: str
    least: float
    most: float
    #: Whether only whole numbers are allowed.
    is_whole: bool = False
    #: Whether it is time of the processor, which another clock changes.
    is_cost: bool = False
    #: Whether `least` itself is not allowed.
    is_above_least: bool = False
    #: Whether every machine must have it, by itself or from the one it is like.
    is_required: bool = False

    @property
    def range(self) -> str:
        """What is allowed, in words."""
        what = "a whole number" if self.is_whole else "a number"
        low = f"above {self.least:g}" if self.is_above_least else f"{self.least:,g}"
        unit = f" {self.unit}" if self.unit else ""
        return f"{what}, {low} to {self.most:,.12g}{unit}"

    def allows(self, value: float) -> bool:
        """Whether a value is in the range."""
        if self.is_whole and value != int(value):
            return False
        low = value > self.least if self.is_above_least else value >= self.least
        return low and value <= self.most


#: What the processor does, by the name of its cost, and where it does it.
STEPS: Mapping[str, str] = {
    "interrupt": "for each received frame, before all else",
    "protocol": "for each received frame, after all interrupts and before programs",
    "receive_call": "for each call of a program that takes in data",
    "send_call": "for each call of a program that hands over a message",
    "transmit": "for each sent frame, in turn with `protocol`",
}
_MOST_US, _MOST_NS_PER_BYTE = 10_000_000, 1_000_000


def _costs() -> dict[str, NumberKind]:
    found = {}
    for step, when in STEPS.items():
        of_bytes = "message" if step.endswith("_call") else "IP packet"
        found[f"{step}_us"] = NumberKind(f"Processor time {when}.", "µs", 0, _MOST_US, is_cost=True)
        found[f"{step}_ns_per_byte"] = NumberKind(
            f"The same for each byte of the {of_bytes}.",
            "ns/B",
            0,
            _MOST_NS_PER_BYTE,
            is_cost=True,
        )
    return found


def _size(help_: str, unit: str, most: int, least: int = 1) -> NumberKind:
    return NumberKind(help_, unit, least, most, is_whole=True, is_required=True)


#: By name.
NUMBERS: Mapping[str, NumberKind] = {
    **_costs(),
    "clock_mhz": NumberKind(
        "Clock of the processor. A machine that is like another has its costs by the ratio of "
        "their clocks.",
        "MHz",
        0,
        100_000,
        is_above_least=True,
    ),
    "clock_exponent": NumberKind(
        "Costs go with (clock of the one / clock of the other) to this power.", "", 0, 3
    ),
    "cost_ratio": NumberKind(
        "Costs taken over from the machine that it is like are multiplied by this.",
        "",
        0,
        1000,
        is_above_least=True,
    ),
    "ring_frames": _size(
        "Received frames that the adapter holds until the interrupt takes them.", "frames", 65_536
    ),
    "queue_frames": _size("Received frames that wait for protocol processing.", "frames", 65_536),
    "transmit_queue_frames": _size("Frames to send that the adapter holds.", "frames", 65_536),
    "receive_buffer_bytes": _size(
        "Payload that the receive buffer of a UDP socket holds.", "B", 2**24
    ),
    "send_buffer_bytes": _size("Payload that the send buffer of a socket holds.", "B", 2**24),
    "adapter_rate_ratio": NumberKind(
        "Share of the link's rate at which the adapter sends. Default: 1.",
        "",
        0,
        1,
        is_above_least=True,
    ),
    "jitter_ratio": NumberKind(
        "Each cost is drawn evenly from this share below to this share above itself. Default: 0.",
        "",
        0,
        1,
    ),
    "outstanding_requests": NumberKind(
        "Requests that its program keeps on their way in an `echo` whose condition does not say "
        "how many. Default: 1.",
        "requests",
        1,
        16_384,
        is_whole=True,
    ),
    "mss_bytes": NumberKind(
        "Longest TCP segment that it takes. Default: what fits into a frame.",
        "B",
        64,
        1460,
        is_whole=True,
    ),
    "window_bytes": _size("Receive buffer of TCP, and so its largest window.", "B", 2**20, 536),
    "delayed_ack_ms": NumberKind(
        "Longest time that a TCP acknowledgement waits.", "ms", 0, 500, is_required=True
    ),
    "nagle": NumberKind(
        "1: a short TCP segment waits until all before it is acknowledged. 0: it does not.",
        "",
        0,
        1,
        is_whole=True,
        is_required=True,
    ),
}
#: The numbers that are processor time.
COSTS = tuple(name for name, kind in NUMBERS.items() if kind.is_cost)
#: The numbers that every machine must have.
REQUIRED = tuple(name for name, kind in NUMBERS.items() if kind.is_required)
