"""The one formula of all comparisons, against the statistics package and numbers by hand."""

import math
import random

import pytest

from lanlab.analysis.findings.contrast import contrast, contrasts
from lanlab.analysis.findings.planning import trials_needed
from lanlab.analysis.findings.sample import PrintedNumber, PrintedSpread, Trials
from lanlab.analysis.statistics import (
    Margin,
    PrintedMean,
    drift,
    mean_interval,
    paired_by_block,
    tost,
    trials_to_detect,
    welch,
    welch_printed,
)
from lanlab.analysis.statistics.samples import Scale

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
    assert ours.p_below(0.0) == pytest.approx(theirs.p_less)
    assert ours.p_above(0.0) == pytest.approx(theirs.p_greater)
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
    assert ours.p_above(0.0) == pytest.approx(theirs.p_greater)


def test_published_means_and_spreads_are_tested_like_trials() -> None:
    a, b = PrintedMean(26.5, 0.43, 40), PrintedMean(24.0, 0.46, 40)
    ours = contrast(
        [(1.0, PrintedSpread(26.5, 0.43, 40)), (-1.0, PrintedSpread(24, 0.46, 40))], "log"
    )
    theirs = welch_printed(a, b, scale="log")

    assert ours.p_above(0.0) == pytest.approx(theirs.p_greater)
    assert ours.interval(0.95)[0] == pytest.approx(math.log(theirs.low))


def test_printed_digits_widen_an_interval_and_weaken_a_test() -> None:
    exact = contrast(
        [(1, PrintedSpread(79.8, 0.75, 40)), (-1, PrintedSpread(58.8, 0.55, 40))], "linear"
    )
    cut = contrast(
        [(1, PrintedSpread(79.8, 0.75, 40, 0.05)), (-1, PrintedSpread(58.8, 0.55, 40, 0.05))],
        "linear",
    )

    assert cut.interval(0.95)[0] == pytest.approx(exact.interval(0.95)[0] - 0.1)
    assert cut.interval(0.95)[1] == pytest.approx(exact.interval(0.95)[1] + 0.1)
    assert cut.p_above(20.5) > exact.p_above(20.5)


def test_one_condition_has_a_students_t_interval() -> None:
    ours = contrast([(1.0, Trials(TCP_S))], "linear")
    theirs = mean_interval(TCP_S)

    assert ours.interval(0.95) == pytest.approx((theirs.low, theirs.high))


def test_a_margin_is_tested_by_two_one_sided_tests() -> None:
    a, b = (99.0, 100.0, 101.0, 100.0), (100.0, 101.0, 102.0, 101.0)
    ours = contrast([(1.0, Trials(a)), (-1.0, Trials(b))], "log")
    margin = Margin.of_ratio(0.05)

    both = max(ours.p_above(margin.scaled[0]), ours.p_below(margin.scaled[1]))
    assert both == pytest.approx(tost(welch(a, b, scale="log"), margin).p)


def test_the_error_of_a_difference_of_differences_includes_four_conditions() -> None:
    """Four variances of 1 with 4 trials each: the error is 1, with 12 degrees of freedom."""
    four = (-1.0, 1.0, -math.sqrt(0.5), math.sqrt(0.5))
    samples = [Trials(tuple(mean + one for one in four)) for mean in (10.0, 8.0, 7.0, 6.5)]
    found = contrast(list(zip((1.0, -1.0, -1.0, 1.0), samples, strict=True)), "linear")

    assert (found.value, found.error, found.df) == pytest.approx((1.5, 1.0, 12.0))


def test_the_drift_of_one_condition_is_the_slope_of_its_trials() -> None:
    from lanlab.analysis.findings.drift_within import change

    values = (124.0, 130.0, 132.0, 138.0, 137.0)
    ours = change(Trials(values, (), (1, 2, 3, 4, 5)), "linear")
    theirs = drift([values])

    assert ours.value == pytest.approx(4 * theirs.slope)
    assert ours.interval(0.95) == pytest.approx((4 * theirs.low, 4 * theirs.high))


def test_equal_trials_have_no_test_and_two_of_them_no_verdict() -> None:
    three = contrast([(1.0, Trials((1.0, 1.0, 1.0)))], "linear")
    two = contrast([(1.0, Trials((1.0, 1.0)))], "linear")
    one = contrast([(1.0, Trials((1.0,)))], "linear")

    assert [found.basis for found in (three, two, one)] == ["all equal", "too few", "too few"]


def test_a_stepped_value_has_at_least_the_spread_of_one_step() -> None:
    """260 s four times, read to the second: 1 / √12 s at least."""
    found = contrast([(1.0, Trials((260.0,) * 4, resolution=1.0))], "linear")

    assert found.basis == "tested"
    assert found.error == pytest.approx(1 / math.sqrt(12) / 2)


def test_a_lost_trial_is_tried_at_every_possible_value() -> None:
    lost = Trials((10.0, 11.0), missing=(((9.0, 12.0, 15.0), 3),))
    found = contrasts([(1.0, lost)], "linear")

    assert [one.value for one in found] == pytest.approx([10.0, 11.0, 12.0])


def test_a_published_bound_leaves_one_side_open() -> None:
    at_least_four = PrintedNumber(4.0, 4.0, math.inf)
    found = contrast([(1.0, at_least_four)], "log")

    assert found.interval(0.95) == (math.log(4.0), math.inf)


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
    theirs = trials_to_detect(1.06, cv, scale="log").trials_per_side

    assert needed is not None and theirs is not None
    assert needed == 6 or abs(needed - theirs) <= 1


def test_no_number_of_trials_decides_a_value_on_the_bound() -> None:
    seen = contrast([(1.0, Trials((9.0, 10.0, 11.0)))], "linear")

    assert trials_needed(seen, 10.0, None, 0.05) is None
    assert trials_needed(seen, 10.0 - 1e-6, None, 0.05) is None
