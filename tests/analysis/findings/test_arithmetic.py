"""What printed numbers and trials come down to, worked out by hand."""

import math
from typing import Any

import pytest
from scipy import stats

from lanlab.analysis.findings.contrast import Estimate, contrast, contrasts, scale_for
from lanlab.analysis.findings.drift_within import change
from lanlab.analysis.findings.planning import trials_needed
from lanlab.analysis.findings.printed import PrintedRatio, half_digit, number_of, times
from lanlab.analysis.findings.sample import (
    PrintedNumber,
    PrintedSpread,
    Trials,
    as_number,
    divided,
)
from lanlab.analysis.statistics.power import exceeds
from lanlab.studies.published import PublishedValue


def printed(text: str, value: float, si: float, **more: Any) -> PublishedValue:
    told = {"id": "a", "metric": "m_ns", "statistic": "mean", "unit": "s", "si_unit": "ns"}
    return PublishedValue.model_validate(
        {**told, "where": "here", "published": text, "value": value, "si": si, **more}
    )


@pytest.mark.parametrize(
    ("text", "value", "si", "half"),
    [
        ("1.5 s", 1.5, 1.5e9, 5e7),
        ("about 1.50 s", 1.5, 1.5e9, 5e6),
        ("20 s", 20.0, 2e10, 5e8),
        ("from 3 to 1.25 s", 1.25, 1.25e9, 5e6),
        ("1 234.5 s", 1234.5, 1.2345e12, 5e7),
        ("-2.0 s", -2.0, -2e9, 5e7),
        ("twice", 2.0, 2e9, 0.0),
        ("0.0 s", 0.0, 0.0, 0.0),
    ],
)
def test_a_published_number_is_uncertain_by_half_its_last_digit(
    text: str, value: float, si: float, half: float
) -> None:
    assert half_digit(printed(text, value, si)) == pytest.approx(half)


@pytest.mark.parametrize(
    ("bound", "low", "high"),
    [
        (None, 1.95e9, 2.05e9),
        ("~", 1.8e9, 2.2e9),
        ("<~", 1.8e9, 2.0e9),
        (">", 2e9, math.inf),
        (">=", 2e9, math.inf),
        ("<", -math.inf, 2e9),
        ("<=", -math.inf, 2e9),
    ],
)
def test_the_range_of_a_published_number_follows_from_its_digits_or_bound(
    bound: str | None, low: float, high: float
) -> None:
    seen = number_of(printed("2.0 s", 2.0, 2e9, bound=bound))
    assert (seen.mean, seen.low, seen.high) == pytest.approx((2e9, low, high))
    assert seen.is_bound == (bound in (">", ">=", "<", "<="))
    assert seen.sources == {"a"}


def test_about_a_round_number_covers_the_range_of_its_digits() -> None:
    seen = number_of(printed("2 s", 2.0, 2e9, bound="~"))
    assert (seen.low, seen.high) == pytest.approx((1.5e9, 2.5e9))


def test_inverting_a_ratio_swaps_its_ends() -> None:
    number = PrintedNumber(4.0, 2.0, 5.0, frozenset({"r"}))
    turned = PrintedRatio("os", ("a",), ("b", "c"), number, {"x": 1}).inverted
    assert (turned.numerators, turned.denominators) == (("b", "c"), ("a",))
    assert (turned.ratio.mean, turned.ratio.low, turned.ratio.high) == (0.25, 0.2, 0.5)
    assert (turned.factor, turned.levels, turned.ratio.sources) == ("os", {"x": 1}, {"r"})
    least = PrintedRatio("os", (), (), PrintedNumber(4.0, 4.0, math.inf), {}).inverted.ratio
    assert (least.low, least.high) == (0.0, 0.25)
    most = PrintedRatio("os", (), (), PrintedNumber(4.0, -math.inf, 4.0), {}).inverted.ratio
    assert (most.low, most.high) == (0.25, math.inf)
    part = PrintedRatio("os", (), (), PrintedNumber(0.8, 0.5, 1.0), {}).inverted.ratio
    assert (part.mean, part.low, part.high) == (1.25, 1.0, 2.0)
    none = PrintedRatio("os", (), (), PrintedNumber(0.5, 0.0, 1.0), {}).inverted.ratio
    assert (none.low, none.high) == (1.0, math.inf)


