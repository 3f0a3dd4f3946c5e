"""
Series: columns of numbers that a trial has in addition to its record.

Examples are intervals and readings: up to tens of millions of equal rows, in order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from lanlab.errors import StoreError
from lanlab.frozen import dataclass


class Numbers(list[Any]):
    """A column of few integers, or of `None` if nothing was measured, without numpy, which takes a
    tenth of a second to load.
    """

    @property
    def is_unmeasured(self) -> bool:
        return self[:1] == [None]

    def tolist(self) -> list[Any]:
        return self


if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[Any] | Numbers
else:
    # A name in types, for which numpy is not loaded.
    Column = Numbers

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_COLUMN = re.compile(r"[a-z][a-z0-9_]{0,63}")
BLOCK_ROWS = 2**18


@dataclass(frozen=True)
class Series:
    """
    Columns of equal length.

    `columns` maps names to one-dimensional arrays of integers or floats, or to objects with the
    buffer protocol of such an array (which are not copied), or `Numbers`. An array that was read
    without any value is masked (`numpy.ma`). `units` has the units of columns, if any, and `facts`
    other information.

    Raises:
        StoreError: A name, type or length cannot be stored, or a number is not finite.
    """

    name: str
    columns: Mapping[str, Column]
    units: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise StoreError(
                f"a series cannot have the name `{self.name}`; allowed: up to 64 lower-case "
                "letters, digits and `-`"
            )
        if not self.columns:
            raise StoreError(f"series `{self.name}` has no column; allowed: one or more")
        columns = {name: self._checked(name, column) for name, column in self.columns.items()}
        object.__setattr__(self, "columns", columns)
        _check_alike(self.name, {name: len(each) for name, each in columns.items()})
        for fact in self.facts:
            if not _COLUMN.fullmatch(fact):
                raise StoreError(f"series `{self.name}` has a fact `{fact}`; allowed: as a column")
        strange = [name for name in self.units if name not in columns]
        if strange:
            raise StoreError(
                f"series `{self.name}` has a unit for the unknown column `{strange[0]}`"
            )

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())))

    def _checked(self, name: str, column: object) -> Column:
        what = f"column `{name}` of series `{self.name}`"
        if not _COLUMN.fullmatch(name):
            raise StoreError(f"{what}: allowed in its name: lower-case letters, digits and `_`")
        if isinstance(column, Numbers):
            known = [] if column.is_unmeasured else column
            if known and not (min(known) >= -(2**63) and max(known) < 2**63):
                raise StoreError(f"{what} has a number of over 64 bits")
            return column
        import numpy as np

        numbers = np.asanyarray(column)
        # Parquet does not support half floats, long doubles or other byte orders.
        if (
            numbers.dtype.kind not in "iuf"
            or not numbers.dtype.isnative
            or (numbers.dtype.kind == "f" and numbers.dtype.itemsize not in (4, 8))
        ):
            raise StoreError(
                f"{what} is of type {numbers.dtype}; allowed: whole numbers, and floats of 32 and "
                "64 bits"
            )
        if numbers.ndim != 1:
            raise StoreError(f"{what} has {numbers.ndim} dimensions; allowed: 1")
        if numbers.dtype.kind == "f":
            _check_finite(what, numbers)
        return numbers


def _check_alike(series: str, rows: Mapping[str, int]) -> None:
    if len(set(rows.values())) > 1:
        found = ", ".join(f"{name} {count}" for name, count in rows.items())
        raise StoreError(f"series `{series}` has columns of different lengths: {found}")


def _check_finite(what: str, numbers: NDArray[Any]) -> None:
    import numpy as np

    for first in range(0, len(numbers), BLOCK_ROWS):
        wrong = np.flatnonzero(~np.isfinite(numbers[first : first + BLOCK_ROWS]))
        if len(wrong):
            raise StoreError(
                f"{what} is {numbers[first + wrong[0]]} in row {first + int(wrong[0])}; allowed: "
                "finite numbers"
            )


@dataclass(frozen=True)
class SeriesEntry:
    """A series' entry in a store's tables, enough to verify its file."""

    name: str
    row_count: int
    size_bytes: int
    sha256: str
