"""
Simulate the search for saturation and print the table of docs/statistics.md: how often the bounds
and the interval hold the capacity, and what the search says.

    .venv/bin/python bench/coverage_search.py 500
    .venv/bin/python bench/coverage_search.py 500 --from 1 --step 3   # every third row
    .venv/bin/python bench/coverage_search.py 500 --from 20    # few messages, bursts, and drift

Seeds are fixed: it prints the same each time. `tests/analysis/test_capacity.py` holds some of it.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lanlab.analysis.saturation.capacity import Capacity, Load, capacity
from lanlab.analysis.saturation.search import order_of
from lanlab.analysis.trials.order import seen_beyond_doubt
from lanlab.plan.search import SearchState
from lanlab.plan.search_reading import SearchReading
from lanlab.plan.search_rule import SearchResult, SearchRule

#: Standard deviations of the capacity from trial to trial, as shares.
SPREADS = (0.0, 0.005, 0.02, 0.05)
#: Of the capacities of trials that follow one another.
CORRELATIONS = (0.0, 0.3, 0.6)
#: Shares of the messages.
RANDOM_LOSSES = (0.0, 1e-3)
#: Of the capacity from one trial to the next, where it varies by 1 % besides.
DRIFTS = (0.0, 0.002, 0.005, -0.005)
WIDTH_RATIO = 0.01


@dataclass(frozen=True)
class Device:
    """A simulated device under test; its median capacity differs from search to search."""

    spread: float
    #: Share of the messages that is lost at random, whatever the load, and how many together.
    random_loss: float = 0.0
    burst: int = 1
    #: Messages of a full-length trial at the capacity.
    messages: int = 20_000
    #: Of the capacity of each trial with that of the one before, as under load that lasts.
    correlation: float = 0.0
    #: By how much the capacity grows from one trial to the next, as a share.
    drift: float = 0.0


@dataclass(frozen=True)
class Searched:
    """A search of a device."""

    device: Device
    #: Median capacity.
    truth: float
    result: SearchResult
    capacity: Capacity
    trials: int

    @property
    def bounds_held(self) -> bool:
        """Whether the bounds of the strictest goal hold the capacity, as found before."""
        first = self.result.goals[0]
        return (first.lower or 0) <= self.truth < (first.upper or 0)

    @property
    def interval_held(self) -> bool:
        """Whether the interval holds the capacity; one that is missing does not."""
        load = self.capacity.load
        return load is not None and _holds(load, self.truth)

    @property
    def goals_held(self) -> list[bool]:
        """Of each goal for which a load is given: whether its interval holds the highest load at
        which the median trial meets the goal."""
        carried = self.truth * (1 - self.device.random_loss)
        ends = zip(self.result.goals, self.capacity.goals, strict=True)
        return [_holds(load, carried / (1 - goal.loss_ratio)) for goal, (_, load) in ends if load]

    @property
    def says_it_drifts(self) -> bool:
        """Whether the result of a run with this search alone says so."""
        return seen_beyond_doubt([order_of(self.capacity)]) != [None]


def _holds(load: Load, truth: float) -> bool:
    return (load.low or 0) <= truth <= (load.high or math.inf)


def searched(device: Device, seed: int, goals: Sequence[float] = (0.0, 0.001, 0.01)) -> Searched:
    """Search a device."""
    chance = np.random.default_rng([20261123, seed])
    truth = 10e6 * math.exp(chance.uniform(-0.05, 0.05))
    rule = SearchRule(
        factor="rate_bps", low=120_000, high=12_000_000, metric="received_ratio",
        loss_goals=tuple(goals), short_time_s=0.5, full_time_s=2.0, width_ratio=WIDTH_RATIO,
        whole=True,
    )  # fmt: skip
    state, trials = SearchState(rule), 0
    # Independent ones are drawn as ever.
    off = chance.normal() if device.correlation else 0.0
    own = math.sqrt(1 - device.correlation**2)
    while (step := state.next_step()) is not None:
        off = device.correlation * off + own * chance.normal()
        able = truth * math.exp(device.spread * off + device.drift * trials)
        offered = device.messages * step.time_s / rule.full_time_s * step.level / truth
        lost = round(offered * max(0.0, 1 - able / step.level))
        expected = (offered - lost) * device.random_loss
        lost += device.burst * int(chance.poisson(expected / device.burst))
        state.record(SearchReading(lost / offered, 1.0, offered, lost))
        trials += 1
    result = state.result()
    assert result is not None
    return Searched(device, truth, result, capacity(result, WIDTH_RATIO), trials)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("draws", type=int, nargs="?", default=500, help="searches a row")
    parser.add_argument("--from", type=int, default=0, dest="first", help="first row, from 0")
    parser.add_argument("--step", type=int, default=1, help="print every STEP-th row")
    asked = parser.parse_args()
    heads = (
        "messages", "lost together", "varies by", "correlation", "drift", "random loss",
        "bounds hold it", "interval holds it", "half width", "goals' intervals hold",
        "says `not steady`", "gradual loss",
        "`random loss` for a goal of 0", "loss held", "drifts", "trials, median (most)",
    )  # fmt: skip
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    devices = [Device(0.0, loss) for loss in RANDOM_LOSSES] + [
        Device(spread, loss, correlation=correlation)
        for loss in RANDOM_LOSSES
        for correlation in CORRELATIONS
        for spread in SPREADS[1:]
    ]
    # What it does less well: a message in two trials, and losses of 20 at once.
    devices += [Device(spread, 2.5e-4, messages=2_000) for spread in SPREADS]
    devices += [Device(spread, 1e-3, burst=20) for spread in SPREADS]
    devices += [Device(0.01, drift=drift) for drift in DRIFTS]
    for device in devices[asked.first :: asked.step]:
        ends = [searched(device, seed) for seed in range(asked.draws)]
        print(_row(device, ends), flush=True)
    return 0


def _row(device: Device, ends: Sequence[Searched]) -> str:
    def share(happened: Sequence[bool]) -> str:
        return f"{100 * sum(happened) / len(happened):.1f} %" if happened else ""

    loads = [end.capacity.load for end in ends]
    halves = [
        math.log(load.high / load.low) / 2 for load in loads if load and load.low and load.high
    ]
    trials = [end.trials for end in ends]
    seen = [end.capacity.random_loss for end in ends]
    held = [loss.low <= device.random_loss <= loss.high for loss in seen if loss is not None]
    cells = (
        f"{device.messages}",
        f"{device.burst}",
        f"{100 * device.spread:g} %",
        f"{device.correlation:g}",
        f"{100 * device.drift:g} %",
        f"{100 * device.random_loss:g} %",
        share([end.bounds_held for end in ends]),
        share([end.interval_held for end in ends]),
        f"{100 * float(np.median(halves)):.2g} %",
        share([held for end in ends for held in end.goals_held]),
        share([end.capacity.goals[-1][0] == "not_steady" for end in ends]),
        share([end.capacity.is_gradual for end in ends]),
        share([end.capacity.goals[0][0] == "random_loss" for end in ends]),
        share(held),
        share([end.says_it_drifts for end in ends]),
        f"{float(np.median(trials)):.0f} ({max(trials)})",
    )
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