def test_the_range_of_a_quotient_follows_from_both_ranges() -> None:
    a = PrintedNumber(6.0, 5.0, 8.0, frozenset("a"))
    seen = divided(a, PrintedNumber(2.0, 1.0, 4.0, frozenset("b")))
    assert (seen.mean, seen.low, seen.high) == (3.0, 1.25, 8.0)
    assert seen.sources == {"a", "b"}
    assert divided(a, PrintedNumber(2.0, 2.0, math.inf)).low == 0.0
    assert divided(a, PrintedNumber(2.0, 0.0, 4.0)).high == math.inf
    assert divided(a, PrintedNumber(2.0, 0.5, 4.0)).high == 16.0


def test_changing_the_unit_of_a_sample_converts_every_number() -> None:
    lost = (((1.0, 2.0), 3),)
    trials = Trials((5.0, 6.0), (0, 1), (2, 3), lost, 0.5, frozenset("s"))
    assert times(trials, 10) == Trials(
        (50.0, 60.0), (0, 1), (2, 3), (((10.0, 20.0), 3),), 5.0, frozenset("s")
    )
    spread = PrintedSpread(5.0, 2.0, 7, 0.5, frozenset("s"))
    assert times(spread, 10) == PrintedSpread(50.0, 20.0, 7, 5.0, frozenset("s"))
    number = PrintedNumber(5.0, 4.0, 7.0, frozenset("s"))
    assert times(number, 10) == PrintedNumber(50.0, 40.0, 70.0, frozenset("s"))


def test_a_sample_without_spread_keeps_its_mean_and_digits() -> None:
    assert as_number(PrintedSpread(5.0, 2.0, 7, 0.5)) == PrintedNumber(5.0, 4.5, 5.5)
    assert as_number(Trials((1.0, 2.0, 6.0))) == PrintedNumber(3.0, 3.0, 3.0)


def test_lost_trials_are_tried_at_every_value_that_they_may_have_had() -> None:
    lost = (((1.0, 2.0, 3.0, 4.0, 5.0), 8), ((7.0, 9.0), 9))
    sample = Trials((6.0,), (), (0,), lost)
    every = list(sample.completed())
    assert len(every) == 10
    assert every[1] == Trials((6.0, 1.0, 9.0), (), (0, 8, 9))
    few = [one.values[1:] for one in sample.completed(few=True)]
    assert few == [(1, 7), (1, 9), (3, 7), (3, 9), (5, 7), (5, 9)]
    three = Trials((6.0,), (), (0,), (((1.0, 2.0, 3.0), 8),))
    assert [one.values[1] for one in three.completed(few=True)] == [1, 2, 3]
    four = Trials((6.0,), (), (0,), (((1.0, 2.0, 3.0, 4.0), 8),))
    assert [one.values[1] for one in four.completed(few=True)] == [1, 3, 4]
    # 10 x 10 ways are tried; of 10 x 11 only ends and middle.
    ten = Trials((5.0, 6.0), (), (0, 1), ((tuple(range(1, 11)), 2),))
    eleven = Trials((5.0, 6.0), (), (0, 1), ((tuple(range(1, 12)), 2),))
    assert len(contrasts([(1.0, ten), (-1.0, ten)], "linear")) == 100
    assert len(contrasts([(1.0, ten), (-1.0, eleven)], "linear")) == 9
    for values, ways in ((100, 100), (101, 3)):
        lost = (tuple(float(one) for one in range(1, values + 1)), 2)
        assert len(contrasts([(1.0, Trials((5.0, 6.0), missing=(lost,)))], "linear")) == ways


