"""How often comparisons claim what is not so, of runs under load and of trials in two modes."""

import pytest
from case import Case
from mode_cases import MODE_CASES
from run_cases import CASES as RUN_CASES


@pytest.mark.parametrize(
    "case", [*MODE_CASES, *RUN_CASES[::4]], ids=lambda case: f"{case.kind}: {case.name}"
)
def test_comparisons_are_wrong_as_often_as_claimed(case: Case) -> None:
    low, high = case.few_bounds
    assert low <= case.few_share() <= high


@pytest.mark.long
@pytest.mark.parametrize(
    "case", [*MODE_CASES, *RUN_CASES], ids=lambda case: f"{case.kind}: {case.name}"
)
def test_comparisons_over_all_draws_are_wrong_as_often_as_claimed(case: Case) -> None:
    assert case.low <= case.share() <= case.high
