"""How often two sides that are the same are told apart, by simulation on machines with load."""

import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"

if not BENCH.is_dir():
    pytest.skip("the bench is not part of what is installed", allow_module_level=True)
sys.path.insert(0, str(BENCH))

from case import Case  # noqa: E402
from run_cases import CASES  # noqa: E402


@pytest.mark.parametrize("case", CASES[::4], ids=lambda case: f"{case.kind}: {case.name}")
def test_error_shares_match_the_table(case: Case) -> None:
    low, high = case.few_bounds
    assert low <= case.few_share() <= high


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}: {case.name}")
def test_error_shares_over_all_draws_match_the_table(case: Case) -> None:
    assert case.low <= case.share() <= case.high
