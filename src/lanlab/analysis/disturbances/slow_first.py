"""
A first trial that is much slower than the others of its condition, because of a cold cache or a
disk that had to spin up. The mean includes it, so the user should know.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from lanlab.frozen import dataclass
from lanlab.workloads.metrics import metric_direction

_LEAST_OTHERS = 3
#: Limits: ratio to the median of the others; and multiple of their largest distance, in logarithms.
_LEAST_RATIO = 2.0
_LEAST_SPREADS = 3.0


@dataclass(frozen=True)
class SlowFirst:
    first: float
    others: float

    @property
    def ratio(self) -> float:
        """Factor by which the first is slower, above 1."""
        return max(self.first / self.others, self.others / self.first)


def slow_first(metric: str, values: Sequence[float]) -> SlowFirst | None:
    """The first trial of a condition, if it is much slower; `None` if it is not.

    Args:
        values: In the order of the trials.

    Examples:
        >>> slow_first("goodput_bps", [2.0, 80.0, 79.0, 81.0]).ratio
        40.0
        >>> slow_first("goodput_bps", [2.0, 80.0, 8.0, 81.0])
    """
    first, *others = values or (0.0,)
    direction = metric_direction(metric)
    if len(others) < _LEAST_OTHERS or min(first, *others) <= 0 or direction is None:
        return None
    found = SlowFirst(first, statistics.median(others))
    spread = max(abs(math.log(end / found.others)) for end in (min(others), max(others)))
    is_apart = math.log(found.ratio) >= max(math.log(_LEAST_RATIO), _LEAST_SPREADS * spread)
    is_slower = (first < found.others) == (direction == "more")
    return found if is_apart and is_slower else None
