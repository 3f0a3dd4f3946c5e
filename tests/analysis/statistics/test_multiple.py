"""Adjusted p, against statsmodels."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from lanlab.analysis.statistics import benjamini_hochberg, holm, holm_by_family
from lanlab.errors import UnfitValues

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=15)


@settings(max_examples=15)  # Holm's takes statsmodels 0.1 s
@given(p_values)
def test_they_are_statsmodels_and_keep_the_order(p: list[float]) -> None:
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])
    assert benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1])
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p))


@given(p_values)
def test_no_claim_gains(p: list[float]) -> None:
    assert all(own <= adjusted <= 1 for own, adjusted in zip(p, holm(p), strict=True))
    assert all(
        loose <= strict + 1e-15
        for loose, strict in zip(benjamini_hochberg(p), holm(p), strict=True)
    )


def test_no_claims_are_no_p() -> None:
    assert holm([]) == benjamini_hochberg([]) == ()


def test_families_do_not_pay_for_each_other() -> None:
    """Each is adjusted by its own number, and comes back in its place."""
    claims = {"a": ("x", 0.01), "b": ("y", 0.02), "c": ("x", 0.03), "d": ("x", 0.03)}
    adjusted = holm_by_family(claims)

    assert list(adjusted) == ["a", "b", "c", "d"]
    assert list(adjusted.values()) == pytest.approx([0.03, 0.02, 0.06, 0.06])


@pytest.mark.parametrize("p", [-0.1, 1.1, math.nan])
@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_what_is_no_p_is_refused(adjust: object, p: float) -> None:
    with pytest.raises(UnfitValues, match=r"from 0 to 1, found .* at position 1"):
        adjust([0.5, p])  # type: ignore[operator]
