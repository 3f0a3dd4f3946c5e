"""Verdicts are wrong no more often than they say, and not silent either."""

import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the bench is not part of what is installed", allow_module_level=True)
sys.path.insert(0, str(BENCH))

from case import Case  # noqa: E402
from finding_cases import FINDING_CASES  # noqa: E402


@pytest.mark.parametrize("case", FINDING_CASES, ids=lambda case: f"{case.kind}: {case.name}")
def test_verdicts_are_wrong_no_more_often_than_claimed(case: Case) -> None:
    low, high = case.few_bounds
    assert low <= case.few_share() <= high


@pytest.mark.long
@pytest.mark.parametrize("case", FINDING_CASES, ids=lambda case: f"{case.kind}: {case.name}")
def test_over_all_draws_verdicts_are_wrong_no_more_often_than_claimed(case: Case) -> None:
    assert case.low <= case.share() <= case.high
