"""How often statistics and verdicts err, and see what is there, by simulation: as they claim."""

import numpy as np
import pytest
from case import Case, chance_bounds
from coverage_cases import CASES as COVERAGE_CASES
from finding_cases import FINDING_CASES

from lanlab.analysis.statistics.least_squares import fit_groups

CASES = [*COVERAGE_CASES, *FINDING_CASES]


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
    assert all(0 < high - low <= 0.35 for low, high in (case.few_bounds for case in COVERAGE_CASES))
    assert len({case.name + case.kind for case in CASES}) == len(CASES)


@pytest.mark.parametrize("draws", [300, pytest.param(2000, marks=pytest.mark.long)])
@pytest.mark.parametrize("spreads", [(0.01, 0.01, 0.01), (0.002, 0.05, 0.01)])
def test_intervals_of_fitted_costs_hold_the_truth_as_often_as_claimed(
    spreads: tuple[float, ...], draws: int
) -> None:
    rng = np.random.default_rng(20)
    columns = {"byte": [600.0, 400.0, 50.0], "file": [1.0, 200.0, 900.0]}
    truth = {"byte": 0.1, "file": 0.08}
    hold = dict.fromkeys(truth, 0)
    for _ in range(draws):
        groups = []
        for place, spread in enumerate(spreads):
            mean = sum(truth[name] * columns[name][place] for name in truth)
            groups.append(rng.normal(mean, spread * mean, 5).tolist())
        fit = fit_groups(columns, groups)
        for name, value in truth.items():
            found = fit.coefficients[name]
            assert found.low is not None and found.high is not None
            hold[name] += found.low <= value <= found.high
    low, high = (0.93, 0.975) if draws == 2000 else chance_bounds(0.93, 0.975, draws)
    for held in hold.values():
        assert low <= held / draws <= high
