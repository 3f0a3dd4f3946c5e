"""
Whether successive trials of a condition are correlated, as under lasting load.

If so, an interval that assumes independence is too short. At a correlation of 0.6 it contains the
mean in 68 of 100 cases with 12 trials, and in 67 with 40. `lanlab.analysis.statistics.neighbours`
widens the intervals of means. A significant correlation is also reported.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from lanlab.analysis.trials.summary import Summary
from lanlab.frozen import dataclass
from lanlab.workloads.scales import scale_of

#: As in `lanlab.analysis.statistics.neighbours`.
LEAST_TRIALS = 8
_LEVEL = 0.05


class Alike(NamedTuple):
    correlation: float
    p: float


@dataclass(frozen=True)
class Neighbours:
    summary: Summary
    correlation: float
    p: float


def hanging_together(summaries: Sequence[Summary]) -> list[Neighbours]:
    """
    The conditions with correlated trials, strongest first. At most one run in twenty has any by
    chance.

    With one condition, a correlation of 0.6 is found in 42 of 100 cases with 12 trials, 73 with 20
    and 97 with 40; with several conditions less often.

    Args:
        summaries: Conditions of a run; those with fewer than `LEAST_TRIALS` are ignored.
    """
    found = [(one, lag_one(one.metric, one.values)) for one in summaries if one.n >= LEAST_TRIALS]
    beyond_doubt = seen_beyond_doubt([seen for _, seen in found])
    return sorted(
        (
            Neighbours(one, *seen)
            for (one, _), seen in zip(found, beyond_doubt, strict=True)
            if seen is not None
        ),
        key=lambda one: -one.correlation,
    )


def seen_beyond_doubt(found: Sequence[Alike | None]) -> list[Alike | None]:
    """The significant ones (Holm over all), with adjusted p; `None` in place of the others."""
    if not any(found):
        return [None] * len(found)
    # Loads statistics libraries that most runs do not need.
    from lanlab.analysis.statistics.multiple import holm

    adjusted = iter(holm([seen.p for seen in found if seen]))
    return [
        Alike(seen.correlation, p) if seen and (p := next(adjusted)) <= _LEVEL else None
        for seen in found
    ]


def lag_one(metric: str, values: Sequence[float]) -> Alike | None:
    """
    Correlation of each trial with the next, and its one-sided p under independence.

    Args:
        metric: Key of a trial's results; for rates and times, logarithms are compared.
        values: In order of execution.

    Returns:
        `None` if all trials are equal.

    Source:
        The distribution without a correlation, mean -1/n and variance 1/n: R. L. Anderson,
        "Distribution of the serial correlation coefficient", Annals of Mathematical Statistics 13,
        1942.

    Examples:
        >>> correlation, p = lag_one("goodput_bps", [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2])
        >>> round(correlation, 2), p < 0.01
        (0.75, True)
    """
    logs = scale_of(metric) == "log" and min(values) > 0
    return lag_one_of([math.log(value) for value in values] if logs else values)


def lag_one_of(own: Sequence[float]) -> Alike | None:
    from lanlab.analysis.statistics import neighbours

    correlation = neighbours.lag_one(own)
    if correlation is None:
        return None
    z = (correlation + 1 / len(own)) * math.sqrt(len(own))
    return Alike(correlation, 0.5 * math.erfc(z / math.sqrt(2)))


def slope_p(own: Sequence[float]) -> float:
    """
    Two-sided p of a slope over the order of at least three values, by Student's t.

    Examples:
        >>> round(slope_p([66, 70, 71, 72, 77]), 4), slope_p([1, 2, 3])
        (0.0104, 0.0)
    """
    from scipy.special import stdtr

    r, df = statistics.correlation(range(len(own)), own), len(own) - 2
    rest = 1 - r**2
    return 2 * float(stdtr(df, -abs(r) * math.sqrt(df / rest))) if rest > 0 else 0.0
