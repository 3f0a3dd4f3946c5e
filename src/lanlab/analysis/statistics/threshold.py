"""
At which load something begins that some trials show and some do not, with its interval.

The threshold varies from trial to trial. A trial below its threshold says only that the threshold
is higher; one above it says that it is lower, or, where more than the capacity is offered to what
carries just its capacity, where it lies: that is what arrives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import log_ndtr, stdtrit

from lanlab.analysis.statistics.neighbours import widening
from lanlab.analysis.statistics.samples import Floats
from lanlab.frozen import dataclass

#: Spreads of the logarithm of the threshold that are tried: from the resolution to this.
_LARGEST_SPREAD = 1.0
_SPREADS = 121
_PLACES = 81
#: Degrees of freedom where no trial shows its threshold: only those that a search places next to it
#: tell of the spread. Found by simulation.
_DEGREES_EITHER_SIDE = 3
_HALVINGS = 30
#: A trial that is as many standard deviations on the side on which the threshold lies says nothing.
_TELLS_NOTHING = -2.0
#: How much better a threshold that follows the load has to fit, in twice the logarithm of the
#: likelihood: with few trials chance alone does that in one of some hundreds.
_FOLLOWS = 16.0


@dataclass(frozen=True)
class Threshold:
    median: float
    #: Its 95 % interval; `None` where these trials do not end it.
    low: float | None
    high: float | None
    spread_ratio: float
    trials: int
    #: How far the threshold of each trial was from the median, natural logarithm, in the order in
    #: which they were measured; of one that only showed a side, what is expected of such.
    distances: tuple[float, ...] = ()


@dataclass(frozen=True)
class ThresholdTrials:
    exact: Sequence[float] = ()
    above: Sequence[float] = ()
    below: Sequence[float] = ()
    loads: Sequence[float] = ()
    #: When each was measured, those of `exact` first, then of `above` and of `below`; none: they
    #: are taken as independent.
    order: Sequence[int] = ()


def threshold(seen: ThresholdTrials, *, resolution: float) -> Threshold | None:
    """
    The median threshold by maximum likelihood, lognormal from trial to trial, with a profile
    likelihood interval.

    The bound of the profile is that which gives Student's interval where all trials are exact; with
    their order it is made longer where each is like the one before.

    Args:
        seen: What the trials say; at least two exact ones, or one on either side.
        resolution: Smallest spread, as a share: what one message is of a trial's.

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
    # The likelihood's own is too small, as a sum of squares over n is.
    unbiased = spread * math.sqrt(count / degrees)
    distances = _distances(seen, middle, unbiased)
    longer = widening(distances, 0.95)
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
    """How far the threshold of each trial is from the median, in the order in which they were
    measured: of one that is only known to be higher or lower what is expected of such; those that
    tell nothing are left out."""
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
    """Whether what arrives of loads above the threshold grows with the load: then they do not show
    the threshold."""
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
