"""How evenly stations were served: their mean response times relative to the overall mean, and
their errors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lanlab.analysis.trials.attempts import counting
from lanlab.frozen import dataclass
from lanlab.store import TrialRecord
from lanlab.trial_data import StationRecord


@dataclass(frozen=True)
class StationSpread:
    """Differences between stations at one number of stations, over all its trials, as ratios to the
    mean of the stations' means.
    """

    #: Standard deviation of the stations' means; `None` for one station.
    sd_ratio: float | None
    least_ratio: float
    greatest_ratio: float


def station_record(trial: TrialRecord) -> StationRecord | None:
    """A trial's sums by station (`lanlab.workloads.stations.sums`); `None` if it has none."""
    found = trial.result("client").get("station_sums")
    if isinstance(found, Mapping) and isinstance(found.get("table"), Mapping):
        return found
    return None


def station_spread(trials: Sequence[TrialRecord]) -> StationSpread | None:
    """
    How evenly stations were served.

    Args:
        trials: Trials of one condition. A station's mean in a trial is divided by the trial's mean
            before averaging, so that a slow trial does not look unfair.

    Returns:
        `None` if no trial has a station with a reading.
    """
    means: dict[int, list[float]] = {}
    for trial in counting(trials):
        record = station_record(trial)
        if record is None:
            continue
        by_station = record["table"]["response_mean_ns"]
        known = [mean for mean in by_station if mean]
        if not known:
            continue
        overall = math.fsum(known) / len(known)
        for place, mean in enumerate(by_station):
            if mean:
                means.setdefault(place, []).append(mean / overall)
    if not means:
        return None
    values = [math.fsum(each) / len(each) for each in means.values()]
    centre = math.fsum(values) / len(values)
    deviation = None
    if len(values) > 1:
        squares = math.fsum((value - centre) ** 2 for value in values)
        deviation = math.sqrt(squares / (len(values) - 1)) / centre
    return StationSpread(deviation, min(values) / centre, max(values) / centre)


def station_errors(trials: Sequence[TrialRecord]) -> dict[str, list[int]]:
    """Errors of each station by class, summed over all trials, including failed ones."""
    sums: dict[str, list[int]] = {}
    for trial in trials:
        record = station_record(trial)
        by_class = {} if record is None else record["table"].get("errors", {})
        for name, counts in by_class.items():
            so_far = sums.setdefault(name, [])
            so_far.extend([0] * (len(counts) - len(so_far)))
            for place, count in enumerate(counts):
                so_far[place] += count
    return sums
