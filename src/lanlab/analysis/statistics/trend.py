"""Whether a metric peaks along ordered levels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lanlab.analysis.statistics.samples import Floats, Scale, moments, sample
from lanlab.analysis.statistics.two_groups import Comparison, welch
from lanlab.errors import UnfitValues
from lanlab.frozen import dataclass


@dataclass(frozen=True)
class PeakThenDecline:
    #: Index of the greatest mean, from 0.
    peak: int
    #: The peak compared with the first level (`None` if it is the first), and with the last.
    rise: Comparison | None
    decline: Comparison | None
    #: One-sided p, corrected because the peak was chosen as the greatest; 1 if there is none.
    rise_p: float
    decline_p: float


def peak_then_decline(
    levels: Sequence[Sequence[float]], *, scale: Scale = "log"
) -> PeakThenDecline:
    """
    Whether the greatest mean is above the first and above the last level: two Welch tests.

    The greatest of several means is biased upwards, so the one-sided p are multiplied by the number
    of levels that could have been the peak (Bonferroni).

    Args:
        levels: Values of each level, in order; at least 3 levels of at least 2 values.
        scale: Scale of the comparisons, whose intervals are not corrected for the choice of the
            peak.

    Raises:
        UnfitValues: Too few levels or values, or unfit ones.
        NoSpread: The peak and an end have no spread.
    """
    seen = _checked(levels)
    if len(seen) < 3:
        raise UnfitValues(f"levels: need at least 3 for a peak, got {len(seen)}")
    peak = int(np.argmax([moments("levels", own, scale=scale).mean for own in seen]))
    candidates = len(seen) - 1

    def against(other: int) -> tuple[Comparison | None, float]:
        if other == peak:
            return None, 1.0
        found = welch(list(seen[peak]), list(seen[other]), scale=scale)
        return found, min(1.0, candidates * found.p_greater)

    (rise, rise_p), (decline, decline_p) = against(0), against(len(seen) - 1)
    return PeakThenDecline(peak, rise, decline, rise_p, decline_p)


def _checked(levels: Sequence[Sequence[float]]) -> list[Floats]:
    if len(levels) < 2:
        raise UnfitValues(f"levels: need at least 2, got {len(levels)}")
    return [sample(f"level {at}", own, 1) for at, own in enumerate(levels)]
