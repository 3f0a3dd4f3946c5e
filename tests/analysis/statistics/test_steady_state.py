"""The steady part of a series, by MSER-5 done by hand and by made-up transients."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanlab.analysis.statistics import steady_state
from lanlab.errors import UnfitValues, UsageError


def noise(seed: int, size: int = 300) -> np.ndarray:
    return np.random.default_rng(seed).normal(10, 1, size)


@given(st.integers(0, 10**6), st.integers(0, 80), st.integers(50, 160))
def test_the_cut_is_the_one_with_the_least_standard_error(
    seed: int, transient: int, size: int
) -> None:
    """Written out: of every allowed cut the variance of what is left over its number."""
    series = noise(seed, size)
    series[:transient] -= np.linspace(5, 0, transient)[:size]
    batches = series[: size // 5 * 5].reshape(-1, 5).mean(axis=1)
    errors = [batches[cut:].var() / (batches.size - cut) for cut in range(batches.size // 2 + 1)]
    seen = steady_state(series)

    assert seen.start == 5 * int(np.argmin(errors))
    assert (seen.stop, seen.mean) == (size, pytest.approx(series[seen.start :].mean()))
    if np.argmin(errors) == batches.size // 2:
        assert not seen.found


def test_both_ends_are_cut() -> None:
    series = noise(1)
    series[:30] = np.linspace(0, 8, 30)
    series[-45:] = np.linspace(8, 0, 45)
    seen = steady_state(series, ends="both")

    assert seen.found
    assert 30 <= seen.start <= 45
    assert 240 <= seen.stop <= 260
    assert seen.mean == pytest.approx(10, abs=0.2)
    only_start = steady_state(series)
    assert not only_start.found or only_start.mean < seen.mean


def test_a_clean_series_is_left_nearly_whole() -> None:
    kept = [
        steady_state(noise(seed), ends=ends) for seed in range(40) for ends in ("start", "both")
    ]

    assert sum(seen.found for seen in kept) >= 76
    assert np.median([seen.stop - seen.start for seen in kept]) >= 260


@pytest.mark.parametrize(
    ("series", "ends", "reason"),
    [
        (np.linspace(0, 10, 300), "start", "the furthest that is allowed, 150 values"),
        (np.linspace(0, 10, 300), "both", "the furthest that is allowed, 100 values"),
        (np.linspace(0, 10, 300)[::-1], "start", "the furthest that is allowed"),
        (np.repeat([10.0, 14.0], [210, 90]) + noise(2) - 10, "start", "still drifts"),
        (np.exp(np.arange(300) / 30), "start", "still drifts"),
    ],
)
def test_no_steady_state_is_an_answer(series: np.ndarray, ends: str, reason: str) -> None:
    seen = steady_state(series, ends=ends)

    assert not seen.found
    assert reason in seen.reason


def test_a_late_step_is_an_end_to_be_cut() -> None:
    seen = steady_state(np.repeat([10.0, 14.0], [240, 60]) + noise(2) - 10, ends="both")

    assert seen.found
    assert 225 <= seen.stop <= 240


def test_a_constant_series_is_steady_and_its_rest_is_kept() -> None:
    seen = steady_state([7.0] * 53)

    assert (seen.found, seen.start, seen.stop, seen.mean) == (True, 0, 53, 7)
    assert steady_state([0.1] * 10, batch=1).found


def test_a_series_that_is_too_short_is_refused() -> None:
    with pytest.raises(UnfitValues, match="series: need at least 50 values, got 49"):
        steady_state([1.0] * 49)
    with pytest.raises(UsageError, match="batch: need at least 1, got 0"):
        steady_state([1.0] * 60, batch=0)
