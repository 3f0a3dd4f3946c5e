"""
The maximum throughput over all loads, estimated from the simulated loads.

Up to saturation a receiver delivers everything that is sent. Beyond it, throughput stays constant
if the wire or the sender is the bottleneck. Otherwise it falls linearly with the load, by the law
of receive livelock (Mogul & Ramakrishnan 1997): delivered = (1 - load * interrupt) / protocol. So
the peak is the intersection of delivered = load with the line through the first two loads with
losses. The highest simulated throughput would depend on the grid of loads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from lanlab.analysis.findings.evidence import Cell
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.trials.summary import greatest_possible
from lanlab.store import Level

#: The factor that is a load, in bit/s, as throughput is.
LOAD = "rate_bps"
#: Factors that set the sending rate of a stream.
RATES = (LOAD, "rate_messages_per_s")
PEAKED = "goodput_bps"
#: Up to this share of the sent messages, a stream counts as free of loss.
MOST_LOST_RATIO = 0.01
#: A load with higher losses is beyond saturation. Up to this share may be in flight at the start
#: and end of a trial.
_LOSSY_RATIO = 0.005
#: During a trial, queues can absorb an excess of this share of the load.
_QUEUED_RATIO = 0.01


class Peak(NamedTuple):
    load: float
    throughput: float


def peak_of(points: Iterable[tuple[float, float]]) -> Peak | None:
    """
    The peak of a curve of throughput over load, both in the same unit.

    Args:
        points: Loads with their throughputs, in any order.

    Returns:
        `None` if the peak is unknown: all loads are beyond saturation, or fewer than two are.

    Examples:
        >>> falling = [(100, 100), (200, 200), (300, 240), (400, 220)]
        >>> load, throughput = peak_of(falling)
        >>> round(load), round(throughput)
        (250, 250)
        >>> peak_of(falling[:3]) is None
        True
    """
    curve = sorted(points)
    kept = [(x, y) for x, y in curve if y >= x * (1 - _LOSSY_RATIO)]
    if not kept:
        return None
    beyond = [one for one in curve if one[0] > kept[-1][0]][:2]
    if len(beyond) < 2:
        return None
    (x1, y1), (x2, y2) = beyond
    slope = (y2 - y1) / (x2 - x1)
    if slope >= 1:
        return None
    # The peak lies between the last load without loss, less what queues held, and the first with
    # loss.
    whole = (1 - _QUEUED_RATIO) * kept[-1][0]
    load = min(max((y1 - slope * x1) / (1 - slope), whole), x1)
    return Peak(load, max(load, max(y for x, y in curve if x <= load or x >= x1)))


def is_limited_by_offer(metric: str, levels: Mapping[str, Level], mean: float) -> bool:
    """Whether all that was offered arrived, so that the highest throughput is at least this."""
    offered = greatest_possible(metric, levels, None)
    return offered is not None and mean >= offered * (1 - MOST_LOST_RATIO)


def peaks_of_trials(
    loads: Sequence[float], trials: Iterable[Sequence[float]]
) -> list[float] | None:
    """The peak throughput of each trial of a sweep; `None` if one is unknown, or without trials."""
    found = [peak_of(zip(loads, values, strict=True)) for values in trials]
    tops = [one.throughput for one in found if one is not None]
    return tops if tops and len(tops) == len(found) else None


def peaks(cells: Sequence[Cell]) -> list[Cell]:
    """
    The peak of each series of simulated conditions that differ only in their load: a condition that
    represents the maximum over all loads.

    Args:
        cells: Conditions with `PEAKED`, of trials.
    """
    found: list[Cell] = []
    for own in _series(cells).values():
        samples = [cell.sample for cell in own if isinstance(cell.sample, Trials)]
        count = min(len(sample.values) for sample in samples)
        loads = [float(cell.levels[LOAD]) for cell in own]
        tops = peaks_of_trials(loads, zip(*(sample.values for sample in samples), strict=False))
        if tops is None:
            continue
        first = own[0]
        levels = {key: level for key, level in first.levels.items() if key != LOAD}
        varied = tuple(key for key in first.varied if key != LOAD)
        blocks = samples[0].blocks[:count]
        sample = Trials(tuple(tops), blocks, tuple(range(count)))
        found.append(replace(first, levels=levels, varied=varied, sample=sample, stands="greatest"))
    return found


def _series(cells: Sequence[Cell]) -> Mapping[str, list[Cell]]:
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        if LOAD in cell.varied and isinstance(cell.sample, Trials):
            rest: dict[str, Level] = {k: v for k, v in cell.levels.items() if k != LOAD}
            found.setdefault(f"{cell.group}: {sorted(rest.items())!r}", []).append(cell)
    return {key: own for key, own in found.items() if len(own) > 2}
