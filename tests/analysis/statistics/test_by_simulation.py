"""Intervals hold the truth, tests are wrong and plans suffice as often as they say."""

import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the bench is not part of what is installed", allow_module_level=True)
sys.path.insert(0, str(BENCH))

from case import Case  # noqa: E402
from coverage_cases import CASES  # noqa: E402


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}: {case.name}")
def test_error_rates_are_as_claimed(case: Case) -> None:
    low, high = case.few_bounds
    assert low <= case.few_share() <= high


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}: {case.name}")
def test_error_rates_over_all_draws_are_as_claimed(case: Case) -> None:
    assert case.low <= case.share() <= case.high


def test_every_case_can_fail() -> None:
    assert all(0 < case.high - case.low <= 0.35 for case in CASES)
    assert all(0 < high - low <= 0.35 for low, high in (case.few_bounds for case in CASES))
    assert len({case.name + case.kind for case in CASES}) == len(CASES)
