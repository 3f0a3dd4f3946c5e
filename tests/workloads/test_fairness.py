"""Jain's index, by what it must be whatever the flows."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanlab.workloads.fairness import jain_index

goodputs = st.lists(st.floats(1e-3, 1e12), min_size=1, max_size=40)


@given(goodputs)
def test_jains_index_lies_between_one_over_n_and_one(
    flows: list[float],
) -> None:
    assert 1 / len(flows) <= jain_index(flows) * (1 + 1e-12)
    assert jain_index(flows) <= 1
    assert jain_index([flows[0]] * len(flows)) == pytest.approx(1)
    assert jain_index([flows[0]] + [0] * (len(flows) - 1)) == pytest.approx(1 / len(flows))


@given(goodputs, st.floats(1e-6, 1e6))
def test_the_index_does_not_depend_on_the_unit(flows: list[float], unit: float) -> None:
    assert jain_index([unit * flow for flow in flows]) == pytest.approx(jain_index(flows))


@pytest.mark.parametrize(
    ("flows", "said"),
    [
        ([], "need at least one flow"),
        ([1.0, -1.0], "finite and not negative"),
        ([1.0, math.nan], "finite and not negative"),
        ([0.0, 0.0], "every value is zero"),
    ],
)
def test_flows_without_shares_are_refused(flows: list[float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        jain_index(flows)
