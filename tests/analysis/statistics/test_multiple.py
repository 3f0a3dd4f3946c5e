"""Adjusted p, against statsmodels."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from lanlab.analysis.statistics.multiple import holm
from lanlab.errors import UnfitValues

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=15)


@settings(max_examples=15)  # Holm's takes statsmodels 0.1 s
@given(p_values)
def test_corrected_p_values_agree_with_statsmodels(p: list[float]) -> None:
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_no_claims_give_no_p_values() -> None:
    assert holm([]) == ()


@pytest.mark.parametrize("p", [-0.1, 1.1, math.nan])
def test_an_invalid_p_is_refused(p: float) -> None:
    with pytest.raises(UnfitValues, match=r"from 0 to 1, found .* at position 1"):
        holm([0.5, p])
