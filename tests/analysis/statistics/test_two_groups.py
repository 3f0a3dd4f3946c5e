"""Comparisons of two conditions, against scipy, statsmodels, pingouin and published trials."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from published_trials import VISTA, W2K, W98, XP
from scipy import stats
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from lanlab.analysis.statistics.multiple import holm
from lanlab.analysis.statistics.samples import PrintedMean
from lanlab.analysis.statistics.two_groups import (
    Comparison,
    KnownSpread,
    by_spread,
    exchanged_p,
    paired_by_block,
    welch,
    welch_printed,
)
from lanlab.errors import NoSpread, UnfitValues, UsageError

#: Difference, its interval, t, degrees of freedom, p and p by Holm over all twelve, of each pair.
PUBLISHED = [
    (W98, "tcpip", "nwlink", 1, -58.25, -60.82, -55.68, -58.87, 4.8, 4.2e-08, 5.1e-07),
    (W98, "tcpip", "netbeui", 1, -2.25, -3.94, -0.56, -3.25, 6.0, 0.018, 0.07),
    (W98, "nwlink", "netbeui", 1, 56.00, 53.44, 58.56, 57.20, 4.7, 6.9e-08, 7.6e-07),
    (W98, "tcpip", "nwlink", 2, 26.75, 25.23, 28.27, 55.88, 3.0, 1.3e-05, 0.0001),
    (W98, "tcpip", "netbeui", 2, -5.00, -14.17, 4.17, -1.69, 3.2, 0.19, 0.56),
    (W98, "nwlink", "netbeui", 2, -31.75, -41.06, -22.44, -10.85, 3.0, 0.0017, 0.0084),
    (W2K, "tcpip", "nwlink", 1, -40.20, -45.37, -35.03, -19.08, 5.9, 1.6e-06, 1.6e-05),
    (W2K, "tcpip", "netbeui", 1, -43.00, -48.80, -37.20, -18.50, 5.5, 3.4e-06, 3.1e-05),
    (W2K, "nwlink", "netbeui", 1, -2.80, -9.35, 3.75, -0.99, 7.9, 0.35, 0.71),
    (W2K, "tcpip", "nwlink", 2, -17.00, -22.21, -11.79, -8.22, 5.4, 0.00031, 0.0022),
    (W2K, "tcpip", "netbeui", 2, -19.00, -25.93, -12.07, -7.14, 4.8, 0.001, 0.006),
    (W2K, "nwlink", "netbeui", 2, -2.00, -9.42, 5.42, -0.63, 7.4, 0.55, 0.71),
]
values = st.lists(st.floats(0.5, 2e3), min_size=2, max_size=12)


def t_of(seen: Comparison) -> float:
    return seen.scaled_effect / seen.standard_error


def test_published_trials_compare_as_calculated_by_hand() -> None:
    adjusted = []
    for table, a, b, size, *worked_out, p, _ in PUBLISHED:
        seen = welch(table[a, size], table[b, size])
        found = [seen.effect, seen.low, seen.high, t_of(seen), seen.df]
        assert found[:4] == pytest.approx(worked_out[:4], abs=0.006)
        assert seen.df == pytest.approx(worked_out[4], abs=0.06)
        assert seen.p_two_sided == pytest.approx(p, rel=0.06)
        adjusted.append(seen.p_two_sided)
    assert list(holm(adjusted)) == pytest.approx([row[-1] for row in PUBLISHED], rel=0.06)


@pytest.mark.parametrize(
    ("a", "b", "effect", "low", "high", "t", "p"),
    [
        (VISTA["ipv4", 128], VISTA["ipv6", 128], 2.5, 2.30, 2.70, 25.1, 5.1e-39),
        (VISTA["ipv4", 1408], VISTA["ipv6", 1408], 1.0, 0.83, 1.17, 11.8, 5.7e-19),
        (XP["ipv4", 384], XP["ipv6", 384], 21.0, 20.71, 21.29, 142.8, 1.3e-89),
        (XP["ipv4", 1152], XP["ipv6", 1152], 10.4, 10.09, 10.71, 66.4, 2.2e-70),
    ],
)
def test_published_moments_compare_as_calculated_by_hand(
    a: PrintedMean, b: PrintedMean, effect: float, low: float, high: float, t: float, p: float
) -> None:
    seen = welch_printed(a, b)

    assert (seen.effect, seen.low, seen.high) == pytest.approx((effect, low, high), abs=0.006)
    assert t_of(seen) == pytest.approx(t, abs=0.06)
    assert seen.p_two_sided == pytest.approx(p, rel=0.06)


@given(values, values, st.sampled_from(["linear", "log"]))
def test_the_test_agrees_with_welch_of_scipy_and_statsmodels(
    a: list[float], b: list[float], scale: str
) -> None:
    assume(np.ptp(a) > 1e-3 and np.ptp(b) > 1e-3)
    seen = welch(a, b, scale=scale)
    x, y = (np.log(a), np.log(b)) if scale == "log" else (np.array(a), np.array(b))
    ends = np.log([seen.low, seen.high]) if scale == "log" else np.array([seen.low, seen.high])
    scipys = stats.ttest_ind(x, y, equal_var=False)
    others = CompareMeans(DescrStatsW(x), DescrStatsW(y))

    assert seen.p_two_sided == pytest.approx(scipys.pvalue, rel=1e-6, abs=1e-12)
    assert (t_of(seen), seen.df) == pytest.approx((scipys.statistic, scipys.df), rel=1e-6, abs=1e-9)
    assert tuple(ends) == pytest.approx(others.tconfint_diff(usevar="unequal"), rel=1e-5, abs=1e-6)


def test_results_match_pingouin() -> None:
    """pingouin 0.7.0: `ttest(tcpip, nwlink, correction=True)`, `compute_effsize(nwlink, netbeui,
    eftype="hedges")`, which takes the usual approximation of the correction, and of which effects
    are of the other sign here and there."""
    seen = welch(W2K["tcpip", 1], W2K["nwlink", 1])
    effect = welch(W2K["nwlink", 1], W2K["netbeui", 1]).hedges_g

    assert (t_of(seen), seen.df, seen.p_two_sided) == pytest.approx(
        (-19.078075714625, 5.910415542364, 0.00000155447), rel=1e-5
    )
    assert (seen.low, seen.high) == pytest.approx((-45.37, -35.03), abs=0.005)
    assert effect == pytest.approx(-0.5641003122716912, rel=0.002)


def blocks(values: list[float]) -> dict[int, float]:
    return dict(enumerate(values))


def test_comparison_by_block_agrees_with_scipys_paired_test() -> None:
    a, b = W2K["nwlink", 1], W2K["netbeui", 1]
    for scale, x, y in (("linear", a, b), ("log", np.log(a), np.log(b))):
        seen = paired_by_block(blocks(a), blocks(b), scale=scale)
        oracle = stats.ttest_rel(x, y)
        interval = oracle.confidence_interval()
        ends = (seen.low, seen.high) if scale == "linear" else np.log([seen.low, seen.high])

        assert (t_of(seen), seen.p_two_sided, seen.df) == pytest.approx(
            (oracle.statistic, oracle.pvalue, oracle.df)
        )
        assert tuple(ends) == pytest.approx(tuple(interval))
        assert (seen.design, seen.n_a, seen.n_b) == ("by block", 5, 5)


def test_blocks_are_paired_by_number_and_unpaired_ones_omitted() -> None:
    whole = paired_by_block({1: 10.0, 2: 20.0, 3: 40.0}, {1: 5.0, 2: 11.0, 3: 19.0})
    other = paired_by_block({3: 40.0, 9: 1.0, 2: 20.0, 1: 10.0}, {1: 5.0, 3: 19.0, 2: 11.0, 7: 2.0})

    assert (other.low, other.high) == pytest.approx((whole.low, whole.high))


def test_two_blocks_have_no_unbiased_effect() -> None:
    assert paired_by_block({1: 10.0, 2: 20.0}, {1: 5.0, 2: 11.0}).hedges_g is None


@pytest.mark.parametrize(
    ("compare", "said"),
    [
        (lambda: welch([1, 1], [2, 2, 2]), "all values of a are equal, and all of b"),
        (lambda: welch_printed(PrintedMean(1, 0, 5), PrintedMean(2, 0, 5)), "all of b"),
        (
            lambda: paired_by_block({1: 2.0, 2: 4.0, 3: 8.0}, {1: 1.0, 2: 2.0, 3: 4.0}),
            "the difference is the same in all 3 blocks",
        ),
    ],
)
def test_no_spread_gives_no_p(compare: object, said: str) -> None:
    with pytest.raises(NoSpread, match=said) as refused:
        compare()  # type: ignore[operator]
    assert "more" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ([1], [1, 2], "a: need at least 2 values, got 1"),
        ([1, 2], [math.nan, 2], "b: every value must be finite"),
        ([1, 2], [0, 2], "b: on a log scale"),
    ],
)
def test_groups_that_cannot_be_compared_are_refused(
    a: list[float], b: list[float], said: str
) -> None:
    with pytest.raises(UnfitValues, match=said):
        welch(a, b, scale="log")


def test_too_few_common_blocks_are_refused() -> None:
    with pytest.raises(UnfitValues, match="at least 2 common blocks, got 1"):
        paired_by_block({1: 1.0, 2: 1.0}, {2: 1.0, 3: 1.0})


@pytest.mark.parametrize(("a", "b", "side"), [([0, 2], [1, 2], "a"), ([1, 2], [0, 2], "b")])
def test_the_block_side_without_a_ratio_is_named(a: list[float], b: list[float], side: str) -> None:
    with pytest.raises(UnfitValues, match=rf"^{side}: "):
        paired_by_block(dict(enumerate(a)), dict(enumerate(b)), scale="log")


def test_a_known_spread_from_other_groups_is_used() -> None:
    """By hand: a standard error of 2 √(1/1 + 1/2), and the t of 4 degrees of freedom: 2.776."""
    seen = by_spread([9.0], [4.0, 6.0], KnownSpread(2.0, 4.0))
    error = 2 * math.sqrt(1.5)

    assert (seen.effect, seen.standard_error) == pytest.approx((4.0, error))
    assert (seen.low, seen.high) == pytest.approx((4 - 2.776445 * error, 4 + 2.776445 * error))
    assert (seen.df, seen.design, seen.n_a, seen.n_b) == (4, "known spread", 1, 2)
    assert (seen.sd_a, seen.sd_b, seen.sd_difference) == (2, 2, None)
    assert seen.p_two_sided == pytest.approx(2 * stats.t.sf(4 / error, 4))
    # Without the bias of 4 degrees of freedom.
    assert seen.hedges_g == pytest.approx(4 / 2 * math.gamma(2) / (math.sqrt(2) * math.gamma(1.5)))


def test_one_value_suffices_only_with_a_known_spread() -> None:
    with pytest.raises(UnfitValues, match="a: need at least 1 values, got 0"):
        by_spread([], [1.0], KnownSpread(2.0, 4.0))
    with pytest.raises(UnfitValues, match="b: need at least 1 values, got 0"):
        by_spread([1.0], [], KnownSpread(2.0, 4.0))


def test_by_block_the_effect_is_in_deviations_of_the_differences() -> None:
    """Differences of 1, 2 and 6: mean 3, deviation √7, and the bias of 2 degrees of freedom."""
    seen = paired_by_block(blocks([2.0, 4.0, 9.0]), blocks([1.0, 2.0, 3.0]), scale="linear")

    assert (seen.effect, seen.sd_difference) == pytest.approx((3, math.sqrt(7)))
    assert seen.standard_error == pytest.approx(math.sqrt(7 / 3))
    assert seen.hedges_g == pytest.approx(3 / math.sqrt(7) * math.gamma(1) / math.gamma(0.5))


@pytest.mark.parametrize("far", [1e6, 1e-6])
def test_rounding_errors_in_differences_do_not_count(far: float) -> None:
    """Steps of 0.1 on either side, whichever of them lies far up."""
    small = [0.1 * place for place in range(1, 6)]
    large = [far + value for value in small]
    for a, b in ((small, large), (large, small)):
        with pytest.raises(NoSpread, match="the difference is the same in all 5 blocks"):
            paired_by_block(blocks(a), blocks(b), scale="linear")


def test_an_interval_has_a_confidence_between_0_and_1() -> None:
    for wrong in (0.0, 1.0, 95.0):
        with pytest.raises(UsageError, match="confidence: need a number above 0 and below 1"):
            welch([1, 2], [1, 3]).interval(wrong)


@pytest.mark.parametrize("count", [7, 20])
def test_exchanged_sides_give_the_p_of_another_implementation(count: int) -> None:
    differences = np.random.default_rng(3).normal(0.4, 1.0, count)
    other = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=40_000, random_state=1
    )
    exact = 1e-12 if count == 7 else 0.01
    assert exchanged_p(differences.tolist()) == pytest.approx(float(other.pvalue), abs=exact)