def test_unpaired_terms_have_the_error_and_degrees_of_satterthwaite() -> None:
    a, b, c = (Trials(values) for values in ((1.0, 3.0), (2.0, 4.0, 9.0), (5.0, 5.5, 7.0, 8.5)))
    seen = contrast([(1.0, a), (-2.0, b), (0.5, c)], "linear")
    variances = [1 * 2.0 / 2, 4 * 13.0 / 3, 0.25 * 2.5 / 4]
    assert seen.value == pytest.approx(2 - 2 * 5 + 0.5 * 6.5)
    assert seen.error == pytest.approx(math.sqrt(sum(variances)))
    assert seen.df == pytest.approx(
        sum(variances) ** 2 / sum(v**2 / df for v, df in zip(variances, (1, 2, 3), strict=True))
    )
    assert (seen.n, seen.hedges_g, seen.test) == ((2, 3, 4), None, "Welch's t of a contrast")
    two = contrast([(1.0, a), (-1.0, b)], "linear")
    oracle = stats.ttest_ind(a.values, b.values, equal_var=False)
    assert 2 * two.p_below(0.0) == pytest.approx(oracle.pvalue)
    assert two.p_below(0.0) + two.p_above(0.0) == pytest.approx(1)
    low, high = oracle.confidence_interval(0.95)
    assert two.interval(0.95) == pytest.approx((low, high))
    # Hedges: the difference by the common deviation, less the bias of 3 degrees of freedom.
    pooled = math.sqrt((1 * 2.0 + 2 * 13.0) / 3)
    bias = math.gamma(1.5) / (math.sqrt(1.5) * math.gamma(1.0))
    assert two.hedges_g == pytest.approx(-3 / pooled * bias)


def test_rounding_of_published_means_widens_a_contrast_by_its_weights() -> None:
    a, b = PrintedSpread(10.0, 1.0, 5, 0.5), PrintedSpread(20.0, 2.0, 8, 0.25)
    seen = contrast([(1.0, a), (-2.0, b)], "linear")
    assert (seen.below, seen.above) == (1.0, 1.0)
    assert seen.error == pytest.approx(math.sqrt(1 / 5 + 4 * 4 / 8))
    t = float(stats.t.ppf(0.975, seen.df)) * seen.error
    assert seen.interval(0.95) == pytest.approx((-31 - t, -29 + t))
    assert seen.p_above(-40.0) == pytest.approx(float(stats.t.sf(9 / seen.error, seen.df)))
    assert seen.p_below(-20.0) == pytest.approx(float(stats.t.cdf(-9 / seen.error, seen.df)))
    by_ratio = contrast([(1.0, a), (-1.0, b)], "log")
    assert by_ratio.below == by_ratio.above == pytest.approx(0.5 / 10 + 0.25 / 20)


def test_only_blocks_with_all_conditions_are_compared() -> None:
    a = Trials((5.0, 7.0, 9.0, 50.0), (0, 1, 2, 5))
    b = Trials((9.0, 3.0, 1.0, 80.0), (2, 1, 0, 7))
    seen = contrast([(1.0, a), (-1.0, b)], "linear")
    oracle = stats.ttest_rel([5.0, 7.0, 9.0], [1.0, 3.0, 9.0])
    assert seen.test == "Student's t by block"
    assert (seen.value, seen.n, seen.df) == (pytest.approx(8 / 3), (3, 3), 2)
    assert 2 * seen.p_above(0.0) == pytest.approx(oracle.pvalue)
    bias = math.gamma(1.0) / (math.sqrt(1.0) * math.gamma(0.5))
    assert seen.hedges_g == pytest.approx(8 / 3 / math.sqrt(16 / 3) * bias)
    one = contrast([(1.0, a), (-1.0, Trials((1.0, 2.0), (0, 9)))], "linear")
    assert one.test == "Welch's t"
    two = contrast([(1.0, a), (-1.0, Trials((1.0, 2.0), (0, 1)))], "linear")
    assert two.test == "Student's t by block"


