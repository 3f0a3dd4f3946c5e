"""The numbers that a machine of a simulation has: their names, units and ranges."""

from __future__ import annotations

from collections.abc import Mapping

from lanlab.frozen import dataclass


@dataclass(frozen=True)
class NumberKind:
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
        what = "a whole number" if self.is_whole else "a number"
        low = f"above {self.least:g}" if self.is_above_least else f"{self.least:,g}"
        unit = f" {self.unit}" if self.unit else ""
        return f"{what}, {low} to {self.most:,.12g}{unit}"

    def allows(self, value: float) -> bool:
        if self.is_whole and value != int(value):
            return False
        low = value > self.least if self.is_above_least else value >= self.least
        return low and value <= self.most

    def nearest(self, value: float) -> float:
        """The number in the range that is nearest to a value."""
        whole = round(value) if self.is_whole else value
        return float(min(max(whole, self.least), self.most))


#: What the processor does, by the name of its cost, and where it does it.
STEPS: Mapping[str, str] = {
    "interrupt": "for each received frame, before all else",
    "protocol": "for each received frame, after all interrupts and before programs",
    "receive_call": "for each call of a program that takes in data",
    "send_call": "for each call of a program that hands over a message",
    "transmit": "for each sent frame, in turn with `protocol`",
}
#: What calls for files take of the processor, by the name of the cost.
FILE_STEPS: Mapping[str, str] = {
    "open": "to open or make a file",
    "read": "to read from a file",
    "write": "to write to a file",
    "close": "to close a file",
    "other": "for any other call for files",
}
_MOVES = ("read", "write")
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
    for step, when in FILE_STEPS.items():
        found[f"file_{step}_us"] = NumberKind(
            f"Processor time {when}.", "µs", 0, _MOST_US, is_cost=True
        )
        if step in _MOVES:
            found[f"file_{step}_ns_per_byte"] = NumberKind(
                "The same for each byte.", "ns/B", 0, _MOST_NS_PER_BYTE, is_cost=True
            )
    return found


def _count(help_: str, unit: str, least: int, most: int) -> NumberKind:
    return NumberKind(help_, unit, least, most, is_whole=True)


def _is(help_: str) -> NumberKind:
    return NumberKind(help_, "", 0, 1, is_whole=True)


