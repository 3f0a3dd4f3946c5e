"""
Which part of a series within one trial is steady: by MSER-5.

The series is averaged in batches of five. What is cut off at an end is what makes the mean of the
rest surest: its marginal standard error (variance over number) least. "No steady state" is an
answer: if the best cut is the furthest that is looked at, or what is left still drifts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import stdtr

from lanlab.analysis.statistics.samples import Floats, sample
from lanlab.errors import UsageError
from lanlab.workloads.mser import best_cuts

BATCH = 5
#: Fewer say too little about what is steady.
LEAST_BATCHES = 10
#: What is left is looked at for drift in this many parts, each long enough to be nearly
#: independent of the next, at this level in each of two ways.
_PARTS = 10
_DRIFT_LEVEL = 0.01


@dataclass(frozen=True)
class SteadyState:
    """The steady part of a series."""

    found: bool
    #: The steady values are `series[start:stop]`; of a series that is not steady, what the rule
    #: would have left.
    start: int
    stop: int
    #: Mean over them, in the series' unit: for pictures and for a single long run. Its error over
    #: trials comes from trials.
    mean: float
    #: Why there is none; empty if there is one.
    reason: str


def steady_state(
    series: Sequence[float], *, ends: Literal["start", "both"] = "start", batch: int = BATCH
) -> SteadyState:
    """
    Cut off what is not steady at the start, or at both ends.

    Args:
        series: Values at equal steps of time, any unit, at least 10 batches. Values after the last
            whole batch are in the steady part if that reaches to the end.
        ends: `both` for loads that also run out, as stations end one after another.
        batch: Values averaged before the search, which smooths what changes from one to the next.

    Returns:
        At most half is cut off at the start; of both ends at most a third each.

    Raises:
        UnfitValues: Fewer than 10 batches, or a value that is not finite.
        UsageError: A batch below 1.

    Source:
        K. P. White, "An effective truncation heuristic for bias reduction in simulation output",
        Simulation 69, 1997; K. P. White, M. J. Cobb, S. C. Spratt, "A comparison of five
        steady-state truncation heuristics", Winter Simulation Conference 2000.

    Examples:
        >>> seen = steady_state([0.0] * 20 + [9.0, 10.0, 11.0, 10.0, 10.0] * 16)
        >>> seen.found, seen.start, seen.stop, seen.mean
        (True, 20, 100, 10.0)
    """
    if batch < 1:
        raise UsageError(f"batch: need at least 1, got {batch}")
    values = sample("series", series, LEAST_BATCHES * batch)
    batches = values[: values.size // batch * batch].reshape(-1, batch).mean(axis=1)
    if np.ptp(values) == 0:
        return SteadyState(True, 0, int(values.size), float(values[0]), "")
    most = batches.size // (2 if ends == "start" else 3)
    first, last = best_cuts(batches, most, most if ends == "both" else 0)
    start = first * batch
    stop = int(values.size) if last == 0 else (batches.size - last) * batch
    reason = ""
    if first == most or (ends == "both" and last == most):
        part = "start" if first == most else "end"
        reason = (
            f"the best cut at the {part} is the furthest that is allowed, {most * batch} values"
        )
    elif _drifts(batches[first : batches.size - last]):
        reason = "what is left still drifts"
    return SteadyState(
        not reason, start, stop, math.fsum(values[start:stop]) / (stop - start), reason
    )


def _drifts(batches: Floats) -> bool:
    """Whether means of successive parts lie on a slope, or their ranks do."""
    parts = np.array([part.mean() for part in np.array_split(batches, min(_PARTS, batches.size))])
    if np.ptp(parts) <= 8 * np.finfo(float).eps * np.abs(parts).max():
        return False
    # The slope sees a step near the end, the ranks a rise that becomes ever steeper.
    return _slopes(parts) or _slopes(np.unique(parts, return_inverse=True)[1].astype(float))


def _slopes(parts: Floats) -> bool:
    x = np.arange(parts.size) - (parts.size - 1) / 2
    y = parts - parts.mean()
    slope = float(x @ y / (x @ x))
    rest = y - slope * x
    df = parts.size - 2
    error = math.sqrt(float(rest @ rest) / df / float(x @ x))
    if error == 0:
        return slope != 0
    return 2 * float(stdtr(df, -abs(slope) / error)) < _DRIFT_LEVEL
