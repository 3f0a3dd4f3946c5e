"""
Trials in two modes: one in five 30 % slower, alone or as a spell that lasts for some trials.
`coverage.py` prints how often runs without a difference are told apart, and
`tests/analysis/test_two_modes.py` holds it.
"""

from __future__ import annotations

import numpy as np
from coverage_cases import Case, Random

from lanlab.analysis.comparison import Compared, Sample, compared, judged
from lanlab.analysis.statistics import two_modes

_SLOW, _RATIO, _SD = 0.2, 0.7, 0.01


def spells(random: Random, trials: int, length: float) -> np.ndarray:
    """Factors of trials one after another; a slow spell lasts for so many in the mean."""
    ends, begins = 1 / length, _SLOW / (1 - _SLOW) / length
    slow, found = bool(random.random() < _SLOW), []
    for chance in random.random(trials):
        found.append(_RATIO if slow else 1.0)
        slow = chance >= ends if slow else chance < begins
    return np.array(found)


def two_sides(random: Random, n: int, conditions: int, length: float) -> list[Compared]:
    """Two sides without a difference, one after the other, by Welch's test."""
    factors = spells(random, 2 * n * conditions, length).reshape(2, n, conditions)
    for block in factors.reshape(-1, conditions):
        random.shuffle(block)
    values = 100 * factors * random.lognormal(0, _SD, factors.shape)
    blocks = tuple(range(n))
    return judged(
        [
            compared(
                *(Sample(tuple(run[:, at]), blocks, 0, 0, 0, 1.0) for run in values),
                experiment="e",
                metric="goodput_bps",
                factors={"size": at},
                parameters={},
                names=("RUN1", "RUN2"),
                basis="mixed",
            )
            for at in range(conditions)
        ]
    )


def _called_better(random: Random, n: int, conditions: int, length: float) -> bool:
    return any(one.better is not None for one in two_sides(random, n, conditions, length))


def _seen(random: Random, spread: float, length: float) -> bool:
    values = spells(random, 36, length) * random.lognormal(0, spread, 36)
    return two_modes(list(values.reshape(3, 12).T)) is not None


def _single(n: int, length: float) -> Case:
    name = f"better or worse, {n} and {n} trials, modes that last {length:g}"
    return Case("two modes", name, lambda r: _called_better(r, n, 1, length), 0.0, 0.06, 1_000)


MODE_CASES = (
    _single(3, 1.25),
    _single(10, 1.25),
    _single(10, 2),
    _single(10, 5),
    # Nothing in ten trials shows it: the sentence says so.
    Case(
        "two modes",
        "the same, 5 and 5 that last 5: not seen, but said",
        lambda r: _called_better(r, 5, 1, 5),
        0.06,
        0.2,
        500,
    ),
    Case(
        "two modes",
        "the same of 6 conditions of 3, that last 5",
        lambda r: _called_better(r, 3, 6, 5),
        0.0,
        0.06,
        300,
    ),
    Case("two modes", "seen, 12 conditions of 3", lambda r: _seen(r, _SD, 1.25), 0.9, 1.0, 1_000),
    Case(
        "two modes",
        "seen where there are none",
        lambda r: two_modes(list(r.lognormal(0, 0.05, (12, 3)))) is not None,
        0.0,
        0.02,
        2_000,
    ),
    Case(
        "two modes",
        "the same, 5 and 5 trials",
        lambda r: two_modes(list(r.lognormal(0, 0.05, (2, 5)))) is not None,
        0.0,
        0.03,
        2_000,
    ),
)
