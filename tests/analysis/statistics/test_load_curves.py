"""Curves over load: two lines that meet."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import curve_fit

from lanlab.analysis.statistics.saturation import two_lines
from lanlab.errors import NoSpread, UnfitValues

LOADS = np.repeat(np.arange(1.0, 11.0), 3)


def bent(seed: int, at: float = 6.3, noise: float = 0.2) -> np.ndarray:
    return np.minimum(LOADS, at) + np.random.default_rng(seed).normal(0, noise, LOADS.size)


@pytest.mark.parametrize("seed", range(5))
def test_the_two_line_fit_agrees_with_scipy(seed: int) -> None:
    y = bent(seed)

    def lines(x: np.ndarray, level: float, before: float, after: float, at: float) -> np.ndarray:
        return level + before * np.minimum(x - at, 0) + after * np.maximum(x - at, 0)

    fitted, _ = curve_fit(lines, LOADS, y, p0=(6, 1, 0, 6.4))
    seen = two_lines(LOADS, y)

    assert seen.breakpoint == pytest.approx(fitted[3], abs=1e-3)
    assert (seen.slope_before, seen.slope_after) == pytest.approx(fitted[1:3], abs=1e-3)
    assert seen.found
    assert seen.low < seen.breakpoint < seen.high  # type: ignore[operator]
    rest, line = y - lines(LOADS, *fitted), y - np.polyval(np.polyfit(LOADS, y, 1), LOADS)
    assert seen.explained == pytest.approx(1 - (rest @ rest) / (line @ line), abs=1e-6)


def test_a_straight_line_has_no_breakpoint() -> None:
    random = np.random.default_rng(4)
    found = [two_lines(LOADS, LOADS + random.normal(0, 0.3, LOADS.size)).found for _ in range(100)]

    assert sum(found) <= 20
    assert two_lines(LOADS, bent(1)).found


def test_lines_without_error_and_too_few_loads_are_refused() -> None:
    with pytest.raises(NoSpread, match="leave no error"):
        two_lines(LOADS, np.minimum(LOADS, 6.0))
    with pytest.raises(UnfitValues, match="at least 4 different ones, got 3"):
        two_lines([1, 1, 2, 2, 3, 3], [1, 2, 3, 4, 5, 7])
    with pytest.raises(UnfitValues, match="need one for each of 5 loads, got 6"):
        two_lines([1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6])


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_interval_holds_breakpoints_with_no_worse_fit(
    confidence: float,
) -> None:
    """F, by least squares of numpy, is that of its confidence at its ends: they are the first of a
    grid of a thousand places that fit worse."""
    y = bent(2)
    seen = two_lines(LOADS, y, confidence=confidence)

    def left(at: float) -> float:
        hinge = np.column_stack((np.ones_like(LOADS), LOADS, np.maximum(0, LOADS - at)))
        return float(((y - hinge @ np.linalg.lstsq(hinge, y, rcond=None)[0]) ** 2).sum())

    df = LOADS.size - 4
    edge = left(seen.breakpoint) * (1 + stats.f.ppf(confidence, 1, df) / df)
    assert seen.low is not None and seen.high is not None
    step = (9 - 2) / 999
    assert left(seen.low) > edge > left(seen.low + 1.5 * step)
    assert left(seen.high) > edge > left(seen.high - 1.5 * step)


def test_five_trials_at_four_loads_are_the_fewest() -> None:
    """By hand: the lines through the means are 0, 1, 2 up to a load of 3, and flat behind it."""
    seen = two_lines([1, 2, 3, 4, 4], [0.0, 1.0, 2.0, 1.9, 2.1])

    assert seen.breakpoint == pytest.approx(3.0, abs=0.01)
    assert (seen.slope_before, seen.slope_after) == pytest.approx((1, 0), abs=0.02)
    assert not seen.found
    with pytest.raises(UnfitValues, match="loads: need at least 5 values, got 4"):
        two_lines([1, 2, 3, 4], [0.0, 1.0, 2.0, 1.9])


def test_a_nearly_perfect_two_line_fit_has_no_error() -> None:
    alternating = 1e-8 * (-1.0) ** np.arange(LOADS.size)
    with pytest.raises(NoSpread, match="leave no error"):
        two_lines(LOADS, np.minimum(LOADS, 6.0) + alternating)
    assert two_lines(LOADS, np.minimum(LOADS, 6.0) + 1e4 * alternating).found
    with pytest.raises(NoSpread, match="leave no error"):
        two_lines(LOADS, np.full(LOADS.size, 0.1))