@pytest.mark.parametrize(
    ("values", "basis"),
    [((5.0,), "too few"), ((5.0, 5.0), "too few"), ((5.0,) * 3, "all equal")],
)
def test_three_equal_trials_are_enough_for_a_verdict(values: tuple[float, ...], basis: str) -> None:
    seen = contrast([(1.0, Trials(values)), (-1.0, Trials((4.0,) * 3))], "linear")
    assert (seen.basis, seen.value, seen.interval(0.95)) == (basis, 1.0, (1.0, 1.0))
    blocks = tuple(range(len(values)))
    paired = [(1.0, Trials(values, blocks)), (-1.0, Trials((4.0,) * 3, (0, 1, 2)))]
    assert contrast(paired, "linear").basis == basis
    assert seen.n == (len(values), 3)


def test_the_mean_of_a_rate_has_the_same_interval_as_in_tables() -> None:
    """Its own logarithm, and of the n logarithms s²/n + s⁴/(2(n-1)), with n - 1 degrees."""
    values = (60e6, 100e6, 353e6)
    seen = contrast([(1.0, Trials(values))], "log")
    logs = [math.log(one) for one in values]
    variance = sum((one - sum(logs) / 3) ** 2 for one in logs) / 2
    assert seen.value == pytest.approx(math.log(171e6))
    assert seen.error == pytest.approx(math.sqrt(variance / 3 + variance**2 / 4))
    assert (seen.df, seen.n, seen.test, seen.basis) == (2.0, (3,), "Student's t", "tested")
    assert (seen.below, seen.above, seen.is_bound, seen.hedges_g) == (0.0, 0.0, False, None)
    told = contrast([(1.0, PrintedSpread(20.0, 2.0, 8, 0.5))], "log")
    assert (told.df, told.n, told.below, told.above) == (7.0, (8,), 0.025, 0.025)
    assert told.value == pytest.approx(math.log(20.0))


def test_equal_published_trials_are_known_to_their_digits() -> None:
    a, b = PrintedSpread(5.0, 0.0, 4, 0.5), PrintedSpread(3.0, 0.0, 3, 0.25)
    seen = contrast([(1.0, a), (-2.0, b)], "linear")
    assert (seen.basis, seen.value, seen.n) == ("all equal", -1.0, (4, 3))
    assert seen.interval(0.95) == (-2.0, 0.0)
    rate = contrast([(1.0, PrintedSpread(8.0, 0.0, 4, 0.5))], "log")
    assert (rate.basis, rate.n) == ("all equal", (4,))
    assert rate.value == pytest.approx(math.log(8.0))
    assert (rate.below, rate.above) == (0.5 / 8, 0.5 / 8)
    two = contrast([(1.0, PrintedSpread(8.0, 0.0, 2))], "log")
    assert (two.basis, two.n) == ("too few", (2,))


def test_blocked_trials_and_a_published_spread_are_compared_without_pairing() -> None:
    blocks = Trials((5.0, 7.0, 9.0), (0, 1, 2))
    seen = contrast([(1.0, blocks), (-1.0, PrintedSpread(4.0, 1.0, 8))], "linear")
    assert (seen.test, seen.value, seen.n) == ("Welch's t", 3.0, (3, 8))
    assert seen.error == pytest.approx(math.sqrt(4 / 3 + 1 / 8))
    free = contrast([(1.0, blocks), (-1.0, Trials((4.0, 5.0, 3.0)))], "linear")
    assert free.test == "Welch's t"
    alone = contrast([(1.0, blocks)], "linear")
    assert (alone.test, alone.n, alone.hedges_g) == ("Student's t", (3,), None)


def test_sums_of_published_numbers_add_up_their_ranges() -> None:
    a, b = PrintedNumber(10.0, 9.0, 12.0, frozenset("a")), PrintedNumber(3.0, 2.5, 4.0)
    seen = contrast([(1.0, a), (-2.0, b)], "linear")
    assert (seen.value, seen.interval(0.95)) == (4.0, (1.0, 7.0))
    assert (seen.basis, seen.is_bound, seen.n, seen.sources) == ("as printed", False, (1, 1), {"a"})
    bound = contrast([(1.0, PrintedNumber(10.0, 10.0, math.inf)), (-1.0, b)], "linear")
    assert bound.is_bound and bound.interval(0.95) == (6.0, math.inf)
    small = contrast([(1.0, PrintedNumber(0.5, 0.4, 0.6)), (-1.0, PrintedNumber(2, 2, 2))], "log")
    assert small.value == pytest.approx(math.log(0.25))
    assert small.interval(0.5) == pytest.approx((math.log(0.2), math.log(0.3)))
    spread = contrast([(1.0, PrintedSpread(8.0, 1.0, 6, 0.5)), (-1.0, b)], "log")
    assert spread.n == (6, 1)
    assert spread.interval(0.9) == pytest.approx((math.log(7.5 / 4), math.log(8.5 / 2.5)))


