"""
Whether the trials of a condition hang together in their order, as under load that lasts.

Then neighbours are alike, and an interval that takes trials as independent is too short: of 12
trials whose neighbours have a correlation of 0.6 it holds the mean in 68 of 100 cases, of 40 in 67.
Those of a mean are longer by that (`lanlab.analysis.statistics.neighbours`); where it is seen
beyond doubt, it is said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from lanlab.analysis.summary import Summary
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
    Those conditions whose trials hang together, the most first; at most one in twenty runs has any
    by chance.

    Of one condition a correlation of 0.6 is seen in 73 of 100 cases with 20 trials, in 97 with 40
    and in 42 with 12; of several more seldom.

    Args:
        summaries: Conditions of a run; those with fewer than `LEAST_TRIALS` are passed over.
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
    """Those that are significant by Holm over all of them, with its p; `None` in place of the
    others."""
    if not any(found):
        return [None] * len(found)
    # It brings in the libraries of statistics, which most runs have no use for.
    from lanlab.analysis.statistics.multiple import holm

    adjusted = iter(holm([seen.p for seen in found if seen]))
    return [
        Alike(seen.correlation, p) if seen and (p := next(adjusted)) <= _LEVEL else None
        for seen in found
    ]


def lag_one(metric: str, values: Sequence[float]) -> Alike | None:
    """
    Correlation of each trial with the next, and the one-sided p of none.

    Args:
        metric: Key of a trial's results; of rates and times the logarithms are compared.
        values: In the order in which they were run.

    Returns:
        `None` where no trial differs.

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
