"""
Simulate the stopping rule and print its table of bench/results/statistics.md.

    .venv/bin/python bench/stopping.py > stopping.md
    .venv/bin/python bench/stopping.py --shape normal --draws 4000
    .venv/bin/python bench/stopping.py --shape lognormal --draws 4000 --deciding 4 --least 16

Each condition is run by `lanlab.plan.stopping.Trials` itself, and its interval is the one that
tables show. Takes about seven minutes; seeds are fixed, so that it prints the same each time.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from case import correlated

from lanlab.analysis.statistics.condition_mean import condition_mean
from lanlab.plan import stopping
from lanlab.plan.stopping import Trials
from lanlab.studies.model import TrialPolicy

METRIC = "goodput_bps"
SPREADS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
GOALS = (0.01, 0.02, 0.05, 0.1)
MOST = 20
#: Where fewer conditions stop early, their share that is covered says little.
_FEW = 0.02


@dataclass(frozen=True)
class Shape:
    """How the trials of a condition differ."""

    name: str
    #: Values around a spread.
    draw: Callable[[np.random.Generator, float, int], np.ndarray]
    #: Their true mean.
    mean: Callable[[float], float]


LOGNORMAL = Shape(
    "lognormal", lambda r, sd, n: r.lognormal(0, sd, n), lambda sd: math.exp(sd**2 / 2)
)
NORMAL = Shape("normal", lambda r, sd, n: np.maximum(r.normal(1, sd, n), 1e-3), lambda sd: 1.0)
#: One trial in five is 30 % slower.
TWO_MODES = Shape(
    "two modes",
    lambda r, sd, n: r.lognormal(0, sd, n) * np.where(r.random(n) < 0.2, 0.7, 1.0),
    lambda sd: math.exp(sd**2 / 2) * 0.94,
)


def hanging(correlation: float) -> Shape:
    """Lognormal trials, each of which is like the one before."""

    def draw(random: np.random.Generator, spread: float, count: int) -> np.ndarray:
        return np.exp(spread * correlated(random, correlation, count))

    return Shape(f"correlation {correlation:g}", draw, LOGNORMAL.mean)


@dataclass(frozen=True)
class Ended:
    """How many conditions came out how."""

    draws: int
    held: int
    #: Those that had fewer trials than are allowed, and of these whose interval holds the truth.
    early: int
    early_held: int
    #: Of those, the ones within the goal.
    early_reached: int
    trials: int

    @property
    def coverage(self) -> float:
        """Share of all intervals that hold the truth."""
        return self.held / self.draws

    @property
    def early_coverage(self) -> float:
        """The same of the conditions that stopped early; not a number without any."""
        return self.early_held / self.early if self.early else math.nan

    def __add__(self, other: Ended) -> Ended:
        """Both together."""
        return Ended(
            *(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True))
        )


def ended(
    shape: Shape,
    spread: float,
    policy: TrialPolicy,
    draws: int,
    seed: int = 1,
    look_from: int | None = None,
) -> Ended:
    """Conditions that were run until the rule had ended them; with `look_from` by a look after each
    trial from that one on, which is what the rule is there to avoid."""
    random = np.random.default_rng([seed, *f"{shape.name} {spread} {policy}".encode()])
    truth = shape.mean(spread)
    counts = Ended(0, 0, 0, 0, 0, 0)
    for _ in range(draws):
        state = Trials(policy, METRIC)
        values: list[float] = []
        for value in shape.draw(random, spread, policy.max):
            if not state.active if look_from is None else _is_narrow(values, policy, look_from):
                break
            values.append(float(value))
            state.record_done(values[-1])
        seen = condition_mean(METRIC, values)
        assert seen is not None
        held, early = seen.low <= truth <= seen.high, len(values) < policy.max
        reached = seen.high <= seen.mean * (1 + (policy.relative_ci or 0))
        counts += Ended(1, held, early, early and held, early and reached, len(values))
    return counts


def _is_narrow(values: list[float], policy: TrialPolicy, look_from: int) -> bool:
    if len(values) < look_from:
        return False
    seen = condition_mean(METRIC, values)
    return seen is not None and seen.high <= seen.mean * (1 + (policy.relative_ci or 0))


def policy_of(goal: float | None, *, least: int = 3, most: int = MOST) -> TrialPolicy:
    """A policy with this goal."""
    return TrialPolicy(min=least, max=most, relative_ci=goal)


def main() -> int:
    """Print the table; 1 if the coverage of a cell without modes lies outside 93 to 98 %."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--draws", type=int, default=20_000, help="conditions of each cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deciding", type=int, help="first trials, which decide the number")
    parser.add_argument("--least", type=int, default=3, help="trials of a condition at least")
    parser.add_argument("--most", type=int, default=MOST, help="trials of a condition at most")
    known = (LOGNORMAL, NORMAL, TWO_MODES, hanging(0.3), hanging(0.6))
    shapes = {shape.name: shape for shape in known}
    parser.add_argument("--shape", choices=shapes, help="of the trials; default: one after another")
    parser.add_argument("--look-from", type=int, help="look after each trial from this one on")
    asked = parser.parse_args()
    if asked.deciding is not None:
        stopping.DECIDING_TRIALS = asked.deciding
    failed = 0
    goals = " | ".join(f"goal {100 * goal:g} %" for goal in GOALS)
    print(f"| trials | spread | {goals} |\n|---|---|{'---|' * len(GOALS)}")
    for shape in [shapes[asked.shape]] if asked.shape else shapes.values():
        together = []
        for spread in SPREADS:
            cells = []
            for goal in GOALS:
                policy = policy_of(goal, least=asked.least, most=asked.most)
                found = ended(shape, spread, policy, asked.draws, asked.seed, asked.look_from)
                together.append(found)
                failed += shape is not TWO_MODES and not 0.93 <= found.coverage <= 0.98
                cells.append(_cell(found))
            print(f"| {shape.name} | {100 * spread:g} % | {' | '.join(cells)} |", flush=True)
        whole = sum(together[1:], together[0])
        least = min(cell.coverage for cell in together)
        most = max(cell.coverage for cell in together)
        often = [cell.early_coverage for cell in together if cell.early >= _FEW * cell.draws]
        reached = whole.early_reached / whole.early
        print(
            f"| **{shape.name}** | all | {100 * least:.1f} to {100 * most:.1f} %; early: "
            f"{100 * whole.early_coverage:.1f} %, in one cell {100 * min(often):.1f} to "
            f"{100 * max(often):.1f} %; {100 * reached:.0f} % of these within the goal |"
            + " |"
            * (len(GOALS) - 1),
            flush=True,
        )
    return 1 if failed else 0


def _cell(found: Ended) -> str:
    text = f"{100 * found.coverage:.1f}"
    if found.early:
        share = 100 * found.early / found.draws
        text += f" ({found.trials / found.draws:.0f} trials; {share:.0f} % early"
        if found.early >= _FEW * found.draws:
            text += f": {100 * found.early_coverage:.1f}"
        text += ")"
    return text


if __name__ == "__main__":
    sys.exit(main())
