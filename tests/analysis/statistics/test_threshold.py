"""Thresholds that vary from trial to trial, against likelihoods worked out with scipy."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import optimize, stats

from lanlab.analysis.statistics.neighbours import widening
from lanlab.analysis.statistics.threshold import ThresholdTrials, follows_load, threshold

RESOLUTION = 1e-4
LOADS = np.log([80.0, 90.0, 100.0, 110.0, 120.0])


def likelihood(seen: ThresholdTrials, place: float, spread: float) -> float:
    """Its logarithm: densities of what is exact, chances of what is above or below."""
    return float(
        stats.norm.logpdf(np.array(seen.exact), place, spread).sum()
        + stats.norm.logsf(np.array(seen.above), place, spread).sum()
        + stats.norm.logcdf(np.array(seen.below), place, spread).sum()
    )


def best_spread(seen: ThresholdTrials, place: float) -> tuple[float, float]:
    found = optimize.minimize_scalar(
        lambda log: -likelihood(seen, place, math.exp(log)),
        bounds=(math.log(RESOLUTION), 0.0),
        method="bounded",
    )
    return -float(found.fun), math.exp(float(found.x))


def oracle(seen: ThresholdTrials, df: int) -> tuple[float, float, float, float]:
    ends = [*seen.exact, *seen.above, *seen.below]
    # Nearer to each other than the width that the best is looked for in.
    places = np.linspace(min(ends), max(ends), 60)
    start = max(places, key=lambda place: best_spread(seen, place)[0])
    found = optimize.minimize_scalar(
        lambda place: -best_spread(seen, place)[0], bracket=(start - 0.01, start, start + 0.01)
    )
    middle = float(found.x)
    most, spread = best_spread(seen, middle)
    t = float(stats.t.ppf(0.975, df))
    least = most - (df + 1) * math.log1p(t**2 / df) / 2
    low, high = (
        optimize.brentq(lambda place: best_spread(seen, place)[0] - least, middle, middle + far)
        for far in (-3.0, 3.0)
    )
    unbiased = spread * math.sqrt((df + 1) / df)
    return math.exp(middle), math.exp(low), math.exp(high), unbiased


@pytest.mark.parametrize("spread", [0.003, 0.02, 0.2])
def test_trials_that_all_show_their_threshold_have_students_interval(spread: float) -> None:
    logs = np.log(100) + spread * np.array([-1.2, -0.4, 0.1, 0.6, 1.4])
    found = threshold(ThresholdTrials(logs), resolution=RESOLUTION)

    assert found is not None and found.low is not None and found.high is not None
    mean, sd = logs.mean(), logs.std(ddof=1)
    half = stats.t.ppf(0.975, 4) * sd / math.sqrt(5)
    near = 0.03 * half + 2 * RESOLUTION
    assert math.log(found.median) == pytest.approx(mean, abs=0.005 * sd)
    assert math.log(found.low) == pytest.approx(mean - half, abs=near)
    assert math.log(found.high) == pytest.approx(mean + half, abs=near)
    assert found.spread_ratio == pytest.approx(sd, rel=0.05) and found.trials == 5


@pytest.mark.parametrize(
    ("exact", "above", "below", "df"),
    [
        ([4.60, 4.62, 4.66], [4.5, 4.63, 4.65], [], 2),
        ([4.60, 4.62, 4.66, 4.59], [], [4.7, 4.61], 3),
        ([4.60, 4.66], [4.61], [4.64, 4.58], 1),
        ([], [4.5, 4.6, 4.65], [4.62, 4.7, 4.8], 3),
        ([4.61], [4.5, 4.6, 4.65], [4.62, 4.7, 4.8], 3),
    ],
)
def test_censored_trials_are_estimated_by_maximum_likelihood(
    exact: Sequence[float], above: Sequence[float], below: Sequence[float], df: int
) -> None:
    seen = ThresholdTrials(exact, above, below)
    found = threshold(seen, resolution=RESOLUTION)

    assert found is not None and found.low is not None and found.high is not None
    median, low, high, spread = oracle(seen, df)
    near = 0.04 * math.log(high / low) + 2 * RESOLUTION
    assert math.log(found.median / median) == pytest.approx(0, abs=near / 4)
    assert math.log(found.low / low) == pytest.approx(0, abs=near)
    assert math.log(found.high / high) == pytest.approx(0, abs=near)
    assert found.spread_ratio == pytest.approx(spread, rel=0.1)
    assert found.trials == len(exact)


def test_equal_trials_are_known_to_the_resolution() -> None:
    for resolution in (1e-4, 1e-2):
        found = threshold(ThresholdTrials([4.6] * 6), resolution=resolution)
        assert found is not None and found.low is not None and found.high is not None
        assert found.median == pytest.approx(math.exp(4.6), rel=resolution / 10)
        half = math.log(found.high / found.low) / 2
        # One step more on either side, and of what the smallest spread allows.
        t = stats.t.ppf(0.975, 5)
        allowed = resolution * (1 + math.sqrt(math.log1p(t**2 / 5)))
        assert half == pytest.approx(allowed, rel=0.05)
        assert found.spread_ratio == pytest.approx(resolution * math.sqrt(6 / 5), rel=0.01)


@pytest.mark.parametrize(
    "seen",
    [
        ThresholdTrials(),
        ThresholdTrials([4.6]),
        ThresholdTrials([4.6], above=[4.5]),
        ThresholdTrials([4.6], below=[4.7]),
        ThresholdTrials(above=[4.5, 4.6]),
        ThresholdTrials(below=[4.5, 4.6]),
    ],
)
def test_too_few_trials_give_no_threshold(seen: ThresholdTrials) -> None:
    assert threshold(seen, resolution=RESOLUTION) is None


def test_two_trials_or_one_on_either_side_suffice() -> None:
    assert threshold(ThresholdTrials([4.6, 4.7]), resolution=RESOLUTION) is not None
    assert threshold(ThresholdTrials((), [4.6], [4.7]), resolution=RESOLUTION) is not None


#: Ten trials, the first half above the others.
DRIFTING = [4.64, 4.66, 4.63, 4.65, 4.64, 4.6, 4.59, 4.61, 4.6, 4.58]


def half_width(seen: ThresholdTrials) -> float:
    found = threshold(seen, resolution=RESOLUTION)
    assert found is not None and found.low is not None and found.high is not None
    return math.log(found.high / found.low) / 2


def test_correlated_trials_lengthen_the_interval() -> None:
    plain = half_width(ThresholdTrials(DRIFTING))
    longer = half_width(ThresholdTrials(DRIFTING, order=range(10)))
    assert longer / plain == pytest.approx(widening(DRIFTING), rel=0.05)
    assert longer > 2.5 * plain
    turns = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
    assert half_width(ThresholdTrials(DRIFTING, order=turns)) == pytest.approx(plain)
    few = DRIFTING[3:6]
    assert half_width(ThresholdTrials(few, order=range(3))) == half_width(ThresholdTrials(few))


def test_censored_trials_take_part_in_the_order_test() -> None:
    above = ThresholdTrials(DRIFTING, [4.65, 4.66], order=(*range(10), 1, 2))
    assert half_width(above) > 2 * half_width(ThresholdTrials(DRIFTING, [4.65, 4.66]))
    # Where the others are low, it looks less like a drift.
    late = ThresholdTrials(DRIFTING, [4.65, 4.66], order=(*range(10), 7, 8))
    assert half_width(late) < 0.8 * half_width(above)
    below = ThresholdTrials(DRIFTING, (), [4.58, 4.59], (), (*range(10), 7, 8))
    assert half_width(below) > 2 * half_width(ThresholdTrials(DRIFTING, (), [4.58, 4.59]))
    for far in (ThresholdTrials(DRIFTING, [4.0], order=(*range(10), 4)),
                ThresholdTrials(DRIFTING, (), [5.0], (), (*range(10), 4))):  # fmt: skip
        alone = half_width(ThresholdTrials(DRIFTING, order=range(10)))
        assert half_width(far) == pytest.approx(alone, rel=0.05)


@pytest.mark.parametrize(("slope", "follows"), [(0.0, False), (0.5, True), (0.75, True), (1, True)])
def test_a_threshold_may_depend_on_the_load(slope: float, follows: bool) -> None:
    noise = 0.004 * np.array([1, -1, 0, 1, -1])
    exact = 4 + slope * (LOADS - LOADS.mean()) + noise
    seen = ThresholdTrials(exact, loads=LOADS)

    assert follows_load(seen, resolution=RESOLUTION) is follows
    assert not follows_load(ThresholdTrials(exact[:2], loads=LOADS[:2]), resolution=RESOLUTION)
    three = ThresholdTrials(exact[::2], loads=LOADS[::2])
    assert follows_load(three, resolution=RESOLUTION) is follows


def test_a_slope_must_raise_the_likelihood_by_sixteen() -> None:
    """Sixteen, in twice the logarithm of the likelihood: with least squares 2 n times the logarithm
    of how much less is left."""
    centered = LOADS - LOADS.mean()
    shape = np.array([1.0, -1, 0, 1, -1])
    shape -= shape.mean()
    shape -= centered * (shape @ centered) / (centered @ centered)
    for slope in (0.5, 0.75, 1.0):
        for better, follows in ((15.2, False), (16.8, True)):
            # What is left without slope, as a share of what is left with it.
            share = math.exp(better / LOADS.size)
            size = slope * math.sqrt((centered @ centered) / (shape @ shape) / (share - 1))
            seen = ThresholdTrials(slope * centered + size * shape, loads=LOADS)
            assert follows_load(seen, resolution=RESOLUTION) is follows


def test_lossless_trials_count_against_a_slope() -> None:
    exact = 4.5 + 0.5 * (LOADS - LOADS.mean()) + 0.005 * np.array([1, -1, 0, 1, -1])
    assert follows_load(ThresholdTrials(exact, loads=LOADS), resolution=RESOLUTION)
    below_the_line = ThresholdTrials(exact, above=[4.3, 4.4], loads=LOADS)
    assert follows_load(below_the_line, resolution=RESOLUTION)
    contradicted = ThresholdTrials(exact, above=[5.0] * 3, loads=LOADS)
    assert not follows_load(contradicted, resolution=RESOLUTION)