def _size(help_: str, unit: str, most: int, least: int = 1) -> NumberKind:
    return NumberKind(help_, unit, least, most, is_whole=True, is_required=True)


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
    "freeze_after_ms": NumberKind(
        "A fault: the machine stops this time after its start. Default: it does not.",
        "ms",
        0,
        3_600_000,
    ),
    "freeze_ms": NumberKind(
        "How long it stops then. Default: an hour, in which all that waits has given up.",
        "ms",
        0,
        3_600_000,
        is_above_least=True,
    ),
    "outstanding_requests": NumberKind(
        "Requests that its program keeps on their way in an `echo` whose condition does not say "
        "how many. Default: 1.",
        "requests",
        1,
        16_384,
        is_whole=True,
    ),
    "sessions": _count(
        "Sessions that it has as a server. More stations are refused before anything runs. "
        "Default: as many as there are machines.",
        "sessions",
        1,
        65_536,
    ),
    "message_bytes": _count(
        "As a server of SMB 1: longest message that it takes, and says so. Default: that of its "
        "system, or of its carrier.",
        "B",
        512,
        65_535,
    ),
    "patience_ms": NumberKind(
        "As a station: time that it waits for a call for files before it tries again. Default: "
        "that of the workload, `timeout_s`.",
        "ms",
        1,
        600_000,
    ),
    "retries": _count(
        "As a station: how often it tries again. Default: that of the workload.", "retries", 0, 100
    ),
    "waits_on": _is(
        "As a station: 1: a call that is late is waited for further, and counted as an error each "
        "time. 0: it is given up, and made anew over a new session. Default: 0."
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
    "files_overlap": _is(
        "1: the processor works for one client while the disk works for another. 0: calls for "
        "files are carried out one after the other. Default: 1."
    ),
    "cache_block_bytes": _count(
        "Bytes of a block of the cache of files, whole sectors of 512. Default: 4096.",
        "B",
        512,
        2**20,
    ),
    "cache_blocks": _count("Blocks that the cache holds. Default: 0.", "blocks", 0, 2**20),
    "cache_of_client": _is("1: each client has a cache of its own, of that size. Default: 0."),
    "read_ahead_blocks": _count(
        "Blocks that are read beyond those asked for. Default: 0.", "blocks", 0, 1024
    ),
    "write_behind_blocks": _count(
        "Blocks that may wait to be written. 0: a write is answered when it is on the disk. "
        "Default: 0.",
        "blocks",
        0,
        2**20,
    ),
    "write_behind_ms": NumberKind("How long they wait at most. Default: 1000.", "ms", 0, 600_000),
    "write_behind_full": _is(
        "1: a block that waits is written as soon as it is full, and the write that filled it "
        "answered then. Default: 0."
    ),
    "write_behind_parts": _is(
        "1: a block that is written in part waits in the cache until it leaves, as in buffers of "
        "DOS, where `write_behind_blocks` is 0. Default: 0."
    ),
    "name_sectors": _count(
        "Sectors of directories that are read to find a name. Default: 0.", "sectors", 0, 1024
    ),
    "change_sectors": _count(
        "Sectors of directories that are written when one changes. Default: 0.", "sectors", 0, 1024
    ),
    "disk_cylinders": _count("Positions of the disk's arm. Default: 1024.", "", 1, 2**32 - 1),
    "disk_heads": _count("Tracks of a cylinder. Default: 64.", "", 1, 65_536),
    "disk_sectors_per_track": _count("Sectors of a track. Default: 64.", "", 1, 4096),
    "disk_interleave": _count("Places from a sector to the next. Default: 1.", "", 1, 4096),
    "disk_turn_ms": NumberKind(
        "Time of a turn. 0: a disk of memory, without an arm. Default: 0.", "ms", 0, 10_000
    ),
    "disk_seek_ms": NumberKind("Time to move the arm at all. Default: 0.", "ms", 0, 10_000),
    "disk_seek_root_ms": NumberKind(
        "Added for the square root of the cylinders that it moves over. Default: 0.",
        "ms",
        0,
        10_000,
    ),
    "disk_overhead_us": NumberKind(
        "Time of the controller before each access. Default: 0.", "µs", 0, _MOST_US
    ),
    "disk_ns_per_byte": NumberKind(
        "Time of the controller for each byte. Default: 0.", "ns/B", 0, _MOST_NS_PER_BYTE
    ),
    "disk_elevator": _is("1: the nearest access in the arm's direction is next. Default: 0."),
    "disk_verifies": _is("1: what was written is read once more. Default: 0."),
}
#: The numbers of files: with any of these a machine has a store.
STORE = tuple(
    name
    for name in NUMBERS
    if name.startswith(("file_", "files_", "cache_", "disk_", "read_ahead", "write_behind"))
    or name in ("name_sectors", "change_sectors")
)
COSTS = tuple(name for name, kind in NUMBERS.items() if kind.is_cost)
#: The numbers that every machine must have.
REQUIRED = tuple(name for name, kind in NUMBERS.items() if kind.is_required)


def most_waiting(numbers: Mapping[str, float]) -> float | None:
    """
    How many blocks can wait to be written, where a machine has more wait than its cache holds.

    Examples:
        >>> most_waiting({"write_behind_blocks": 9, "cache_blocks": 4})
        4
        >>> most_waiting({"write_behind_blocks": 4, "cache_blocks": 4})
    """
    held = numbers.get("cache_blocks", 0)
    return held if numbers.get("write_behind_blocks", 0) > held else None
