"""
Trials in which an end used far more processor time per byte than in the other trials of its
condition. Causes: memory was not ready, a cache was cold, or the processor's clock rate differed. A
single trial cannot show this, so lanlab does not repeat it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from lanlab.analysis.trials.attempts import places_of
from lanlab.frozen import dataclass
from lanlab.store import TrialRecord
from lanlab.store.large_runs import column

#: Metrics of a receiving end, with the name of the end.
_ENDS = {"server_cpu_s_per_gb": "server", "receiver_cpu_s_per_gb": "receiver"}
#: Ratio to the median of the other trials. For copies to ready memory, elapsed times differed by a
#: factor of 1.4 at most (bench/first_trial.py); for first trials in other memory, by 2.3 to 5.1.
LEAST_RATIO = 2.0
_LEAST_OTHERS = 3


@dataclass(frozen=True)
class ProcessorOutlier:
    """A trial with an unusual CPU time at one end, s/GB."""

    number: int
    end: str
    found: float
    others: float


def processor_outliers(counted: Sequence[TrialRecord]) -> tuple[ProcessorOutlier, ...]:
    """The outliers among trials that count, in order, for conditions with at least four trials."""
    groups: dict[object, list[TrialRecord]] = {}
    for trial, place in zip(counted, places_of(counted), strict=True):
        groups.setdefault(place[:-1], []).append(trial)
    found = []
    for group in groups.values():
        for metric, end in _ENDS.items():
            own = column([trial.metrics for trial in group], metric)
            values = sorted(value for value in own if value is not None)
            if len(values) <= _LEAST_OTHERS:
                continue
            # No other median is below these.
            least = LEAST_RATIO * values[(len(values) - 2) // 2]
            for trial, value in zip(group, own, strict=True):
                if value is None or value < least:
                    continue
                others = _median_without(values, value)
                if others and value >= LEAST_RATIO * others:
                    found.append(ProcessorOutlier(trial.number, end, value, others))
    return tuple(sorted(found, key=lambda one: one.number))


def _median_without(values: Sequence[float], value: float) -> float:
    """The median of sorted values without one of them. The caller sorts once, because groups may be
    large.
    """
    place, others = bisect_left(values, value), len(values) - 1
    low, high = (values[at + (at >= place)] for at in ((others - 1) // 2, others // 2))
    return low if others % 2 else (low + high) / 2
