"""Curves over load: the highest load carried, the knee, and two lines."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import curve_fit

from lanlab.analysis.statistics import highest_load, knee, two_lines
from lanlab.errors import NoSpread, UnfitValues, UsageError

LOADS = np.repeat(np.arange(1.0, 11.0), 3)


def bent(seed: int, at: float = 6.3, noise: float = 0.2) -> np.ndarray:
    return np.minimum(LOADS, at) + np.random.default_rng(seed).normal(0, noise, LOADS.size)


def test_every_load_below_must_be_carried_too() -> None:
    losses = [[0.0], [0.2], [0.0], [0.5]]
    seen = highest_load([1, 2, 3, 4], losses, loss_at_most=0.01)

    assert (seen.load, seen.lost_more_at, seen.carried_above) == (1, 2, (3,))


def test_ends_of_the_range_are_told() -> None:
    """None carried, and none lost."""
    assert highest_load([1, 2], [[0.5], [0.6]], loss_at_most=0).load is None
    assert highest_load([1, 2], [[0.0], [0.0]], loss_at_most=0).lost_more_at is None


@pytest.mark.parametrize(("exceed", "load"), [(0.0, 10), (0.33, 10), (0.34, 20), (0.5, 20)])
def test_some_trials_may_lose_more_if_so_said(exceed: float, load: float) -> None:
    losses = [[0, 0, 0], [0, 0, 0.02], [0.5, 0.5, 0.5]]
    seen = highest_load([10, 20, 30], losses, loss_at_most=0.01, exceed_ratio=exceed)

    assert seen.load == load


def test_the_loss_that_is_allowed_is_allowed() -> None:
    assert highest_load([1], [[0.001]], loss_at_most=0.001).load == 1


def test_the_knee_is_furthest_from_the_chord_and_moves_with_the_range() -> None:
    loads = np.arange(1.0, 101.0)
    throughput = 10 * (1 - np.exp(-loads / 15))
    chord = lambda n: np.interp(loads[:n], loads[[0, n - 1]], throughput[[0, n - 1]])  # noqa: E731

    for n in (40, 100):
        assert knee(loads[:n], throughput[:n]) == loads[np.argmax(throughput[:n] - chord(n))]
    assert knee(loads[:40], throughput[:40]) < knee(loads, throughput) - 5  # type: ignore[operator]


def test_a_delay_takes_off_and_a_line_has_no_knee() -> None:
    loads = np.arange(1.0, 10.0)
    delay = 1 / (10 - loads)

    assert knee(loads, delay, curve="takes off") == 7
    assert knee(loads, delay) is None
    assert knee(loads, 3 * loads + 1) is None
    assert knee(loads, 0.1 * loads, curve="takes off") is None


@pytest.mark.parametrize("seed", range(5))
def test_two_lines_are_scipys_least_squares(seed: int) -> None:
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


def test_neither_units_nor_offsets_matter() -> None:
    seen = two_lines(LOADS, bent(1))
    other = two_lines(1e6 * LOADS + 1e9, 1e6 * bent(1) + 5e7)

    assert other.breakpoint == pytest.approx(1e6 * seen.breakpoint + 1e9, abs=2e3)
    assert other.slope_after == pytest.approx(seen.slope_after, abs=1e-3)


def test_a_straight_line_has_no_breakpoint_to_be_found() -> None:
    """The interval has no end on one side or both, in nearly all draws."""
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
    with pytest.raises(UnfitValues, match="need to ascend"):
        knee([1, 3, 2], [1, 2, 3])


@pytest.mark.parametrize(
    ("loads", "losses", "options", "error", "said"),
    [
        ([], [], {}, UnfitValues, "loads: need at least 1"),
        ([1], [], {}, UnfitValues, "need trials for each of 1 loads"),
        ([2, 1], [[0], [0]], {}, UnfitValues, "need to ascend"),
        ([1], [[]], {}, UnfitValues, "loss_ratio at 1: need at least 1"),
        ([1], [[2]], {}, UnfitValues, "loss_ratio at 1: need numbers from 0 to 1"),
        ([1], [[0]], {"loss_at_most": 1}, UsageError, "loss_at_most: need a number from 0"),
        ([1], [[0]], {"exceed_ratio": -1}, UsageError, "exceed_ratio: need a number from 0"),
    ],
)
def test_losses_that_are_none_are_refused(
    loads: list[float],
    losses: list[list[float]],
    options: dict[str, float],
    error: type[Exception],
    said: str,
) -> None:
    with pytest.raises(error, match=said):
        highest_load(loads, losses, **{"loss_at_most": 0.0, **options})
