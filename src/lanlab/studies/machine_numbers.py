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
        whole = round(value) if self.is_whole else value
        return float(min(max(whole, self.least), self.most))


#: What the processor does, by the name of its cost, and where it does it.
STEPS: Mapping[str, str] = {
    "interrupt": "per received frame, at interrupt level",
    "protocol": "per received frame, at protocol level",
    "receive_call": "per receive call of a program",
    "send_call": "per send call of a program",
    "transmit": "per sent frame, at protocol level",
}
#: What calls for files take of the processor, by the name of the cost.
FILE_STEPS: Mapping[str, str] = {
    "open": "per file opened or created",
    "read": "per read call",
    "write": "per write call",
    "close": "per file closed",
    "other": "per other file call",
}
_MOVES = ("read", "write")
_MOST_US, _MOST_NS_PER_BYTE = 10_000_000, 1_000_000


def _costs() -> dict[str, NumberKind]:
    found = {}
    for step, when in STEPS.items():
        of_bytes = "message" if step.endswith("_call") else "IP packet"
        found[f"{step}_us"] = NumberKind(f"CPU time {when}.", "µs", 0, _MOST_US, is_cost=True)
        found[f"{step}_ns_per_byte"] = NumberKind(
            f"CPU time per byte of the {of_bytes}.",
            "ns/B",
            0,
            _MOST_NS_PER_BYTE,
            is_cost=True,
        )
    for step, when in FILE_STEPS.items():
        found[f"file_{step}_us"] = NumberKind(f"CPU time {when}.", "µs", 0, _MOST_US, is_cost=True)
        if step in _MOVES:
            found[f"file_{step}_ns_per_byte"] = NumberKind(
                "CPU time per byte.", "ns/B", 0, _MOST_NS_PER_BYTE, is_cost=True
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
        "Processor clock. Scales the costs taken from the machine of `like`.",
        "MHz",
        0,
        100_000,
        is_above_least=True,
    ),
    "clock_exponent": NumberKind(
        "Exponent of (other clock / own clock) for costs of `like`.", "", 0, 3
    ),
    "cost_ratio": NumberKind(
        "Factor for costs of `like`.",
        "",
        0,
        1000,
        is_above_least=True,
    ),
    "ring_frames": _size("Received frames that the adapter buffers.", "frames", 65_536),
    "queue_frames": _size("Received frames queued for protocol processing.", "frames", 65_536),
    "transmit_queue_frames": _size("Outgoing frames that the adapter buffers.", "frames", 65_536),
    "receive_buffer_bytes": _size("Payload capacity of a UDP receive buffer.", "B", 2**24),
    "send_buffer_bytes": _size("Payload capacity of a send buffer.", "B", 2**24),
    "adapter_rate_ratio": NumberKind(
        "Sending rate as a share of the link's. Default: 1.",
        "",
        0,
        1,
        is_above_least=True,
    ),
    "jitter_ratio": NumberKind(
        "Random variation of each cost, as a share up and down. Default: 0.",
        "",
        0,
        1,
    ),
    "freeze_after_ms": NumberKind(
        "Fault: freeze this long after the start. Default: never.",
        "ms",
        0,
        3_600_000,
    ),
    "freeze_ms": NumberKind(
        "Duration of the freeze. Default: an hour.",
        "ms",
        0,
        3_600_000,
        is_above_least=True,
    ),
    "outstanding_requests": NumberKind(
        "Requests in flight of an `echo` that does not set them. Default: 1.",
        "requests",
        1,
        16_384,
        is_whole=True,
    ),
    "sessions": _count(
        "Server: sessions; more stations are refused. Default: number of machines.",
        "sessions",
        1,
        65_536,
    ),
    "message_bytes": _count(
        "SMB 1 server: longest message accepted. Default: that of its system or carrier.",
        "B",
        512,
        65_535,
    ),
    "patience_ms": NumberKind(
        "Station: timeout of a file call. Default: `timeout_s`.",
        "ms",
        1,
        600_000,
    ),
    "retries": _count(
        "Station: retries of a file call. Default: those of the workload.", "retries", 0, 100
    ),
    "waits_on": _is(
        "Station: 1: count a late call as an error and keep waiting. 0: repeat it over a new "
        "session. Default: 0."
    ),
    "mss_bytes": NumberKind(
        "Largest TCP segment accepted. Default: a full frame.",
        "B",
        64,
        1460,
        is_whole=True,
    ),
    "window_bytes": _size("TCP receive buffer, and so the largest window.", "B", 2**20, 536),
    "delayed_ack_ms": NumberKind(
        "Longest delay of a TCP acknowledgement.", "ms", 0, 500, is_required=True
    ),
    "nagle": NumberKind(
        "1: a short segment waits until all data is acknowledged (Nagle). 0: it does not.",
        "",
        0,
        1,
        is_whole=True,
        is_required=True,
    ),
    "files_overlap": _is(
        "1: processor and disk serve different clients at once. 0: file calls run one by one. "
        "Default: 1."
    ),
    "cache_block_bytes": _count(
        "Block size of the file cache, a multiple of 512. Default: 4096.",
        "B",
        512,
        2**20,
    ),
    "cache_blocks": _count("Cache size. Default: 0.", "blocks", 0, 2**20),
    "cache_of_client": _is("1: one cache of that size per client. Default: 0."),
    "read_ahead_blocks": _count("Blocks read ahead. Default: 0.", "blocks", 0, 1024),
    "write_behind_blocks": _count(
        "Blocks that may be written later. 0: a write is answered when it is on disk. Default: 0.",
        "blocks",
        0,
        2**20,
    ),
    "write_behind_ms": NumberKind("Longest delay of a write. Default: 1000.", "ms", 0, 600_000),
    "write_behind_full": _is(
        "1: write a full block at once, and answer its last write then. Default: 0."
    ),
    "write_behind_parts": _is(
        "1: keep partly written blocks in the cache until evicted, as DOS does, if "
        "`write_behind_blocks` is 0. Default: 0."
    ),
    "name_sectors": _count(
        "Directory sectors read to find a name. Default: 0.", "sectors", 0, 1024
    ),
    "change_sectors": _count(
        "Directory sectors written per change. Default: 0.", "sectors", 0, 1024
    ),
    "disk_cylinders": _count("Cylinders. Default: 1024.", "", 1, 2**32 - 1),
    "disk_heads": _count("Tracks per cylinder. Default: 64.", "", 1, 65_536),
    "disk_sectors_per_track": _count("Sectors per track. Default: 64.", "", 1, 4096),
    "disk_interleave": _count("Interleave factor. Default: 1.", "", 1, 4096),
    "disk_turn_ms": NumberKind("Time per revolution. 0: a RAM disk. Default: 0.", "ms", 0, 10_000),
    "disk_seek_ms": NumberKind("Fixed time per seek. Default: 0.", "ms", 0, 10_000),
    "disk_seek_root_ms": NumberKind(
        "Seek time per square root of the cylinders crossed. Default: 0.",
        "ms",
        0,
        10_000,
    ),
    "disk_overhead_us": NumberKind("Controller time per access. Default: 0.", "µs", 0, _MOST_US),
    "disk_ns_per_byte": NumberKind(
        "Controller time per byte. Default: 0.", "ns/B", 0, _MOST_NS_PER_BYTE
    ),
    "disk_elevator": _is("1: serve the nearest access in the arm's direction first. Default: 0."),
    "disk_verifies": _is("1: read back each write. Default: 0."),
}
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
