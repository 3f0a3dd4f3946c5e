"""The readings of stations, as reported by engines and as stored."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from lanlab.errors import EngineError
from lanlab.messages import Line

if TYPE_CHECKING:
    from lanlab.workloads.stations.steady import Column, Columns

#: A reading in a line of the engine, see `StationReadings` in its messages.
_FIELDS = [
    ("intended_ns", "<u8"),
    ("start_ns", "<u8"),
    ("end_ns", "<u8"),
    ("station", "<u4"),
    ("block", "<u4"),
    ("bytes", "<u4"),
    ("operation", "u1"),
    ("outcome", "u1"),
    ("attempt", "u1"),
    ("level", "u1"),
]
_READING_BYTES = 40


def columns_of(lines: Iterable[Line], message_size_bytes: int) -> dict[str, Column]:
    """
    The readings in lines of engines, as columns in the order in which operations began.

    Args:
        lines: Messages `station_readings`.
        message_size_bytes: Of the trial: the block number times this is an operation's offset in
            its file.

    Returns:
        Arrays of equal length by name: `station`, `operation` (0 read, 1 write), `intended_ns`,
            `start_ns`, `end_ns`, `offset_bytes`, `bytes`, `outcome`, `attempt`, and `level`, which
            `thinned` removes.

    Raises:
        EngineError: A line has the wrong length.
    """
    import numpy as np

    parts = [octets_of(line, "readings", _READING_BYTES) for line in lines]
    readings = np.frombuffer(b"".join(parts), dtype=np.dtype(_FIELDS))
    # With equal starts, those of one thread stay in order.
    readings = readings[np.argsort(readings["start_ns"], kind="stable")]
    times = {
        name: readings[name].astype(np.int64) for name in ("intended_ns", "start_ns", "end_ns")
    }
    return {
        "station": readings["station"].astype(np.uint32),
        "operation": np.ascontiguousarray(readings["operation"]),
        **times,
        "offset_bytes": readings["block"].astype(np.uint64) * np.uint64(message_size_bytes),
        # Readers that sum in the type of the column would wrap at 4 GiB.
        "bytes": readings["bytes"].astype(np.int64),
        "outcome": np.ascontiguousarray(readings["outcome"]),
        "attempt": np.ascontiguousarray(readings["attempt"]),
        "level": np.ascontiguousarray(readings["level"]),
    }


def thinned(columns: Columns, every: int) -> dict[str, Column]:
    """
    One of every `every` operations of each station, and all that failed or were repeated.

    Args:
        columns: As returned by `columns_of`.
        every: A power of two; 1: all.
    """
    stays = columns["level"] >= every.bit_length() - 1
    is_all = bool(stays.all())
    return {
        name: column if is_all else column[stays]
        for name, column in columns.items()
        if name != "level"
    }


def octets_of(line: Line, what: Literal["readings", "slices"], each_bytes: int) -> bytes:
    """
    The decoded Base64 of a line.

    Args:
        what: The line's count.
        each_bytes: Size of one item.

    Raises:
        EngineError: The line has the wrong length.
    """
    try:
        octets = base64.b64decode(line["octets"], validate=True)
    except binascii.Error:
        octets = b""
    if len(octets) != each_bytes * line[what]:
        raise EngineError("engine.defect", f"{what}: not of the announced length")
    return octets


def within(columns: Columns, outcomes: Sequence[str], stations: int) -> bool:
    """Whether every reading has a valid station and outcome, and no time runs backwards."""
    if len(columns["station"]) == 0:
        return True
    return bool(
        columns["station"].max() < stations
        and columns["outcome"].max() < len(outcomes)
        and columns["operation"].max() <= 1
        and (columns["intended_ns"] <= columns["start_ns"]).all()
        and (columns["start_ns"] <= columns["end_ns"]).all()
        and columns["intended_ns"].min() >= 0
    )


def start_skew_ns(columns: Columns) -> int:
    """Time between the first operations of the first and the last station to begin; each host's
    readings count from the common start, on its own clock.
    """
    import numpy as np

    # Readings are in order of start.
    _, first = np.unique(columns["station"], return_index=True)
    starts = columns["start_ns"][first]
    return int(starts.max() - starts.min()) if len(starts) else 0
