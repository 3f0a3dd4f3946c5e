"""Trends over ordered levels: by every permutation, by scikit-learn's rule, and by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanlab.analysis.statistics import monotonicity, ordered_trend, peak_then_decline, welch
from lanlab.errors import NoSpread, UnfitValues

RISING = [[10, 11, 12], [12, 13, 14], [13, 15, 16]]


def test_it_is_near_jonckheeres_test_over_every_assignment() -> None:
    """The p of a normal approximation against the share of all ways to deal out the values."""
    levels = [[1.0, 4.0, 2.0], [3.0, 7.0, 5.0], [6.0, 8.0, 9.0]]
    seen = ordered_trend(levels, "up")
    pooled = [value for level in levels for value in level]
    counts = []
    for first in itertools.combinations(range(9), 3):
        rest = [at for at in range(9) if at not in first]
        for second in itertools.combinations(rest, 3):
            third = [at for at in rest if at not in second]
            dealt = [[pooled[at] for at in own] for own in (first, second, third)]
            counts.append(
                sum(
                    later > earlier
                    for one, other in itertools.combinations(dealt, 2)
                    for earlier in one
                    for later in other
                )
            )
    assert len(counts) == 1680
    assert seen.ordered_pairs == 25
    assert seen.p == pytest.approx(np.mean([count >= 25 for count in counts]), abs=0.002)


def test_the_claimed_direction_decides_the_side() -> None:
    up, down = ordered_trend(RISING, "up"), ordered_trend(RISING, "down")

    assert up.p < 0.01
    assert down.p == pytest.approx(1 - up.p)
    assert (down.tau, down.ordered_pairs) == (-up.tau, up.pairs - up.ordered_pairs)


def test_means_that_rise_throughout_need_no_fit() -> None:
    seen = monotonicity(RISING, "up")

    assert seen.fitted == pytest.approx([11, 13, 44 / 3])
    assert (seen.explained, seen.largest_reversal, seen.reversal_at) == (1, 0, None)
    assert seen.largest_reversal_ratio == 0


@given(st.lists(st.floats(1, 100), min_size=2, max_size=8), st.sampled_from(["up", "down"]))
def test_the_fit_never_turns_and_no_mean_of_neighbours_is_nearer(
    means: list[float], direction: str
) -> None:
    seen = monotonicity([[mean] for mean in means], direction)
    steps = np.diff(seen.fitted) * (1 if direction == "up" else -1)

    assert (steps >= -1e-9).all()
    assert seen.explained + 1e-9 >= 0
    assert seen.explained <= 1 + 1e-12
    assert (seen.reversal_at is None) == (
        seen.explained > 1 - 1e-15
    ) or seen.largest_reversal < 1e-6
    # Mean and fit have one mean; every pool is the mean of what it pools.
    assert np.mean(seen.fitted) == pytest.approx(np.mean(means))


def test_the_greatest_reversal_may_span_levels() -> None:
    seen = monotonicity([[20], [10], [8], [9], [30]], "up")

    assert seen.reversal_at == (0, 2)
    assert seen.largest_reversal == 12
    assert seen.largest_reversal_ratio == pytest.approx(0.6)
    assert monotonicity([[-1], [-2]], "up").largest_reversal_ratio is None


def test_a_level_weighs_as_many_trials_as_it_has() -> None:
    assert monotonicity([[10], [4, 4, 4]], "up").fitted == pytest.approx([5.5, 5.5])


def test_a_peak_has_both_sides_tested_for_its_choice() -> None:
    levels = [[10, 11, 12], [30, 31, 32], [20, 21, 23], [15, 16, 18]]
    seen = peak_then_decline(levels)
    rise, decline = (welch(levels[1], levels[end], scale="log") for end in (0, 3))

    assert seen.peak == 1
    assert (seen.rise, seen.decline) == (rise, decline)
    assert seen.rise_p == pytest.approx(3 * rise.p_greater)
    assert seen.decline_p == pytest.approx(3 * decline.p_greater)
    assert seen.decline_p < 0.05


def test_a_peak_at_an_end_has_one_side() -> None:
    rising, falling = peak_then_decline(RISING), peak_then_decline(RISING[::-1])

    assert (rising.peak, rising.decline, rising.decline_p) == (2, None, 1)
    assert (falling.peak, falling.rise, falling.rise_p) == (0, None, 1)
    assert rising.rise is not None
    assert falling.decline is not None


def test_what_has_no_order_is_refused() -> None:
    with pytest.raises(UnfitValues, match="levels: need at least 2, got 1"):
        ordered_trend([[1, 2]], "up")
    with pytest.raises(UnfitValues, match="level 1: need at least 1 values, got 0"):
        monotonicity([[1], []], "up")
    with pytest.raises(NoSpread, match="no order"):
        ordered_trend([[1, 1], [1]], "up")
    with pytest.raises(UnfitValues, match="at least 3 for a peak, got 2"):
        peak_then_decline(RISING[:2])
    with pytest.raises(UnfitValues, match="need at least 2 values, got 1"):
        peak_then_decline([[1], [2, 3], [1, 2]])
    with pytest.raises(NoSpread):
        peak_then_decline([[1, 1], [2, 2], [1, 1]])
