"""The share of the variation that a factor explains, against scipy."""

import numpy as np
import pytest
from published_trials import W2K
from scipy import stats

from lanlab.analysis.statistics.explained import explained_share
from lanlab.errors import NoSpread, UnfitValues

TIMES_S = [time for trials in W2K.values() for time in trials]
PROTOCOL = [protocol for (protocol, _), trials in W2K.items() for _ in trials]


def test_the_explained_share_agrees_with_scipys_anova() -> None:
    times, protocols = TIMES_S[:-2], PROTOCOL[:-2]
    names = dict.fromkeys(protocols)
    groups = [[np.log(t) for t, p in zip(times, protocols, strict=True) if p == n] for n in names]
    f = float(stats.f_oneway(*groups).statistic)
    df, left = len(groups) - 1, len(times) - len(groups)
    seen = explained_share(times, protocols, scale="log")

    assert seen.share == pytest.approx(df * f / (df * f + left))


def test_interval_ends_have_the_stated_probability_of_f() -> None:
    random = np.random.default_rng(8)
    levels = [0, 1, 2] * 4
    for _ in range(20):
        values = random.normal(0, 1, 12)
        seen = explained_share(values, levels)
        f, p = stats.f_oneway(*(values[place::3] for place in range(3)))
        assert (seen.low > 0) == (p < 0.025)
        for end, chance in ((seen.low, 0.025), (seen.high, 0.975)):
            if end > 0:
                assert stats.ncf.sf(f, 2, 9, 12 * end / (1 - end)) == pytest.approx(
                    chance, rel=1e-4
                )


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ([1] * 6, "need at least 2 and fewer than 6 trials, got 1"),
        ([1, 2], "need one for each of 6 values, got 2"),
        ([1, 2, 3, 4, 5, 6], "need at least 2 and fewer than 6 trials, got 6"),
    ],
)
def test_levels_without_enough_trials_are_refused(levels: list[int], said: str) -> None:
    with pytest.raises(UnfitValues, match=said):
        explained_share([1, 2, 3, 5, 8, 13], levels)


def test_zero_has_no_logarithm() -> None:
    with pytest.raises(UnfitValues, match="on a log scale"):
        explained_share([0, 2, 3, 5, 8, 13], [1, 2] * 3, scale="log")


@pytest.mark.parametrize(
    "values",
    # Of the last, two differ by their rounding.
    [[5] * 6, [1, 2] * 3, [0.1, 0.3] * 3, [1e9, 1e9 + 1] * 3, [0.3, 0.3, 0.1 + 0.2] * 2],
)
def test_no_variation_gives_no_explained_share(values: list[float]) -> None:
    with pytest.raises(NoSpread, match="all trials are equal"):
        explained_share(values, [1, 2] * 3)


def test_three_trials_of_two_levels_suffice() -> None:
    assert explained_share([1.0, 2.0, 5.0], ["a", "a", "b"]).share == pytest.approx(147 / 156)
    with pytest.raises(UnfitValues, match="at least 3"):
        explained_share([1.0, 5.0], ["a", "b"])


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_rounding_errors_do_not_count_as_variation(unit: float) -> None:
    low, high = 0.1 + 0.2, 0.7
    values = [low, 0.3, low, 0.3, high, high]
    with pytest.raises(NoSpread, match="all trials are equal"):
        explained_share([unit * value for value in values], [1, 1, 1, 1, 2, 2])
    with pytest.raises(NoSpread, match="all trials are equal"):
        explained_share([unit * value for value in (low, 0.3, low, 0.3)], [1, 1, 2, 2])


def test_a_nearly_complete_explanation_has_an_interval_close_to_one() -> None:
    values = [1.0, 1.001, 5.0, 5.001, 9.0, 9.001]
    levels = [0, 0, 1, 1, 2, 2]
    seen = explained_share(values, levels)
    f, _ = stats.f_oneway(values[:2], values[2:4], values[4:])

    assert f > 1e6
    for end, chance in ((seen.low, 0.025), (seen.high, 0.975)):
        noncentrality = 6 * end / (1 - end)
        # 3 degrees are left: F times 2 / noncentrality is about 3 / χ² of them.
        assert stats.chi2.cdf(3 * noncentrality / (2 * f), 3) == pytest.approx(chance, rel=0.02)
