"""What is taken where nobody says otherwise: 95 % everywhere, as docs/statistics.md says."""

import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from lanlab.analysis import statistics
from lanlab.errors import UsageError

DEFAULTS = {
    "confidence": 0.95,
    "level": 0.05,
    "power": 0.8,
    "cap": 1_000,
    "resolution": 0.0,
    "blocks_left_out": 0,
}


@pytest.mark.parametrize("name", statistics.__all__)
def test_every_statistic_has_the_same_default(name: str) -> None:
    given = getattr(statistics, name)
    if not callable(given) or not hasattr(given, "__module__"):
        return
    if not given.__module__.startswith("lanlab"):
        return
    for parameter in inspect.signature(given).parameters.values():
        default = parameter.default
        if isinstance(default, float | int) and not isinstance(default, bool):
            assert (parameter.name, default) == (parameter.name, DEFAULTS[parameter.name])


def test_statistics_with_a_confidence_have_a_default() -> None:
    given = [
        (name, parameter.name)
        for name in statistics.__all__
        if inspect.isfunction(function := getattr(statistics, name))
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is not parameter.empty
    ]
    assert ("two_lines", "confidence") in given
    assert {parameter for _, parameter in given} >= DEFAULTS.keys() - {"blocks_left_out"}


A, B = [10.0, 12.0, 11.0, 15.0], [20.0, 21.0, 25.0, 22.0]
#: Each with data that it takes, by its name.
CALLS: dict[str, Callable[..., Any]] = {
    "explained_share": partial(statistics.explained_share, [*A, *B], [0] * 4 + [1] * 4),
    "two_lines": partial(statistics.two_lines, range(8), [0.0, 1.1, 2.0, 2.9, 4.1, 4.0, 3.9, 4.2]),
}


def test_every_function_with_a_confidence_is_covered() -> None:
    taking = {
        name
        for name in statistics.__all__
        if inspect.isfunction(function := getattr(statistics, name))
        and "confidence" in inspect.signature(function).parameters
    }
    assert taking == CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
def test_a_confidence_is_between_0_and_1(name: str) -> None:
    CALLS[name](confidence=0.5)
    for wrong in (0.0, 1.0, 95.0, -0.1, math.nan):
        with pytest.raises(UsageError, match="confidence: need a number above 0 and below 1"):
            CALLS[name](confidence=wrong)
