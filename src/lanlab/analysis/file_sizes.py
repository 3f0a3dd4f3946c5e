"""
Copy rates by file size, from the times of every file.

The times are a series of the store (`client-files`), too large for a record. A report reduces them
to the number of files, their bytes and their time, for sizes from each power of two to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lanlab.analysis.series_rows import rows_in, with_rows
from lanlab.frozen import dataclass
from lanlab.store import TrialRecord

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lanlab.store.series import Column, Series
    from lanlab.trial_data import SeriesPart

_KEY, _PLACE = "file_times", "by_size"


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


def with_size_classes(
    trials: Sequence[TrialRecord], read: Callable[[TrialRecord, str], Series]
) -> list[TrialRecord]:
    """
    Add the size classes of files to trials that have times of files.

    Args:
        trials: Trials of a run.
        read: Returns the series of a trial by name. If one is missing, its trial stays unchanged,
            so that the report does not fail.
    """
    return [
        with_rows(trial, ("client",), _KEY, read, _rows, _PLACE)
        if "dataset" in trial.parameters
        else trial
        for trial in trials
    ]


def _rows(columns: Mapping[str, Column], _: SeriesPart) -> list[list[int]]:
    import numpy as np

    time_ns = np.asarray(columns["closed_ns"]) - np.asarray(columns["opened_ns"])
    found = size_classes(columns["bytes"], time_ns)
    return [[one.power, one.files, one.octets, one.time_ns] for one in found]


def classes_of(trial: TrialRecord) -> list[SizeClass]:
    """The size classes added to a trial's record; empty if none were added."""
    return [SizeClass(*row) for row in rows_in(trial, "client", _KEY, _PLACE)]
