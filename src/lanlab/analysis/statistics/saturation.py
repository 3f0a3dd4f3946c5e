"""
Where a curve over load bends, and the highest load that was carried.

The primary number is the highest load at which no more than a stated share is lost: it does not
depend on which loads were sampled beyond. `knee` and `two_lines` describe a curve: the first only
marks a plot, the second has an interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import fdtri

from lanlab.analysis.statistics.samples import Floats, check_share, sample
from lanlab.errors import NoSpread, UnfitValues, UsageError

_GRID = 1_000


@dataclass(frozen=True)
class HighestLoad:
    """The highest load that was carried."""

    #: It and all loads below lost no more than allowed; `None` if the lowest lost more.
    load: float | None
    #: The lowest load that lost more; `None` if none did, so that the range ended too early.
    lost_more_at: float | None
    #: Loads above that which were carried after all: if there are any, loss does not grow with
    #: load, and `load` is the cautious answer.
    carried_above: tuple[float, ...]


@dataclass(frozen=True)
class TwoLines:
    """Two straight lines that meet: least squares, both fitted at once."""

    #: Where they meet, in the unit of the loads.
    breakpoint: float
    #: Its interval; `None` where it reaches the end of what can be told from these loads.
    low: float | None
    high: float | None
    #: Slopes before and after, responses' unit over loads' unit.
    slope_before: float
    slope_after: float
    #: Of what one line leaves, the share that two explain, 0 to 1.
    explained: float
    confidence: float

    @property
    def found(self) -> bool:
        """Whether the breakpoint's interval ends on both sides: if not, none was shown."""
        return self.low is not None and self.high is not None


def highest_load(
    loads: Sequence[float],
    loss_ratio: Sequence[Sequence[float]],
    *,
    loss_at_most: float,
    exceed_ratio: float = 0.0,
) -> HighestLoad:
    """
    The highest load at which no more than a share is lost, as also at every load below.

    Args:
        loads: Ascending, any unit.
        loss_ratio: Loss of each trial at each load, 0 to 1, in the order of the loads.
        loss_at_most: Loss that is allowed, 0 to 1.
        exceed_ratio: Share of a load's trials that may lose more: 0 wants every trial within (RFC
            2544), 0.5 the median.

    Raises:
        UnfitValues: No loads, a load without trials, loads that do not ascend, a loss outside 0
            to 1.

    Source:
        RFC 2544, section 26.1; with loss and exceed ratio RFC 9971.

    Examples:
        >>> highest_load([10, 20, 30], [[0, 0], [0, 0.01], [0.2, 0.3]], loss_at_most=0.02)
        HighestLoad(load=20.0, lost_more_at=30.0, carried_above=())
    """
    x = sample("loads", loads, 1)
    if x.size != len(loss_ratio):
        raise UnfitValues(f"loss_ratio: need trials for each of {x.size} loads")
    if (np.diff(x) <= 0).any():
        raise UnfitValues("loads: need to ascend", hint="sort loads and losses together")
    for name, value in (("loss_at_most", loss_at_most), ("exceed_ratio", exceed_ratio)):
        if not 0 <= value < 1:
            raise UsageError(f"{name}: need a number from 0 and below 1, got {value:g}")
    carried = []
    for load, trials in zip(x, loss_ratio, strict=True):
        own = sample(f"loss_ratio at {load:g}", trials, 1)
        if own.min() < 0 or own.max() > 1:
            raise UnfitValues(f"loss_ratio at {load:g}: need numbers from 0 to 1")
        carried.append(float((own > loss_at_most).mean()) <= exceed_ratio)
    first = carried.index(False) if False in carried else len(carried)
    return HighestLoad(
        load=float(x[first - 1]) if first else None,
        lost_more_at=float(x[first]) if first < x.size else None,
        carried_above=tuple(float(x[at]) for at in range(first, x.size) if carried[at]),
    )


