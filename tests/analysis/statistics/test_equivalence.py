"""Equivalence, against statsmodels and pingouin."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from published_trials import VISTA, W2K
from statsmodels.stats.weightstats import ttost_ind, ttost_paired

from lanlab.analysis.statistics import Margin, paired_by_block, tost, welch, welch_printed
from lanlab.errors import UsageError

values = st.lists(st.floats(50, 150), min_size=2, max_size=12)


@given(values, values, st.floats(0.1, 60))
def test_equivalence_agrees_with_statsmodels_and_the_interval(
    a: list[float], b: list[float], margin: float
) -> None:
    assume(np.ptp(a) > 0.1 and np.ptp(b) > 0.1)
    seen = tost(welch(a, b), Margin.of_difference(margin))

    assert seen.p == pytest.approx(
        ttost_ind(np.array(a), np.array(b), -margin, margin, usevar="unequal")[0], abs=1e-9
    )
    assume(abs(seen.p - 0.05) > 1e-9)
    assert (seen.verdict == "equivalent") == (-margin < seen.low and seen.high < margin)
    assert (seen.verdict == "different") == (seen.low > margin or seen.high < -margin)


def test_a_ratio_is_tested_on_logarithms() -> None:
    a, b = W2K["nwlink", 1], W2K["netbeui", 1]
    seen = tost(welch(a, b, scale="log"), Margin.of_ratio(0.1))
    edge = np.log(1.1)

    assert seen.p == pytest.approx(
        ttost_ind(np.log(a), np.log(b), -edge, edge, usevar="unequal")[0]
    )


def test_results_match_pingouin() -> None:
    """pingouin 0.7.0: tost(nwlink, netbeui, bound=10, correction=True), and paired=True."""
    a, b = W2K["nwlink", 1], W2K["netbeui", 1]
    margin = Margin.of_difference(10)
    by_block = paired_by_block(dict(enumerate(a)), dict(enumerate(b)), scale="linear")

    assert tost(welch(a, b), margin).p == pytest.approx(0.017570848489)
    assert tost(by_block, margin).p == pytest.approx(0.001061441527)
    assert tost(by_block, margin).p == pytest.approx(
        ttost_paired(np.array(a, float), np.array(b, float), -10, 10)[0]
    )


@pytest.mark.parametrize(
    ("size", "margin", "verdict"),
    [(1408, 0.02, "equivalent"), (1408, 0.012, "undecided"), (128, 0.05, "different")],
)
def test_a_significant_difference_may_still_be_equivalent(
    size: int, margin: float, verdict: str
) -> None:
    """IPv4 is 1.2 % faster than IPv6 at 1408 bytes, which chance does not explain: within a margin
    of 2 % it is equivalent all the same. At 128 bytes it is 10 % faster."""
    compared = welch_printed(VISTA["ipv4", size], VISTA["ipv6", size], scale="log")

    assert compared.differs
    assert tost(compared, Margin.of_ratio(margin)).verdict == verdict


def test_a_margin_is_symmetric_as_a_ratio() -> None:
    a, b = W2K["nwlink", 1], W2K["netbeui", 1]
    margin = Margin.of_ratio(0.07)

    assert tost(welch(a, b, scale="log"), margin).p == pytest.approx(
        tost(welch(b, a, scale="log"), margin).p
    )
    assert (margin.low, margin.high) == (1 / 1.07, 1.07)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Margin.of_ratio(0),
        lambda: Margin.of_ratio(-0.1),
        lambda: Margin.of_difference(0),
        lambda: Margin(1.01, 1.05, "log"),
        lambda: Margin(1.0, 1.05, "log"),
        lambda: Margin(0.95, 1.0, "log"),
        lambda: Margin(0.0, 1.05, "log"),
        lambda: Margin(-1, 1.05, "log"),
        lambda: Margin(0.0, 1.0, "linear"),
        lambda: Margin(-1.0, 0.0, "linear"),
        lambda: Margin(0.9, float("inf"), "log"),
        lambda: Margin(0.95, 1.05, "linear"),
        lambda: Margin(-1, float("nan"), "linear"),
        lambda: Margin(-float("inf"), 1, "linear"),
    ],
)
def test_a_margin_that_excludes_equality_is_refused(make: object) -> None:
    with pytest.raises(UsageError, match="margin"):
        make()  # type: ignore[operator]


def test_the_error_of_a_margin_names_the_value_it_must_include() -> None:
    with pytest.raises(UsageError, match="as a ratio it must enclose 1"):
        Margin(1.01, 1.05, "log")
    with pytest.raises(UsageError, match="as a difference it must enclose 0"):
        Margin(1.01, 1.05, "linear")


def test_the_error_of_a_margin_quotes_the_input() -> None:
    for share in (0.0, -0.1, float("nan")):
        with pytest.raises(UsageError, match=f"need a share above 0, got {share:g}"):
            Margin.of_ratio(share)


def test_a_margin_on_another_scale_is_refused() -> None:
    with pytest.raises(UsageError, match="found the log scale; allowed: the linear scale"):
        tost(welch([1, 2], [1, 3]), Margin.of_ratio(0.05))
    for level in (0.5, 0.0, float("nan")):
        with pytest.raises(UsageError, match=f"above 0 and below 0.5, got {level:g}"):
            tost(welch([1, 2], [1, 3]), Margin.of_difference(1), level=level)
