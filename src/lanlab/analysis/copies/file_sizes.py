"""
Copy rates by file size, from the times of every file.

The times are a series of the store (`client-files`), too large for a record. A report reduces them
to the number of files, their bytes and their time, for sizes from each power of two to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lanlab.analysis.traffic.series_rows import Rows
from lanlab.frozen import dataclass
from lanlab.store import TrialRecord
from lanlab.store.series import Column
from lanlab.trial_data import SeriesPart

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class SizeClass:
    """Files of one trial with sizes from a power of two, inclusive, to the next."""

    #: The exponent n: each file has from 2^n bytes to less than 2^(n+1).
    power: int
    files: int
    octets: int
    time_ns: int


def size_classes(octets: ArrayLike, time_ns: ArrayLike) -> list[SizeClass]:
    """
    Files by powers of two of their size; empty files are omitted.

    Args:
        octets: Size of each file, bytes, shape `(files,)`.
        time_ns: Time from opening to closing each file, same shape.

    Examples:
        >>> import numpy as np
        >>> size_classes(np.array([1000, 600, 4096, 0]), np.array([10, 20, 30, 5]))
        ... # doctest: +NORMALIZE_WHITESPACE
        [SizeClass(power=9, files=2, octets=1600, time_ns=30),
         SizeClass(power=12, files=1, octets=4096, time_ns=30)]
    """
    import numpy as np

    sizes, times = np.asarray(octets, dtype=np.int64), np.asarray(time_ns, dtype=np.int64)
    # `frexp` is exact where a logarithm may round up to the next power.
    powers = np.frexp(sizes.astype(np.float64))[1] - 1
    found = []
    for power in np.unique(powers[sizes > 0]).tolist():
        own = (powers == power) & (sizes > 0)
        sums = (int(own.sum()), int(sizes[own].sum()), int(times[own].sum()))
        found.append(SizeClass(power, *sums))
    return found


def _rows(columns: Mapping[str, Column], _: SeriesPart) -> list[list[int]]:
    import numpy as np

    time_ns = np.asarray(columns["closed_ns"]) - np.asarray(columns["opened_ns"])
    found = size_classes(columns["bytes"], time_ns)
    return [[one.power, one.files, one.octets, one.time_ns] for one in found]


def classes_of(trial: TrialRecord) -> list[SizeClass]:
    """The size classes added to a trial's record; empty if none were added."""
    return [SizeClass(*row) for row in SIZE_CLASSES.of(trial, "client")]


SIZE_CLASSES = Rows(
    ("client",), "file_times", _rows, lambda trial: "dataset" in trial.parameters, "by_size"
)
