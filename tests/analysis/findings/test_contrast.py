"""The one formula of all comparisons, against the statistics package and numbers by hand."""

import math
import random

import pytest
from planned_trials import trials_to_detect

from lanlab.analysis.findings.contrast import contrast
from lanlab.analysis.findings.planning import trials_needed
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.statistics.intervals import mean_interval
from lanlab.analysis.statistics.samples import Scale
from lanlab.analysis.statistics.two_groups import paired_by_block, welch

TCP_S = (81.0, 84.0, 79.0, 82.0, 84.0)
NWLINK_S = (117.0, 120.0, 121.0, 127.0, 126.0)
SCALES: tuple[Scale, ...] = ("linear", "log")


@pytest.mark.parametrize("scale", SCALES)
def test_two_conditions_are_compared_by_welchs_test(scale: Scale) -> None:
    ours = contrast([(1.0, Trials(TCP_S)), (-1.0, Trials(NWLINK_S))], scale)
    theirs = welch(TCP_S, NWLINK_S, scale=scale)

    assert ours.value == pytest.approx(theirs.scaled_effect)
    assert ours.error == pytest.approx(theirs.standard_error)
    assert ours.df == pytest.approx(theirs.df)
    assert 2 * ours.p_below(0.0) == pytest.approx(theirs.p_two_sided)
    assert ours.p_above(0.0) == pytest.approx(1 - theirs.p_two_sided / 2)
    assert ours.hedges_g == pytest.approx(theirs.hedges_g)


@pytest.mark.parametrize("scale", SCALES)
def test_conditions_of_common_blocks_are_compared_within_them(scale: Scale) -> None:
    a = Trials((10.0, 12.0, 15.0, 11.0), (0, 1, 2, 3))
    b = Trials((14.0, 9.0, 11.5), (2, 0, 1))
    ours = contrast([(1.0, a), (-1.0, b)], scale)
    theirs = paired_by_block(
        dict(zip(a.blocks, a.values, strict=True)),
        dict(zip(b.blocks, b.values, strict=True)),
        scale=scale,
    )

    assert ours.test == "Student's t by block"
    assert ours.value == pytest.approx(theirs.scaled_effect)
    assert ours.error == pytest.approx(theirs.standard_error)
    assert (ours.df, ours.n) == (2.0, (3, 3))
    one_sided = min(ours.p_above(0.0), ours.p_below(0.0))
    assert 2 * one_sided == pytest.approx(theirs.p_two_sided)


def test_one_condition_has_a_students_t_interval() -> None:
    ours = contrast([(1.0, Trials(TCP_S))], "linear")
    theirs = mean_interval(TCP_S)

    assert ours.interval(0.95) == pytest.approx((theirs.low, theirs.high))


def test_a_stepped_value_has_at_least_the_spread_of_one_step() -> None:
    """260 s four times, read to the second: 1 / √12 s at least."""
    found = contrast([(1.0, Trials((260.0,) * 4, resolution=1.0))], "linear")

    assert found.basis == "tested"
    assert found.error == pytest.approx(1 / math.sqrt(12) / 2)


@pytest.mark.parametrize("cv", [0.01, 0.05])
def test_the_trials_needed_agree_with_statsmodels(cv: float) -> None:
    """For an effect of 6 % seen by 5 and 5 trials, at level 5 %; a trial more or less."""
    rng = random.Random(3)
    base = [rng.gauss(0, 1) for _ in range(5)]
    mean = sum(base) / 5
    sd = math.sqrt(sum((one - mean) ** 2 for one in base) / 4)
    a, b = (
        Trials(tuple(math.exp(shift + cv * (one - mean) / sd) for one in base))
        for shift in (math.log(1.06), 0.0)
    )
    seen = contrast([(1.0, a), (-1.0, b)], "log")
    needed = trials_needed(seen, 0.0, None, 0.05)
    theirs = trials_to_detect(1.06, cv, scale="log")

    assert needed is not None and theirs is not None
    assert needed == 6 or abs(needed - theirs) <= 1
