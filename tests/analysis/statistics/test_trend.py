"""A peak over ordered levels."""

import pytest

from lanlab.analysis.statistics import peak_then_decline, welch
from lanlab.errors import NoSpread, UnfitValues

RISING = [[10, 11, 12], [12, 13, 14], [13, 15, 16]]


def test_a_peak_is_tested_on_both_sides_with_correction() -> None:
    levels = [[10, 11, 12], [30, 31, 32], [20, 21, 23], [15, 16, 18]]
    seen = peak_then_decline(levels)
    rise, decline = (welch(levels[1], levels[end], scale="log") for end in (0, 3))

    assert seen.peak == 1
    assert (seen.rise, seen.decline) == (rise, decline)
    assert seen.rise_p == pytest.approx(3 * rise.p_greater)
    assert seen.decline_p == pytest.approx(3 * decline.p_greater)
    assert seen.decline_p < 0.05


def test_a_peak_at_an_end_is_tested_on_one_side() -> None:
    rising, falling = peak_then_decline(RISING), peak_then_decline(RISING[::-1])

    assert (rising.peak, rising.decline, rising.decline_p) == (2, None, 1)
    assert (falling.peak, falling.rise, falling.rise_p) == (0, None, 1)
    assert rising.rise is not None
    assert falling.decline is not None


def test_unordered_levels_are_refused() -> None:
    with pytest.raises(UnfitValues, match="at least 3 for a peak, got 2"):
        peak_then_decline(RISING[:2])
    with pytest.raises(UnfitValues, match="need at least 2 values, got 1"):
        peak_then_decline([[1], [2, 3], [1, 2]])
    with pytest.raises(NoSpread):
        peak_then_decline([[1, 1], [2, 2], [1, 1]])
