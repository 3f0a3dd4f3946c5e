"""Findings on a simulation: what the model's error leaves open is undecided."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from bodies_of_evidence import cell, finding, trials
from given_numbers import Given

from lanlab.analysis.findings.build import build
from lanlab.analysis.findings.by_model import of_a_model, truth_by_model
from lanlab.analysis.findings.claim import Comparison, comparisons

#: The model's error of a value: right within a factor of 1.2.
LOG = math.log(1.2)


def simulated(
    form: str,
    means: Mapping[str, float],
    log: float | None = LOG,
    limit: float | None = None,
    **statement: Any,
) -> Comparison:
    """The comparison of a statement about simulated means, by level of `os`."""
    cells = [replace(cell(trials(mean), os=level), limit=limit) for level, mean in means.items()]
    node = build(finding(form, **statement).statement, Given(cells, is_model=True))
    [one] = comparisons(of_a_model(node, lambda metric: log))
    return one


A_B = {"a": {"os": "xp"}, "b": {"os": "linux"}}


@pytest.mark.parametrize(
    ("linux", "truth"),
    # Two errors of 1.2 make one of 1.294 in a ratio.
    [(12.5, "undecided"), (13.5, "holds"), (8.0, "undecided"), (7.5, "does not hold")],
)
def test_a_difference_within_the_models_error_is_undecided(linux: float, truth: str) -> None:
    one = simulated("less", {"xp": 10.0, "linux": linux}, **A_B)
    assert truth_by_model(one) == truth
    assert one.point == ("holds" if linux > 10 else "does not hold")
    factor = 1.2 ** math.sqrt(2)
    assert one.model_factor == pytest.approx(factor)
    assert one.interval(0.95) == pytest.approx((one.value / factor, one.value * factor))


def test_without_a_known_error_nothing_is_decided() -> None:
    one = simulated("less", {"xp": 10.0, "linux": 1000.0}, None, **A_B)
    assert (one.point, truth_by_model(one)) == ("holds", "undecided")
    assert math.isinf(one.model_factor)


def test_a_single_value_has_one_error_and_stays_possible() -> None:
    at = {"os": "xp"}
    one = simulated("value", {"xp": 10.0}, at=at, min=8.5)
    assert one.interval(0.95) == pytest.approx((10 / 1.2, 12.0))
    assert truth_by_model(one) == "undecided"
    limited = simulated("value", {"xp": 10.0}, limit=11.0, at=at, max=11.0)
    assert limited.interval(0.95) == pytest.approx((10 / 1.2, 11.0))
    assert truth_by_model(limited) == "holds"


def test_a_difference_adds_the_errors_of_both_sides() -> None:
    one = simulated("difference", {"xp": 10.0, "linux": 20.0}, **A_B, max=-2.0)
    low = -10 - math.hypot(10 - 10 / 1.2, 4.0)
    high = -10 + math.hypot(2.0, 20 - 20 / 1.2)
    assert one.interval(0.95) == pytest.approx((low, high))
    assert truth_by_model(one) == "holds"


def test_a_change_along_levels_has_the_error_of_its_ends() -> None:
    means = {"xp": 10.0, "linux": 20.0}
    one = simulated("trend", means, along="os", direction="rising")
    assert one.model_factor == pytest.approx(1.2 ** math.sqrt(2))
    assert truth_by_model(one) == "holds"
