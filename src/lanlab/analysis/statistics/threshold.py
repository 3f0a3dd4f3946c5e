"""
The load at which an effect begins, with its interval, although few trials show it exactly.

The threshold varies between trials. A trial below its threshold shows only that the threshold is
higher, a trial above it that the threshold is lower. If the offered load exceeds the capacity, the
received rate is the threshold itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import log_ndtr, stdtrit

from lanlab.analysis.statistics.neighbours import widening
from lanlab.analysis.statistics.samples import Floats
from lanlab.frozen import dataclass

#: Largest standard deviation of the threshold's logarithm to try; the resolution is the smallest.
_LARGEST_SPREAD = 1.0
_SPREADS = 121
_PLACES = 81
#: Degrees of freedom if no trial shows its threshold exactly: only the trials that a search runs
#: near it show the spread. Found by simulation.
_DEGREES_EITHER_SIDE = 3
_HALVINGS = 30
#: A trial this many standard deviations away from the threshold, on the expected side, adds no
#: information.
_TELLS_NOTHING = -2.0
#: Improvement in twice the log likelihood from which the threshold is taken to grow with the load.
#: By chance, few trials reach it in one of several hundred cases.
_FOLLOWS = 16.0


@dataclass(frozen=True)
class Threshold:
    median: float
    #: 95 % interval; `None` for an end that the trials do not determine.
    low: float | None
    high: float | None
    spread_ratio: float
    trials: int
    #: Deviation of each trial's threshold from the median, natural logarithm, in order of
    #: measurement. If a trial only bounds its threshold, its expected value
    #: takes the place.
    distances: tuple[float, ...] = ()


@dataclass(frozen=True)
class ThresholdTrials:
    exact: Sequence[float] = ()
    above: Sequence[float] = ()
    below: Sequence[float] = ()
    loads: Sequence[float] = ()
    #: Position in time of each measurement: first of `exact`, then `above`, then `below`. Empty:
    #: they count as independent.
    order: Sequence[int] = ()


def threshold(seen: ThresholdTrials, *, resolution: float) -> Threshold | None:
    """
    The median threshold by maximum likelihood, lognormal between trials, with a profile likelihood
    interval.

    The profile's bound is chosen to give Student's interval if all trials are exact. If the order
    is known, correlated trials widen the interval.

    Args:
        seen: The observations: at least two exact ones, or one on each side.
        resolution: Smallest spread, as a share: one message of a trial's messages.

    Source:
        Y. Pawitan, "In All Likelihood", 2001, sections 3.4 and 11.1 (censored data).
    """
    n = len(seen.exact)
    if n < 2 and not (seen.above and seen.below):
        return None
    spreads = np.geomspace(resolution, _LARGEST_SPREAD, _SPREADS)
    profile = _profile(seen, spreads)
    ends = [*seen.exact, *seen.above, *seen.below]
    first, last = min(ends) - 2 * resolution, max(ends) + 2 * resolution
    for _ in range(3):
        places = np.linspace(first, last, _PLACES)
        fits = [profile(place)[0] for place in places]
        best = [p for p, fit in zip(places, fits, strict=True) if fit >= max(fits) - 0.01]
        step = places[1] - places[0]
        first, last = best[0] - step, best[-1] + step
    middle = (best[0] + best[-1]) / 2
    most, spread = profile(middle)
    degrees = n - 1 if n > 1 else _DEGREES_EITHER_SIDE
    count = degrees + 1
    # The maximum likelihood estimate is too small, like a sum of squares divided by n.
    unbiased = spread * math.sqrt(count / degrees)
    distances = _distances(seen, middle, unbiased)
    longer = widening(distances)
    t = longer * float(stdtrit(degrees, 0.975))
    allowed = count * math.log1p(t**2 / degrees) / 2

    def end(direction: int) -> float | None:
        inside, outside = middle, middle + direction * 2 * resolution
        while profile(outside)[0] > most - allowed:
            inside, outside = outside, middle + 2 * (outside - middle)
            if abs(outside - middle) > 5:
                return None
        for _ in range(_HALVINGS):
            at = (inside + outside) / 2
            inside, outside = (at, outside) if profile(at)[0] > most - allowed else (inside, at)
        return math.exp(outside + direction * resolution)

    return Threshold(math.exp(middle), end(-1), end(1), unbiased, n, tuple(distances))


def _distances(seen: ThresholdTrials, middle: float, spread: float) -> list[float]:
    """Deviation of each trial's threshold from the median, in order of measurement. For a trial
    that only bounds it, the expected value; trials without information are omitted.
    """
    if not seen.order:
        return []
    known: list[float | None] = [value - middle for value in seen.exact]
    for side, values in ((1, seen.above), (-1, seen.below)):
        for value in values:
            z = side * (value - middle) / spread
            # The mean of a normal distribution beyond z.
            beyond = math.exp(-(z**2) / 2 - float(log_ndtr(-z))) / math.sqrt(2 * math.pi)
            known.append(side * spread * beyond if z > _TELLS_NOTHING else None)
    placed = sorted(zip(seen.order, known, strict=True), key=lambda one: one[0])
    return [off for _, off in placed if off is not None]


def follows_load(seen: ThresholdTrials, *, resolution: float) -> bool:
    """Whether the received rate still grows with loads above the threshold, and so does not show
    the threshold.
    """
    if len(seen.exact) < 3:
        return False
    spreads = np.geomspace(resolution, _LARGEST_SPREAD, _SPREADS // 2)
    center = math.fsum(seen.loads) / len(seen.loads)

    def most(slope: float) -> float:
        turned = ThresholdTrials(
            [y - slope * (x - center) for y, x in zip(seen.exact, seen.loads, strict=True)],
            [x - slope * (x - center) for x in seen.above],
        )
        profile = _profile(turned, spreads)
        ends = [*turned.exact, *turned.above]
        return max(profile(place)[0] for place in np.linspace(min(ends), max(ends), _PLACES))

    level = most(0.0)
    return max(2 * (most(slope) - level) for slope in (0.5, 0.75, 1.0)) > _FOLLOWS


def _profile(seen: ThresholdTrials, spreads: Floats) -> Callable[[float], tuple[float, float]]:
    exact, above, below = (
        np.asarray(values, dtype=float)[:, None] for values in (seen.exact, seen.above, seen.below)
    )
    log_spreads = len(seen.exact) * np.log(spreads)

    def profile(place: float) -> tuple[float, float]:
        fit = -log_spreads - 0.5 * (((exact - place) / spreads) ** 2).sum(axis=0)
        fit = fit + log_ndtr((place - above) / spreads).sum(axis=0)
        fit = fit + log_ndtr((below - place) / spreads).sum(axis=0)
        at = int(fit.argmax())
        return float(fit[at]), float(spreads[at])

    return profile
