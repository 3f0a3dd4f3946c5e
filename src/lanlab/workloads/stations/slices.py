"""Sums of stations' operations by slices of time, which engines report if readings are thinned."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from lanlab.errors import EngineError
from lanlab.frozen import dataclass
from lanlab.messages import Line
from lanlab.workloads.stations.readings import octets_of
from lanlab.workloads.stations.steady import OK, Column, Columns, Steady

#: A cell in a line of the engine, see `StationSlices` in its messages.
_FIELDS = [
    ("station", "<u4"),
    ("slice", "<u4"),
    ("operations", "<u8"),
    ("sum_ns", "<u8"),
    ("squares_ns2", "<f8"),
    ("min_ns", "<u8"),
    ("max_ns", "<u8"),
]
_CELL_BYTES = 48


@dataclass(frozen=True)
class Slices:
    """
    Operations that succeeded at their first attempt, summed by station and by the slice of time in
    which they ended. One array element per non-empty cell.
    """

    width_ns: int
    station: NDArray[np.int64]
    slice: NDArray[np.int64]
    operations: NDArray[np.int64]
    sum_ns: NDArray[np.float64]
    squares_ns2: NDArray[np.float64]
    min_ns: NDArray[np.int64]
    max_ns: NDArray[np.int64]

    def where(self, wanted: NDArray[np.bool_]) -> Slices:
        names = [each.name for each in dataclasses.fields(self) if each.name != "width_ns"]
        return Slices(self.width_ns, **{name: getattr(self, name)[wanted] for name in names})

    def within(self, steady: Steady) -> Slices:
        """The cells of whole slices within the part that counts, after `aligned`."""
        first, last = steady.start_ns // self.width_ns, steady.end_ns // self.width_ns
        return self.where((self.slice >= first) & (self.slice < last))

    def aligned(self, steady: Steady) -> Steady:
        """The part that counts, shrunk to whole slices unless it has none."""
        width = self.width_ns
        first, last = -(-steady.start_ns // width), steady.end_ns // width
        if first >= last:
            first, last = steady.start_ns // width, -(-max(steady.end_ns, 1) // width)
        return dataclasses.replace(steady, start_ns=first * width, end_ns=last * width)


def slices_of(lines: Iterable[Line], readings: Columns, width_ns: int, stations: int) -> Slices:
    """
    The cells in lines of engines.

    Args:
        lines: Messages `station_slices`.
        readings: All readings that were reported. Stations without a cell belong to a host that
            kept all of its readings: these are summed here.
        width_ns: Width of a slice: that of every line, or a multiple.

    Raises:
        EngineError: A line has the wrong length, or names an unknown station.
    """
    parts = [octets_of(line, "slices", _CELL_BYTES) for line in lines]
    sums = np.frombuffer(b"".join(parts), dtype=np.dtype(_FIELDS))
    if len(sums) and sums["station"].max() >= stations:
        raise EngineError("engine.defect", "sums of an unknown station")
    has_cells = np.zeros(stations, dtype=np.bool_)
    has_cells[sums["station"]] = True
    own = (readings["outcome"] == OK) & (readings["attempt"] == 0)
    own &= ~has_cells[readings["station"]]
    station = readings["station"][own].astype(np.int64)
    at = readings["end_ns"][own] // width_ns
    response = readings["end_ns"][own] - readings["intended_ns"][own]
    ones = np.ones(len(station), dtype=np.int64)
    squares = np.square(response.astype(np.float64))
    return _joined(
        width_ns,
        np.concatenate((sums["station"].astype(np.int64), station)),
        np.concatenate((sums["slice"].astype(np.int64), at)),
        {
            "operations": (np.add, (sums["operations"].astype(np.int64), ones)),
            "sum_ns": (np.add, (sums["sum_ns"].astype(np.float64), response.astype(np.float64))),
            "squares_ns2": (np.add, (sums["squares_ns2"], squares)),
            "min_ns": (np.minimum, (sums["min_ns"].astype(np.int64), response)),
            "max_ns": (np.maximum, (sums["max_ns"].astype(np.int64), response)),
        },
    )


def _joined(
    width_ns: int,
    station: NDArray[np.int64],
    at: NDArray[np.int64],
    values: Mapping[str, tuple[np.ufunc, tuple[Column, Column]]],
) -> Slices:
    order = np.lexsort((at, station))
    station, at = station[order], at[order]
    is_new = np.ones(len(order), dtype=np.bool_)
    is_new[1:] = (station[1:] != station[:-1]) | (at[1:] != at[:-1])
    begins = np.flatnonzero(is_new)
    columns = {
        name: join.reduceat(np.concatenate(parts)[order], begins) if len(order) else parts[0]
        for name, (join, parts) in values.items()
    }
    return Slices(width_ns, station[begins], at[begins], **columns)
