"""What is taken where nobody says otherwise: 95 % everywhere, as docs/statistics.md says."""

from __future__ import annotations

import inspect

import pytest

from lanlab.analysis import statistics

DEFAULTS = {
    "confidence": 0.95,
    "level": 0.05,
    "power": 0.8,
    "cap": 1_000,
    "resolution": 0.0,
    "exceed_ratio": 0.0,
    "order": 2,
    "batch": 5,
    "blocks_left_out": 0,
    "resamples": 9_999,
}


@pytest.mark.parametrize("name", statistics.__all__)
def test_it_is_the_same_for_every_statistic(name: str) -> None:
    given = getattr(statistics, name)
    if not callable(given) or not hasattr(given, "__module__"):
        return
    if not given.__module__.startswith("lanlab"):
        return
    for parameter in inspect.signature(given).parameters.values():
        default = parameter.default
        if isinstance(default, float | int) and not isinstance(default, bool):
            assert (parameter.name, default) == (parameter.name, DEFAULTS[parameter.name])


def test_these_have_defaults_at_all() -> None:
    given = [
        (name, parameter.name)
        for name in statistics.__all__
        if inspect.isfunction(function := getattr(statistics, name))
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is not parameter.empty
    ]
    assert ("mean_interval", "confidence") in given
    assert {parameter for _, parameter in given} >= DEFAULTS.keys() - {"blocks_left_out"}
