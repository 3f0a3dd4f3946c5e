"""What is taken where nobody says otherwise: 95 % everywhere, as docs/statistics.md says."""

import inspect

import pytest

from lanlab.analysis import statistics

DEFAULTS = {
    "level": 0.05,
    "power": 0.8,
    "cap": 1_000,
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
