"""Several groups, against scipy, statsmodels and pingouin; rankings, by what letters must say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published_trials import W2K, W98
from scipy import stats
from statsmodels.stats.oneway import anova_oneway

from lanlab.analysis.statistics import games_howell, rank, welch, welch_anova
from lanlab.analysis.statistics.many_groups import _letters
from lanlab.analysis.statistics.studentized_range import range_isf, range_sf
from lanlab.errors import NoSpread, UnfitValues

ONE = {name: W2K[name, 1] for name in ("tcpip", "nwlink", "netbeui")}


@pytest.mark.parametrize("groups", [2, 3, 6, 20])
@pytest.mark.parametrize("df", [1.0, 2.3, 5.0, 30.0, 400.0])
def test_the_studentized_range_is_scipys(groups: int, df: float) -> None:
    for q in (0.5, 2.0, 4.0, 15.0):
        oracle = stats.studentized_range.sf(q, groups, df)
        assert range_sf(q, groups, df) == pytest.approx(oracle, abs=2e-8)
    assert range_sf(range_isf(0.05, groups, df), groups, df) == pytest.approx(0.05, abs=1e-8)
    assert range_sf(0, groups, df) == pytest.approx(1)


def test_of_two_groups_it_is_students() -> None:
    """Deep in the tail, too, where a difference of chances would have no digits left."""
    for t in (1.0, 5.0, 40.0):
        assert range_sf(2**0.5 * t, 2, 6) == pytest.approx(2 * stats.t.sf(t, 6), rel=1e-5)


def test_welchs_analysis_of_variance_is_that_of_scipy_statsmodels_and_pingouin() -> None:
    for scale, groups in (
        ("linear", list(ONE.values())),
        ("log", [np.log(group) for group in ONE.values()]),
    ):
        seen = welch_anova(ONE, scale=scale)
        scipys = stats.f_oneway(*groups, equal_var=False)
        statsmodels = anova_oneway(groups, use_var="unequal")
        assert (seen.f, seen.p) == pytest.approx((scipys.statistic, scipys.pvalue))
        assert (seen.f, seen.p) == pytest.approx((statsmodels.statistic, statsmodels.pvalue))
        assert (seen.df_between, seen.df_within) == pytest.approx(statsmodels.df)
    # pingouin 0.7.0: welch_anova(data, dv="s", between="p")
    linear = welch_anova(ONE)
    assert (linear.f, linear.df_within) == pytest.approx((272.459875276035, 7.006781548477))
    assert linear.p == pytest.approx(0.000000227144, rel=1e-5)


def test_games_howell_is_that_of_scipy_and_pingouin() -> None:
    found = {(pair.a, pair.b): pair for pair in games_howell(ONE)}
    oracle = stats.tukey_hsd(*ONE.values(), equal_var=False)
    interval = oracle.confidence_interval()
    # pingouin 0.7.0: pairwise_gameshowell(data, dv="s", between="p")
    pingouin = {
        ("tcpip", "nwlink"): 0.000003844139,
        ("tcpip", "netbeui"): 0.000008322349,
        ("nwlink", "netbeui"): 0.604753220813,
    }

    for (i, a), (j, b) in itertools.combinations(enumerate(ONE), 2):
        pair = found[a, b]
        assert pair.p == pytest.approx(oracle.pvalue[i, j], rel=1e-4, abs=1e-9)
        assert pair.p == pytest.approx(pingouin[a, b], rel=1e-3)
        assert (pair.low, pair.high) == pytest.approx((interval.low[i, j], interval.high[i, j]))


def test_two_groups_are_welchs() -> None:
    pair = games_howell({"a": ONE["nwlink"], "b": ONE["netbeui"]}, scale="log")[0]
    seen = welch(ONE["nwlink"], ONE["netbeui"], scale="log")

    assert (pair.effect, pair.p) == pytest.approx((seen.effect, seen.p_two_sided))
    assert (pair.low, pair.high) == pytest.approx((seen.low, seen.high))


def test_published_times_rank_with_a_tie() -> None:
    """On Windows 2000 TCP/IP is first, and the others are not told apart."""
    rows = rank(ONE, greatest_first=False)

    assert [(row.name, row.letters) for row in rows] == [
        ("tcpip", "a"),
        ("nwlink", "b"),
        ("netbeui", "b"),
    ]
    assert [row.place for row in rows] == ["1", "2 to 3, tied", "2 to 3, tied"]
    assert [row.tied_with for row in rows] == [(), ("netbeui",), ("nwlink",)]
    assert [row.name for row in rank(ONE, greatest_first=True)] == ["netbeui", "nwlink", "tcpip"]


def test_a_group_may_be_tied_with_two_that_differ() -> None:
    """A chain: it has the letters of both, and its place may be any of theirs."""
    groups = {
        name: [mean + off for off in (-3, -1, 0, 1, 3)]
        for name, mean in (("low", 10.0), ("middle", 13.5), ("high", 17.0))
    }
    rows = rank(groups, greatest_first=False)

    assert [row.letters for row in rows] == ["a", "ab", "b"]
    assert [row.place for row in rows] == ["1 to 2, tied", "1 to 3, tied", "2 to 3, tied"]


@settings(max_examples=200)
@given(st.integers(2, 8), st.randoms(use_true_random=False))
def test_groups_share_a_letter_exactly_if_they_do_not_differ(count: int, random: object) -> None:
    pairs = [frozenset(pair) for pair in itertools.combinations(range(count), 2)]
    differing = {pair for pair in pairs if random.random() < 0.5}  # type: ignore[attr-defined]
    columns = _letters(count, differing)

    for pair in pairs:
        assert any(pair <= column for column in columns) == (pair not in differing)
    assert all(any(at in column for column in columns) for at in range(count))
    assert not any(one < other for one in columns for other in columns)


def test_a_group_without_spread_is_compared_but_not_weighed() -> None:
    groups = {name: W98[name, 2] for name in ("tcpip", "nwlink", "netbeui")}

    assert [row.letters for row in rank(groups, greatest_first=False)] == ["a", "b", "b"]
    with pytest.raises(NoSpread, match="all 4 values of `nwlink` are equal"):
        welch_anova(groups)
    assert welch_anova(groups, resolution=1).p < 1e-4
    with pytest.raises(NoSpread, match="all values of `a` are equal, and all of `b`"):
        rank({"a": [1, 1], "b": [2, 2]}, greatest_first=True)
    assert rank({"a": [1, 1], "b": [2, 2]}, greatest_first=True, resolution=1)[0].letters == "a"


def test_unfit_groups_are_refused_by_name() -> None:
    with pytest.raises(UnfitValues, match="groups: need at least 2, got 1"):
        games_howell({"a": [1, 2]})
    with pytest.raises(UnfitValues, match="group `b`: need at least 2 values, got 1"):
        rank({"a": [1, 2], "b": [3]}, greatest_first=True)
    with pytest.raises(UnfitValues, match="group `b`: on a log scale"):
        welch_anova({"a": [1, 2], "b": [3, -1]}, scale="log")