def test_values_that_may_be_zero_or_negative_allow_no_ratio() -> None:
    for sample in (
        Trials((1.0, 0.0)),
        PrintedNumber(0.0, -1, 1),
        Trials((1.0,), (), (0,), (((0.0, 5.0), 1),)),
    ):
        assert scale_for([(1.0, Trials((1.0,))), (1.0, sample)], "log") == "linear"
    assert scale_for([(1.0, Trials((1e-9,)))], "log") == "log"
    assert scale_for([(1.0, Trials((1.0,)))], "linear") == "linear"


def known(value: float, error: float, n: tuple[int, ...], **more: float) -> Estimate:
    return Estimate(value, "tested", "Student's t", error, n[0] - 1.0, n=n, **more)


@pytest.mark.parametrize("distance", [0.8, 1.0, 2.0])
def test_the_number_of_trials_needed_agrees_with_statsmodels(distance: float) -> None:
    """One mean of five trials with a deviation of 1, that is to be above (below) 0."""
    from statsmodels.stats.power import TTestPower

    error = 1 / math.sqrt(5)
    oracle = TTestPower().solve_power(distance, power=0.8, alpha=0.025, alternative="larger")
    wanted = max(6, math.ceil(oracle))
    assert trials_needed(known(distance, error, (5,)), 0.0, None, 0.05) == wanted
    assert trials_needed(known(-distance, error, (5,)), None, 0.0, 0.05) == wanted
    # Against what it claims: it lies beyond the bound, and is to be shown to.
    assert trials_needed(known(-distance, error, (5,)), 0.0, None, 0.05) == wanted
    assert trials_needed(known(distance, error, (5,)), None, 0.0, 0.05) == wanted
    # Digits that were printed take their part of the distance.
    wide = known(distance + 0.3, error, (5,), below=0.3, above=0.1)
    assert trials_needed(wide, 0.0, None, 0.05) == wanted
    # Of two bounds at the same distance both must be kept.
    both = trials_needed(known(0.0, error, (5,)), -distance, distance, 0.05)
    assert both is not None and both >= wanted
    assert trials_needed(known(0.0, error, (5,)), -distance, 99.0, 0.05) == wanted


def test_an_undecided_claim_always_needs_more_trials() -> None:
    """6 and 7 trials are between 6 and 7 of each: with 7 of each it is decided, if it can be."""
    assert trials_needed(known(100.0, 1.0, (6, 7)), 0.0, None, 0.05) == 7
    assert trials_needed(known(100.0, 1.0, (7, 7)), 0.0, None, 0.05) == 8
    assert trials_needed(known(1e6, 1.0, (2,)), 0.0, None, 0.05) == 3


@pytest.mark.parametrize("shift", [-20.0, 7.0])
@pytest.mark.parametrize(
    ("value", "low", "high"),
    [(1.0, 0.0, None), (-1.0, None, 0.0), (-1.0, 0.0, None), (1.0, None, 0.0), (0.0, -1.0, 1.5)],
)
def test_only_the_distance_of_value_and_bound_matters(
    value: float, low: float | None, high: float | None, shift: float
) -> None:
    def needed(by: float) -> int | None:
        ends = [None if end is None else end + by for end in (low, high)]
        seen = known(value + by, 1 / math.sqrt(5), (5,), below=0.2, above=0.1)
        return trials_needed(seen, *ends, 0.05)

    assert needed(shift) == needed(0.0) is not None
    side = 0.2 if value > 0 else 0.1
    if value:
        nearer = known(1.0 - side, 1 / math.sqrt(5), (5,))
        assert needed(0.0) == trials_needed(nearer, 0.0, None, 0.05)