def knee(
    loads: Sequence[float],
    responses: Sequence[float],
    *,
    curve: Literal["saturates", "takes off"] = "saturates",
) -> float | None:
    """
    The load at which a curve is furthest from the straight line between its ends: Kneedle.

    It depends on the range of loads: twice the loads beyond saturation move the knee. So it marks a
    plot, and no claim rests on it.

    Args:
        loads: Ascending, at least 3, any unit.
        responses: One mean for each load: a throughput (`saturates`) or a delay (`takes off`).
        curve: Which way it bends.

    Returns:
        One of the loads; `None` if the curve never bends that way.

    Raises:
        UnfitValues: Fewer than 3, unlike numbers, or loads that do not ascend.

    Source:
        V. Satopää and others, "Finding a 'Kneedle' in a Haystack", ICDCS Workshops 2011.

    Examples:
        >>> knee([1, 2, 3, 4, 5, 6], [10, 20, 30, 31, 31, 32])
        3.0
    """
    x, y = _curve(loads, responses, 3)
    if (np.diff(x) <= 0).any():
        raise UnfitValues("loads: need to ascend, each once", hint="give one mean for each load")
    line = y[0] + (y[-1] - y[0]) * (x - x[0]) / (x[-1] - x[0])
    above = (y - line) * (1 if curve == "saturates" else -1)
    most = int(above.argmax())
    return float(x[most]) if above[most] > 1e-9 * np.abs(y).max() else None


def two_lines(
    loads: Sequence[float], responses: Sequence[float], *, confidence: float = 0.95
) -> TwoLines:
    """
    Two lines that meet at a breakpoint, by least squares, with the breakpoint's interval.

    Args:
        loads: One for each trial, at least 5 of them, and 4 different loads. Two different loads
            are kept on either side of the breakpoint.
        responses: One for each trial, in the same order.
        confidence: Of the interval: the breakpoints that fit not much worse than the best, by an F
            test. A curve that bends over a range has no breakpoint, and the interval does not say
            how wide that range is.

    Raises:
        UnfitValues: Fewer trials or loads, or unlike numbers.
        NoSpread: The lines leave no error.

    Source:
        D. J. Hudson, "Fitting segmented curves whose join points have to be estimated", JASA 61,
        1966; interval: D. M. Bates, D. G. Watts, "Nonlinear Regression Analysis", 1988, chapter 6.
    """
    check_share("confidence", confidence)
    x, y = _curve(loads, responses, 5)
    different = np.unique(x)
    if different.size < 4:
        raise UnfitValues(f"loads: need at least 4 different ones, got {different.size}")
    line = np.vstack((np.ones_like(x), x - x.mean())).T
    basis = np.linalg.qr(line)[0]
    rest = _beside(basis, y[:, None])[:, 0]
    grid = np.union1d(np.linspace(different[1], different[-2], _GRID), different[1:-1])
    left = _left(grid, x, rest, basis)
    at = int(left.argmin())
    near = np.linspace(grid[max(0, at - 1)], grid[min(grid.size - 1, at + 1)], _GRID // 4)
    near = np.append(near, grid[at])
    near_left = _left(near, x, rest, basis)
    best, least = float(near[near_left.argmin()]), float(near_left.min())
    one_line = float(rest @ rest)
    bits = float(y.size) * (8 * np.finfo(float).eps * float(np.abs(y).max())) ** 2
    if least <= max(1e-12 * one_line, bits):
        raise NoSpread("responses: two lines leave no error", hint="give single trials, no means")
    df = x.size - 4
    bound = least * (1 + float(fdtri(1, df, confidence)) / df)
    inside = np.flatnonzero(left <= bound)
    first, last = (int(inside[0]), int(inside[-1])) if inside.size else (at, at)
    hinge = np.column_stack((line, np.maximum(0.0, x - best)))
    _, before, change = np.linalg.lstsq(hinge, y, rcond=None)[0]
    return TwoLines(
        breakpoint=best,
        low=None if first == 0 else float(grid[first - 1]),
        high=None if last == grid.size - 1 else float(grid[last + 1]),
        slope_before=float(before),
        slope_after=float(before + change),
        explained=1 - least / one_line,
        confidence=confidence,
    )


def _curve(
    loads: Sequence[float], responses: Sequence[float], at_least: int
) -> tuple[Floats, Floats]:
    x, y = sample("loads", loads, at_least), sample("responses", responses, at_least)
    if x.size != y.size:
        raise UnfitValues(f"responses: need one for each of {x.size} loads, got {y.size}")
    return x, y


def _beside(basis: Floats, columns: Floats) -> Floats:
    """What of the columns a straight line does not explain."""
    return np.asarray(columns - basis @ (basis.T @ columns))


def _left(breakpoints: Floats, x: Floats, rest: Floats, basis: Floats) -> Floats:
    """Sum of squares that two lines leave, for each breakpoint."""
    hinges = _beside(basis, np.maximum(0.0, x[:, None] - breakpoints[None, :]))
    explained = (rest @ hinges) ** 2 / (hinges**2).sum(axis=0)
    return np.asarray(math.fsum(rest**2) - explained)
