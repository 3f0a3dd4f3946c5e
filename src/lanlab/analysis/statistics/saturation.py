"""Finds where a curve over load bends."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import fdtri

from lanlab.analysis.statistics.samples import Floats, check_share, sample
from lanlab.errors import NoSpread, UnfitValues
from lanlab.frozen import dataclass

_GRID = 1_000


@dataclass(frozen=True)
class TwoLines:
    #: The breakpoint, in the unit of the loads.
    breakpoint: float
    #: Interval of the breakpoint; `None` if it reaches the end of the possible range.
    low: float | None
    high: float | None
    #: Slopes before and after the breakpoint, in the responses' unit per unit of load.
    slope_before: float
    slope_after: float
    #: Share of a single line's residuals that two lines explain, 0 to 1.
    explained: float
    confidence: float

    @property
    def found(self) -> bool:
        """Whether the breakpoint's interval ends on both sides; if not, no breakpoint was shown."""
        return self.low is not None and self.high is not None


def two_lines(
    loads: Sequence[float], responses: Sequence[float], *, confidence: float = 0.95
) -> TwoLines:
    """
    Two lines that meet at a breakpoint, by least squares, with the breakpoint's interval.

    Args:
        loads: One per trial, at least 5, with at least 4 different loads. Two different loads are
            kept on either side of the breakpoint.
        responses: One per trial, in the same order.
        confidence: Of the interval: all breakpoints whose fit is not significantly worse than the
            best, by an F test. A curve that bends gradually has no breakpoint, and the interval
            does not show the width of the bend.

    Raises:
        UnfitValues: Too few trials or loads, or different numbers of them.
        NoSpread: The lines fit exactly.

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
        raise NoSpread("responses: two lines leave no error", hint="give single trials, not means")
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
    return np.asarray(columns - basis @ (basis.T @ columns))


def _left(breakpoints: Floats, x: Floats, rest: Floats, basis: Floats) -> Floats:
    hinges = _beside(basis, np.maximum(0.0, x[:, None] - breakpoints[None, :]))
    explained = (rest @ hinges) ** 2 / (hinges**2).sum(axis=0)
    return np.asarray(math.fsum(rest**2) - explained)
