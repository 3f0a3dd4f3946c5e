"""Equivalence, against statsmodels and pingouin."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from published_trials import VISTA
from statsmodels.stats.weightstats import ttost_ind

from lanlab.analysis.statistics.equivalence import Margin, tost
from lanlab.analysis.statistics.two_groups import welch, welch_printed
from lanlab.errors import UsageError

values = st.lists(st.floats(50, 150), min_size=2, max_size=12)


@given(values, values, st.floats(0.1, 60))
def test_equivalence_agrees_with_statsmodels_and_the_interval(
    a: list[float], b: list[float], margin: float
) -> None:
    assume(np.ptp(a) > 0.1 and np.ptp(b) > 0.1)
    compared = welch(a, b)
    seen, (low, high) = tost(compared, Margin.of_difference(margin)), compared.interval(0.9)

    assert seen.p == pytest.approx(
        ttost_ind(np.array(a), np.array(b), -margin, margin, usevar="unequal")[0], abs=1e-9
    )
    assume(abs(seen.p - 0.05) > 1e-9)
    assert (seen.verdict == "equivalent") == (-margin < low and high < margin)
    assert (seen.verdict == "different") == (low > margin or high < -margin)


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
