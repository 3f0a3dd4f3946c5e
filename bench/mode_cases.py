"""
Trials in two modes: one in five 30 % slower, alone or as a spell that lasts for some trials.
`coverage.py` prints how often a difference is found in runs without one, and
`tests/bench/test_comparison_errors.py` holds it.
"""

from __future__ import annotations

import numpy as np
from case import Case, Random

from lanlab.analysis.comparison.compare import Basis, Compared, Sample, compared, judged
from lanlab.analysis.statistics.condition_mean import condition_mean
from lanlab.analysis.statistics.two_modes import two_modes

_SLOW, _RATIO, _SD = 0.2, 0.7, 0.01


def spells(random: Random, trials: int, length: float) -> np.ndarray:
    """Factors of trials one after another; a slow spell lasts for so many in the mean."""
    ends, begins = 1 / length, _SLOW / (1 - _SLOW) / length
    slow, found = bool(random.random() < _SLOW), []
    for chance in random.random(trials):
        found.append(_RATIO if slow else 1.0)
        slow = chance >= ends if slow else chance < begins
    return np.array(found)


def two_sides(
    random: Random, n: int, conditions: int, length: float, basis: Basis = "mixed"
) -> list[Compared]:
    """Two sides without a difference: in blocks of both, each in an order of its own, or one after
    the other, by Welch's test."""
    factors = spells(random, 2 * n * conditions, length)
    by_block = basis in ("levels", "turns")
    for block in factors.reshape(-1, 2 * conditions if by_block else conditions):
        random.shuffle(block)
    if by_block:
        factors = factors.reshape(n, 2, conditions).swapaxes(0, 1)
    factors = factors.reshape(2, n, conditions)
    values = 100 * factors * random.lognormal(0, _SD, factors.shape)
    blocks = tuple(range(n))
    return judged(
        [
            compared(
                *(Sample(tuple(run[:, at]), blocks, 0, 0, 0, 1.0) for run in values),
                experiment="e",
                metric="goodput_bps",
                factors={"size": at},
                names=("RUN1", "RUN2"),
                basis=basis,
            )
            for at in range(conditions)
        ]
    )


def _called_better(random: Random, n: int, conditions: int, length: float) -> bool:
    return any(one.better is not None for one in two_sides(random, n, conditions, length))


def _differs(random: Random, n: int, conditions: int, length: float, basis: Basis) -> bool:
    return any(one.differs for one in two_sides(random, n, conditions, length, basis))


def _seen(random: Random, spread: float, length: float) -> bool:
    values = spells(random, 36, length) * random.lognormal(0, spread, 36)
    return two_modes(list(values.reshape(3, 12).T)) is not None


def _single(n: int, length: float) -> Case:
    name = f"better or worse, {n} and {n} trials, modes that last {length:g}"
    return Case(
        "two modes", name, lambda r: _called_better(r, n, 1, length), 0.0, 0.06, 1_000, few=100
    )


def _mean_is_held(random: Random, n: int, length: float) -> bool:
    """The mean of both modes, by the interval of a rate."""
    values = 100 * spells(random, n, length) * random.lognormal(0, _SD, n)
    found = condition_mean("goodput_bps", list(values))
    return found is not None and found.low <= 100 * (1 - _SLOW * (1 - _RATIO)) <= found.high


def _mean(n: int, low: float, high: float) -> Case:
    name = f"interval of {n} trials holds the mean of both modes"
    return Case("two modes", name, lambda r: _mean_is_held(r, n, 1.25), low, high, 1_000)


def _in_blocks(n: int, conditions: int, length: float, most: float) -> Case:
    name = f"{n} blocks of {conditions} pair{'s' * (conditions > 1)}, modes that last {length:g}"
    return Case(
        "two modes",
        f"differs, {name}",
        lambda r: _differs(r, n, conditions, length, "levels"),
        0.0,
        most,
        1_000,
        few=100,
    )


MODE_CASES = (
    _in_blocks(3, 1, 1.25, 0.06),
    _in_blocks(3, 1, 5, 0.06),
    _in_blocks(3, 6, 1.25, 0.08),
    _in_blocks(3, 6, 5, 0.06),
    _in_blocks(5, 1, 5, 0.06),
    _mean(3, 0.4, 0.6),
    _mean(10, 0.8, 0.95),
    # Of one run of each side nothing is claimed: see `differs` and `runs_differ`.
    Case(
        "two modes",
        "differs, 3 after 3 trials, modes that last 5: not claimed of single runs",
        lambda r: _differs(r, 3, 1, 5, "mixed"),
        0.06,
        0.2,
        1_000,
        few=100,
    ),
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
        few=100,
    ),
    Case(
        "two modes",
        "the same of 6 conditions of 3, that last 5",
        lambda r: _called_better(r, 3, 6, 5),
        0.0,
        0.06,
        300,
        few=60,
    ),
    Case("two modes", "seen, 12 conditions of 3", lambda r: _seen(r, _SD, 1.25), 0.9, 1.0, 1_000),
    Case(
        "two modes",
        "seen, 12 conditions of 3, spread 3 %",
        lambda r: _seen(r, 0.03, 1.25),
        0.9,
        1.0,
        1_000,
    ),
    Case(
        "two modes",
        "seen where there are none, 20 trials below a limit",
        lambda r: two_modes([list(np.exp(-0.05 * r.exponential(1, 20)))]) is not None,
        0.0,
        0.06,
        2_000,
    ),
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
