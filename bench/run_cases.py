"""
What is simulated of comparisons of runs: how often a difference is claimed where there is none, on
a machine whose load comes and goes. `runs.py` prints it, and
`tests/bench/test_comparison_errors.py` holds a part of it.

A run takes a minute and has six conditions, each as the logarithm of a rate: what the load of its
minute makes of it (more for some conditions than for others), and what its three trials add.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from case import Case, Random
from numpy.typing import NDArray

from lanlab.analysis.comparison.compare import LEVEL, Basis, Compared, Sample, compared, judged
from lanlab.analysis.comparison.run_spread import LEAST_DF, SPAN
from lanlab.analysis.statistics.two_groups import KnownSpread
from lanlab.run.alternate import order_of_turn

Floats = NDArray[np.float64]

CONDITIONS = 6
TRIALS = 3
#: Standard deviation of trials of one run, and of what a load of 1 makes of a run.
WITHIN, BETWEEN = 0.03, 0.1
_TURNS = 5

#: The load at each minute, of standard deviation about 1.
Load = Callable[[Random, Floats], Floats]


def none(random: Random, minutes: Floats) -> Floats:
    """Runs that differ by their trials alone."""
    return np.zeros(minutes.size)


def independent(random: Random, minutes: Floats) -> Floats:
    """Another load in every minute."""
    return random.normal(size=minutes.size)


def remembered(memory_min: float) -> Load:
    """A load that is forgotten in so many minutes (Ornstein and Uhlenbeck)."""

    def load(random: Random, minutes: Floats) -> Floats:
        found = [random.normal()]
        for gap in np.diff(minutes):
            kept = math.exp(-gap / memory_min)
            found.append(kept * found[-1] + math.sqrt(1 - kept**2) * random.normal())
        return np.array(found)

    return load


def in_bursts(share: float, memory_min: float) -> Load:
    """Another program that works in this share of the time, for some minutes each."""

    def load(random: Random, minutes: Floats) -> Floats:
        works = random.random() < share
        found = []
        for gap in np.diff(minutes, prepend=minutes[0]):
            if random.random() > math.exp(-gap / memory_min):
                works = random.random() < share
            found.append(3.0 * works + random.normal(0, 0.3))
        return np.array(found)

    return load


def drifting(random: Random, minutes: Floats) -> Floats:
    """Three standard deviations in an hour, beside what every minute has of its own."""
    return 3 * minutes / 60 + random.normal(0, 0.5, minutes.size)


def trials_of_runs(random: Random, load: Load, minutes: Floats) -> Floats:
    """Values of shape `(runs, conditions, trials)`."""
    weight = random.uniform(0.3, 1, CONDITIONS)
    of_run = BETWEEN * load(random, minutes)[:, None] * weight
    noise = random.normal(0, WITHIN, (minutes.size, CONDITIONS, TRIALS))
    return np.exp(of_run[:, :, None] + noise)


def of_runs(values: Floats, turns: Sequence[int], condition: int) -> Sample:
    """Runs as units, as `side_sample` makes them."""
    own = values[:, condition]
    return Sample(
        values=tuple(map(float, own.mean(axis=1))),
        blocks=tuple(turns),
        failed=0,
        missing=0,
        disturbed=0,
        mean_unit_s=60.0,
        centres=tuple(map(float, np.exp(np.log(own).mean(axis=1)))),
    )


def of_trials(values: Floats, condition: int) -> Sample:
    """The trials of one run."""
    own = tuple(map(float, values[0, condition]))
    return Sample(own, tuple(range(len(own))), 0, 0, 0, 60.0)


def family(
    base: Sequence[Sample],
    other: Sequence[Sample],
    basis: Basis,
    spreads: Sequence[KnownSpread | None] = (None,) * CONDITIONS,
) -> list[Compared]:
    """All conditions, compared together."""
    return judged(
        [
            compared(
                *sides,
                experiment="e",
                metric="goodput_bps",
                factors={"condition": place},
                names=("A", "B"),
                basis=basis,
                spread=spread,
            )
            for place, (*sides, spread) in enumerate(zip(base, other, spreads, strict=True))
        ]
    )


def in_turns(load: Load, turns: int = _TURNS) -> Callable[[Random], bool]:
    """Whether a series claims any difference of two sides that are the same."""

    def happens(random: Random) -> bool:
        seed = int(random.integers(2**32))
        order = np.array([side for turn in range(turns) for side in order_of_turn(seed, turn, 2)])
        values = trials_of_runs(random, load, np.arange(2.0 * turns))
        sides = [
            [of_runs(values[order == side], range(turns), place) for place in range(CONDITIONS)]
            for side in (0, 1)
        ]
        return any(one.differs for one in family(sides[0], sides[1], "turns"))

    return happens


def by_trials(load: Load, gap_min: float) -> Callable[[Random], bool]:
    """Whether the trials of two runs, taken as units as they once were, tell these apart."""

    def happens(random: Random) -> bool:
        values = trials_of_runs(random, load, np.array([0.0, gap_min]))
        sides = [
            [of_trials(values[run : run + 1], place) for place in range(CONDITIONS)]
            for run in (0, 1)
        ]
        found = family(sides[0], sides[1], "single")
        assert not any(one.differs for one in found)
        return any(one.verdict == "runs_differ" for one in found)

    return happens


def by_other_runs(load: Load) -> Callable[[Random], bool]:
    """Whether one run each is told apart by the spread of the fewest other runs that are taken,
    as far apart as they must be."""

    def happens(random: Random) -> bool:
        count = LEAST_DF + 1
        earlier = np.linspace(0, SPAN, count)
        values = trials_of_runs(random, load, np.append(earlier, [SPAN + 1.0, SPAN + 2.0]))
        logs = np.log(values[:count]).mean(axis=2)
        spreads = [KnownSpread(float(sd), count - 1) for sd in logs.std(axis=0, ddof=1)]
        sides = [
            [of_runs(values[run : run + 1], (0,), place) for place in range(CONDITIONS)]
            for run in (count, count + 1)
        ]
        found = family(sides[0], sides[1], "known spread", spreads)
        return any(one.differs for one in found)

    return happens


def shown(effect: float, load: Load, turns: int = _TURNS) -> Callable[[Random], bool]:
    """Whether a series shows a true difference of one condition, alone in its family."""

    def happens(random: Random) -> bool:
        seed = int(random.integers(2**32))
        order = np.array([side for turn in range(turns) for side in order_of_turn(seed, turn, 2)])
        values = trials_of_runs(random, load, np.arange(2.0 * turns))
        values[order == 1] *= effect
        base, other = (of_runs(values[order == side], range(turns), 0) for side in (0, 1))
        [one] = judged(
            [
                compared(
                    base,
                    other,
                    experiment="e",
                    metric="goodput_bps",
                    factors={},
                    names=("A", "B"),
                    basis="turns",
                )
            ]
        )
        return one.p_holm is not None and one.p_holm <= LEVEL

    return happens


def _case(kind: str, name: str, happens: Callable[[Random], bool], low: float, high: float) -> Case:
    # Each draw plans further trials of six conditions: few have to do.
    seed = (20261123, *kind.encode())
    return Case(kind, name, happens, low, high, draws=200, few=60, seed=seed)


LOADS: tuple[tuple[str, Load], ...] = (
    ("no load", none),
    ("another load every minute", independent),
    ("load that lasts 3 minutes", remembered(3)),
    ("load that lasts 15 minutes", remembered(15)),
    ("load that lasts an hour", remembered(60)),
    ("a program that works a third of the time", in_bursts(0.3, 5)),
    ("a program that works a tenth of the time", in_bursts(0.1, 5)),
    ("drift of 3 sd an hour", drifting),
)
IN_TURNS, OTHERS = "same setting, 5 turns: any claim", "same setting, one run each, 10 others"
OLD, SHOWN = "same setting, one run each by trials: wrong", "claim shown"
CASES = (
    *(_case(IN_TURNS, name, in_turns(load), 0.0, 0.09) for name, load in LOADS),
    _case(IN_TURNS, "load that lasts 3 minutes, 3 turns", in_turns(remembered(3), 3), 0.0, 0.09),
    _case(IN_TURNS, "load that lasts 3 minutes, 10 turns", in_turns(remembered(3), 10), 0.0, 0.09),
    *(_case(OTHERS, name, by_other_runs(load), 0.0, 0.1) for name, load in LOADS),
    _case(
        OLD, "load that lasts 15 minutes, a minute apart", by_trials(remembered(15), 1), 0.03, 0.14
    ),
    _case(
        OLD, "load that lasts 15 minutes, half an hour", by_trials(remembered(15), 30), 0.36, 0.62
    ),
    _case(
        SHOWN, "10 %, load that lasts 15 minutes, 5 turns", shown(1.1, remembered(15)), 0.95, 1.0
    ),
)