@pytest.mark.parametrize(("df", "critical"), [(2.0, 4.3), (4.0, 2.78), (30.0, 2.04)])
def test_power_follows_the_noncentral_t_distribution(df: float, critical: float) -> None:
    for away in (0.0, 0.5, 2.0, 5.0, 29.0):
        oracle = float(stats.nct.sf(critical, df, away))
        assert exceeds(away, df, critical) == pytest.approx(oracle, abs=1e-6)
    assert exceeds(31.0, df, 32.0) == pytest.approx(float(stats.norm.sf(1.0)))


def test_power_within_two_bounds_is_the_chance_of_keeping_both() -> None:
    """By the noncentral t: the error shrinks with the root of the trials, which were 5 on average,
    and the degrees of freedom grow with those less one."""
    value, error, df, level = 0.4, 0.5, 7.5, 0.02
    seen = Estimate(value, "tested", "t", error, df, n=(4, 6))

    def power(n: int) -> float:
        own_df = df * (n - 1) / 4
        edge = stats.t.ppf(1 - level / 2, own_df)
        root = error * math.sqrt(5 / n)
        missed = [stats.nct.cdf(edge, own_df, d / root) for d in (value + 1.0, 2.0 - value)]
        return float(1 - sum(missed))

    needed = trials_needed(seen, -1.0, 2.0, level)
    assert needed is not None and needed > 6
    assert power(needed) >= 0.8 > power(needed - 1)


def test_no_trials_are_requested_for_an_undecidable_claim() -> None:
    error = 1 / math.sqrt(5)
    assert trials_needed(known(0.0, error, (5,)), 0.0, None, 0.05) is None
    assert trials_needed(known(0.2, error, (5,), below=0.3), 0.0, None, 0.05) is None
    assert trials_needed(known(0.001, error, (5,)), 0.0, None, 0.05) is None
    # Nor where only one of both bounds lies within the digits.
    assert trials_needed(known(0.2, error, (5,), below=0.3), 0.0, 50.0, 0.05) is None
    assert trials_needed(known(0.2, error, (5,), above=0.3), -50.0, 0.4, 0.05) is None
    assert trials_needed(Estimate(1.0, "all equal", "none"), 0.0, None, 0.05) is None


@pytest.mark.parametrize(("scale", "step"), [("linear", 3.0), ("log", 3.0 / 260)])
def test_a_drift_is_no_more_certain_than_the_reading_steps_allow(scale: str, step: float) -> None:
    """Of four equal values at places 1, 2, 3 and 5: a slope's error is sd / sqrt(8.75), times 4."""
    seen = change(Trials((260.0,) * 4, (), (1, 2, 3, 5), resolution=3.0), scale)  # type: ignore[arg-type]
    assert (seen.value, seen.basis, seen.df, seen.n) == (0.0, "tested", 2.0, (4,))
    assert seen.error == pytest.approx(4 * step / math.sqrt(12) / math.sqrt(8.75))
    by_log = change(Trials((10.0, 20.0, 40.0), (), (0, 1, 2)), "log")
    assert by_log.value == pytest.approx(math.log(4))
    stands = change(Trials((1.0, 2.0), (), (3, 3)), "linear")
    assert (stands.basis, stands.value, stands.n) == ("too few", 0.0, (2,))
    # Two places, of which the squares add up to 1; and values of which the variance is 1.
    two = change(Trials((1.0, 2.0, 3.0, 5.0), (), (0, 0, 1, 1)), "linear")
    assert (two.basis, two.value) == ("tested", 2.5)
    one = change(Trials((1.0, -1.0, 0.0, 0.0, -1.0, 1.0), (), tuple(range(6))), "linear")
    assert (one.basis, one.value, one.df) == ("tested", 0.0, 4.0)
    assert one.error == pytest.approx(5 * math.sqrt(1 / 17.5))
    assert change(Trials((5.0,) * 3, (), (0, 1, 2)), "linear").basis == "all equal"
