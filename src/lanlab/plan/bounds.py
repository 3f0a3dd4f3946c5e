"""
The meaning of the trials at one load for a loss goal: the load is a lower bound, an upper bound, or
still open.

After RFC 9971, Multiple Loss Ratio Search: the classes are those of its appendix A, the conditional
throughput that of its appendix B. In short, a load is an upper bound once more trial time was lossy
than further trials could offset, and a lower bound once more full-length time was good than they
could offset. Short trials can count against a load and offset each other, but never make it a lower
bound: a queue may absorb a whole short trial's excess, but not a long one's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from lanlab.frozen import dataclass

#: Sums of times that differ by a smaller share are equal.
_ROUNDING = 1e-9


class Tried(NamedTuple):
    time_s: float
    loss_ratio: float
    #: Messages actually offered, and those lost on the way; 0 if unknown.
    messages: float = 0
    lost_messages: float = 0


class Bounds(NamedTuple):
    #: The highest load below `upper` that is a lower bound.
    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class Goal:
    """The requirement for a load (RFC 9971, Search Goal)."""

    #: Largest allowed loss, 0 to 1.
    loss_ratio: float
    full_time_s: float
    sum_time_s: float
    #: Share of the time in which loss may exceed it, below 1 (Goal Exceed Ratio).
    exceed_ratio: float

    def judge(self, trials: Iterable[Tried]) -> Literal["lower", "upper"] | None:
        """The class of a load with these trials; `None` while it is open."""
        good_s = bad_s = short_good_s = short_bad_s = 0.0
        for time_s, loss_ratio, *_ in trials:
            short = time_s < self.full_time_s * (1 - _ROUNDING)
            if loss_ratio <= self.loss_ratio:
                good_s, short_good_s = good_s + time_s * (not short), short_good_s + time_s * short
            else:
                bad_s, short_bad_s = bad_s + time_s * (not short), short_bad_s + time_s * short
        # Good short trials offset as much lossy time as the exceed ratio would allow with them.
        excused_s = short_good_s * self.exceed_ratio / (1 - self.exceed_ratio)
        bad_s += max(0.0, short_bad_s - excused_s)
        whole_s = max(good_s + bad_s, self.sum_time_s)
        allowed_s = whole_s * (self.exceed_ratio + _ROUNDING)
        if bad_s > allowed_s:
            return "upper"
        # The time that is still missing may turn out lossy.
        return "lower" if whole_s - good_s <= allowed_s else None

    def bounds(self, tried: Mapping[float, Sequence[Tried]]) -> Bounds:
        judged = {load: self.judge(trials) for load, trials in tried.items()}
        upper = min((load for load, what in judged.items() if what == "upper"), default=math.inf)
        lower = max(
            (load for load, what in judged.items() if what == "lower" and load < upper),
            default=None,
        )
        return Bounds(lower, None if math.isinf(upper) else upper)

    def throughput(self, load: float, trials: Iterable[Tried]) -> float:
        """The conditional throughput at a lower bound: the arrivals of its worst full-length trial
        that the exceed ratio does not forgive.
        """
        full = sorted(
            (t for t in trials if t.time_s >= self.full_time_s * (1 - _ROUNDING)),
            key=lambda trial: trial.loss_ratio,
        )
        whole_s = max(self.sum_time_s, math.fsum(trial.time_s for trial in full))
        left_s = whole_s * (1 - self.exceed_ratio - _ROUNDING)
        worst = 1.0
        for trial in full:
            worst, left_s = trial.loss_ratio, left_s - trial.time_s
            if left_s <= 0:
                return load * (1 - worst)
        # Trials that were not needed count as if they had lost everything.
        return 0.0 if left_s > 0 else load * (1 - worst)
