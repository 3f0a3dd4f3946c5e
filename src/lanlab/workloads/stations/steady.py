"""
The part of a trial of stations that counts: all stations are busy, and the results have settled.

1. The part lies between the latest first start of a station and the earliest last end of one:
outside of it fewer stations load the server than the condition says. 2. Of that part, MSER-5
truncates the unsettled start and the run-out at the end in two series: completions in equal steps
of time, and response times in the order in which operations began. Both cuts apply. 3. A cut whose
values do not differ in their mean from the rest is undone: MSER cuts some values off a steady
series by chance, and many off a short one. The noise is estimated from the differences of
successive batches, which a slow change does not inflate. 4. If less than half remains, no steady
state was reached: by White's rule, Hoad, Robinson and Davies prescribe a longer run instead of an
untrustworthy mean. The results are then computed over the time in which all stations were busy, and
marked as not steady.

K. P. White, "An effective truncation heuristic for bias reduction in simulation output", Simulation
69, 1997; K. Hoad, S. Robinson, R. Davies, "Automating warm-up length estimation", Journal of the
Operational Research Society 61, 2010.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lanlab.frozen import dataclass
from lanlab.trial_data import StationSteps, SteadyPart

Column = NDArray[Any]
Columns = Mapping[str, Column]
OK = 0
#: Values averaged before the search: the five of MSER-5.
BATCH = 5
LEAST_BATCHES = 10
#: Mean number of readings per value; with fewer, most steps would be empty.
_READINGS = 5
#: Maximum values of a series: more do not improve the cut.
_MOST_VALUES = 1_000
#: Fewer batches are never taken as steady: their variance is due to chance.
_LEAST_LEFT = 5
#: Standard errors by which cut values must differ from the rest: one in a hundred steady series
#: does so by chance.
_TOLD_APART = 2.576
_STEPS = 120

_Numbers = NDArray[np.int64]
_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Steady:
    """The part of a trial that counts. Times in ns from the common start."""

    found: bool
    #: Sums cover times after `start_ns` up to `end_ns`. If no steady state was found, this is the
    #: time in which all stations were busy; if there was none, the whole trial.
    start_ns: int
    end_ns: int
    #: From the latest first start of a station to the earliest last end; equal if there is none.
    active_start_ns: int
    active_end_ns: int
    first_start_ns: int
    last_end_ns: int
    #: Why there is no steady state; empty if there is one.
    reason: str

    @property
    def ratio(self) -> float:
        """Share of the trial that is steady, from its first start to its last end; 0 if none."""
        whole_ns = self.last_end_ns - self.first_start_ns
        return (self.end_ns - self.start_ns) / whole_ns if self.found and whole_ns > 0 else 0.0

    def to_json(self) -> SteadyPart:
        return cast("SteadyPart", asdict(self))


def steady_part(readings: Columns, stations: int, warm_up_readings: int = 0) -> Steady:
    """
    The part of a trial that counts.

    Args:
        readings: `station`, `intended_ns`, `start_ns`, `end_ns`, `outcome`, one row per operation,
            in order of start.
        stations: The expected number. If one has no row, there was no time in which all were busy.
        warm_up_readings: Readings at the start of each station that do not count: the part begins
            once each station has completed them.
    """
    if len(readings["start_ns"]) == 0:
        return Steady(False, 0, 0, 0, 0, 0, 0, "no operation was begun")
    firsts, lasts = station_ends(readings, stations)
    began = firsts >= 0
    first_ns, last_ns = int(firsts[began].min()), int(lasts[began].max())
    active_start, active_end = int(firsts[began].max()), int(lasts[began].min())
    reason = ""
    if not began.all():
        idle = int(np.flatnonzero(~began)[0])
        reason = f"station {idle} of {stations} never began an operation"
    elif active_end <= active_start:
        latest, earliest = int(firsts.argmax()), int(lasts.argmin())
        reason = (
            f"station {earliest} ended before station {latest} began: at no time were all "
            f"{stations} at work"
        )
    elif warm_up_readings:
        active_start = max(active_start, _warm_at_ns(readings, warm_up_readings))
        if active_end <= active_start:
            reason = f"a station was done with {warm_up_readings} readings when all had ended"
    if reason:
        return Steady(False, first_ns, last_ns, first_ns, first_ns, first_ns, last_ns, reason)
    cut = _cut(readings, active_start, active_end)
    if isinstance(cut, str):
        return Steady(
            False, active_start, active_end, active_start, active_end, first_ns, last_ns, cut
        )
    return Steady(True, *cut, active_start, active_end, first_ns, last_ns, "")


def station_ends(readings: Columns, stations: int) -> tuple[_Numbers, _Numbers]:
    """
    The start of each station's first operation and the end of its last, ns; -1 if it has none.
    """
    firsts = np.full(stations, -1, dtype=np.int64)
    lasts = np.full(stations, -1, dtype=np.int64)
    # The last assignment wins, so assign backwards to get the first.
    firsts[readings["station"][::-1]] = readings["start_ns"][::-1]
    np.maximum.at(lasts, readings["station"], readings["end_ns"])
    return firsts, lasts


def _warm_at_ns(readings: Columns, count: int) -> int:
    """The time when each station had completed this many readings, or all that it has, ns."""
    order = np.argsort(readings["station"], kind="stable")
    ends, station = readings["end_ns"][order], readings["station"][order]
    begins = np.flatnonzero(np.diff(station, prepend=-1))
    lasts = np.append(begins[1:], len(station)) - 1
    return int(ends[np.minimum(begins + count - 1, lasts)].max())


def over_time(readings: Columns, steady: Steady, steps: int = _STEPS) -> StationSteps:
    """
    The course of a trial from its first start to its last end, for a figure of the cut.

    Returns:
        In equal steps of time: `at_ns`, the middle of each; `operations_per_s`, successful ones, by
            their ends; `response_mean_ns` of these, `None` if none ended.
    """
    first, last = steady.first_start_ns, steady.last_end_ns
    if last <= first:
        return {"at_ns": [], "operations_per_s": [], "response_mean_ns": []}
    well = readings["outcome"] == OK
    ends = readings["end_ns"][well]
    response = (ends - readings["intended_ns"][well]).astype(np.float64)
    at = np.minimum((ends - first) * steps // (last - first), steps - 1)
    count = np.bincount(at, minlength=steps)
    total = np.bincount(at, weights=response, minlength=steps)
    width_ns = (last - first) / steps
    means = np.divide(total, count, out=np.zeros(steps), where=count > 0)
    return {
        "at_ns": [round(first + (step + 0.5) * width_ns) for step in range(steps)],
        "operations_per_s": (count / width_ns * 1e9).tolist(),
        "response_mean_ns": [
            mean if some else None
            for mean, some in zip(means.tolist(), count.tolist(), strict=True)
        ],
    }


def least_readings() -> int:
    """With fewer successful readings, steadiness cannot be judged."""
    return LEAST_BATCHES * BATCH * _READINGS


def _cut(readings: Columns, start_ns: int, end_ns: int) -> tuple[int, int] | str:
    starts, ends = readings["start_ns"], readings["end_ns"]
    well = readings["outcome"] == OK
    ended = well & (ends > start_ns) & (ends <= end_ns)
    # Operations that began before all stations were busy are excluded from response times.
    begun = np.flatnonzero(ended & (starts >= start_ns))
    values = min(_MOST_VALUES, begun.size // _READINGS) // BATCH * BATCH
    if values < LEAST_BATCHES * BATCH:
        return (
            f"{begun.size} good readings while all stations were at work are too few to tell; "
            f"it takes {least_readings()}"
        )
    by_time = _cut_of_rates(ends[ended], start_ns, end_ns, values)
    response = ends[begun] - readings["intended_ns"][begun]
    by_order = _cut_of_responses(starts[begun], response, end_ns, values)
    for what, cut in (("throughput", by_time), ("response times", by_order)):
        if cut is None:
            return f"{what} had not settled: the best cut leaves less than half"
    assert by_time is not None and by_order is not None
    first, last = max(by_time[0], by_order[0]), min(by_time[1], by_order[1])
    if 2 * (last - first) < end_ns - start_ns:
        return "the cuts by throughput and by response times together leave less than half"
    # Steps without any operation would look perfectly steady.
    left = np.count_nonzero(ended & (ends > first) & (ends <= last))
    least = _LEAST_LEFT * BATCH * _READINGS
    if left < least:
        return f"the best cut leaves {left} good readings, a stall among them; it takes {least}"
    return first, last


def _cut_of_rates(
    ends: _Numbers, start_ns: int, end_ns: int, values: int
) -> tuple[int, int] | None:
    width_ns = (end_ns - start_ns) / values
    # The last completion lies exactly at the end.
    at = np.minimum(((ends - start_ns) * (1 / width_ns)).astype(np.intp), values - 1)
    cuts = _cuts(np.bincount(at, minlength=values).astype(np.float64))
    if cuts is None:
        return None
    first, last = cuts
    return start_ns + round(first * width_ns), end_ns - round((values - last) * width_ns)


def _cut_of_responses(
    starts: _Numbers, response: _Numbers, end_ns: int, values: int
) -> tuple[int, int] | None:
    places = np.linspace(0, len(starts), values + 1).astype(np.int64)
    cuts = _cuts(np.add.reduceat(response, places[:-1]) / np.diff(places))
    if cuts is None:
        return None
    # Without a cut at the start, the part begins at its first moment, before the first operation.
    first = int(starts[places[cuts[0]]]) if cuts[0] else 0
    return first, end_ns if cuts[1] == values else int(starts[places[cuts[1]]])


def _cuts(values: _Floats) -> tuple[int, int] | None:
    """The steady values as a range of indices; `None` if they are less than half."""
    batches = values.reshape(-1, BATCH).mean(axis=1)
    most = batches.size // 2
    first, last = best_cuts(batches, most, most, least=_LEAST_LEFT)
    left = batches[first : batches.size - last]
    if not _differs(batches, batches[:first], left):
        first = 0
    if not _differs(batches, batches[batches.size - last :], left):
        last = 0
    if 2 * (batches.size - first - last) < batches.size:
        return None
    return first * BATCH, (batches.size - last) * BATCH


def _differs(batches: _Floats, cut: _Floats, left: _Floats) -> bool:
    if cut.size == 0:
        return False
    noise = float(np.square(np.diff(batches)).mean()) / 2
    apart = abs(float(cut.mean() - left.mean()))
    return apart > _TOLD_APART * math.sqrt(noise * (1 / cut.size + 1 / left.size))


def best_cuts(
    values: NDArray[np.float64], most_first: int, most_last: int, *, least: int = 1
) -> tuple[int, int]:
    """
    Number of values to cut off at the start and at the end; of equally good cuts, the shortest.

    MSER minimises the marginal standard error of the rest: its variance divided by its length.

    Args:
        values: In order of time, at equal steps, any unit; for MSER-5, means of five values.
        most_first, most_last: Most values to cut off at either end.
        least: Fewest values to keep; `most_first` and `most_last` may leave fewer.

    Source: | K. P. White, "An effective truncation heuristic for bias reduction in simulation
    output", Simulation 69, 1997; K. P. White, M. J. Cobb, S. C. Spratt, "A comparison of five
    steady-state truncation heuristics", Winter Simulation Conference 2000.

    Examples:
        >>> best_cuts(np.array([0.0, 0.0, 9.0, 10.0, 11.0, 10.0, 10.0, 9.0]), 4, 0)
        (2, 0)
    """
    centred = values - values.mean()
    sums = np.concatenate(([0.0], np.cumsum(centred)))
    squares = np.concatenate(([0.0], np.cumsum(centred**2)))
    first = np.arange(most_first + 1)[:, None]
    last = np.arange(most_last + 1)[None, :]
    stop = values.size - last
    count = np.maximum(stop - first, 1)
    left = squares[stop] - squares[first] - (sums[stop] - sums[first]) ** 2 / count
    # Rounding errors of the differences of sums can leave a variance where there is none.
    left = np.where(left <= 1e-12 * squares[-1], 0.0, left)
    error = np.where(stop - first < least, np.inf, left / count.astype(float) ** 2)
    at = int(error.argmin())
    return at // (most_last + 1), at % (most_last + 1)
