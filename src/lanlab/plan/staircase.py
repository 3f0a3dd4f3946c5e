"""
Full-length trials at and far below the bounds of a search, from which the interval of the capacity
is computed.

Two loads far below the bounds show random loss; if a message was lost there, two more follow. Then
a staircase runs around the upper bound of each goal: up two steps after a good trial, down one
after a lossy one. So two of three trials are lossy and show the capacity by the rate that arrives,
and the loads stay near it, however wrong the bound is. Goals with the same capacity share a
staircase.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lanlab.plan.random_loss import PROBE_RATIOS, Observation

_LARGEST_STEP = 0.05
#: Goals whose capacities differ by more have a staircase each.
_SAME_RATIO = 0.1


class Start(NamedTuple):
    loss_goal: float
    load: float


@dataclass
class Staircase:
    carried: float
    starts: Sequence[Start]
    far: int
    count: int
    step_ratio: float
    recorded: list[Observation] = field(default_factory=list)

    @property
    def left(self) -> int:
        return max(0, self._far + self.count * len(self.starts) - len(self.recorded))

    def next_load(self) -> float | None:
        """The load of the next trial, before it is rounded and kept within the range."""
        place = len(self.recorded)
        if not self.left:
            return None
        if place < self._far:
            return PROBE_RATIOS[place] * self.carried
        flight, _ = divmod(place - self._far, self.count)
        loss_goal, load = self.starts[flight]
        for one in self.recorded[self._far + flight * self.count :]:
            good = one.tried.loss_ratio <= loss_goal
            load = one.load * (1 + self.step_ratio * (2 if good else -1))
        return load

    @property
    def _far(self) -> int:
        if not self.starts:
            return 0
        lossy = any(one.tried.lost_messages for one in self.recorded[: self.far])
        return len(PROBE_RATIOS) if lossy else self.far


def staircase(
    observed: Sequence[Observation],
    uppers: Sequence[tuple[float, float | None]],
    carried: float,
    *,
    far: int,
    count: int,
    width_ratio: float,
) -> Staircase:
    """
    The trials to run once the bounds are known.

    Args:
        observed: The full-length trials so far.
        uppers: Loss goals that some load may meet, the strictest first, with their upper bounds.
        carried: Throughput of the highest loads.
        far: Trials far below the bounds.
        count: Trials of each staircase.
        width_ratio: Smallest step.
    """
    starts: list[Start] = []
    for loss_goal, load in uppers:
        capacity = 0.0 if load is None else load * (1 - loss_goal)
        known = starts[-1].load * (1 - starts[-1].loss_goal) if starts else 0.0
        if load is not None and capacity > known * (1 + _SAME_RATIO):
            starts.append(Start(loss_goal, load))
    arrived = [
        math.log(o.load * (1 - o.tried.loss_ratio))
        for o in observed
        if 0 < o.tried.loss_ratio < 2 * _SAME_RATIO
    ]
    spread = statistics.stdev(arrived) if len(arrived) > 1 else 0.0
    return Staircase(carried, starts, far, count, min(max(width_ratio, spread), _LARGEST_STEP))
