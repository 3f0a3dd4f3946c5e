"""
Trials that stand apart from the others of their condition: flagged, never removed.

A trial that was disturbed is found by what disturbed it (`lanlab.analysis.pollution`), not by its
result: results that are left out because they look odd make every interval too narrow.

The usual rules are not for few trials. Of five without any outlier, Tukey's fences flag one in 33
of 100 conditions, and 3.5 median deviations in 20 of 100. So up to nine the rule is Grubbs's test,
which sees a single outlier; from ten on the median deviation with a threshold that follows the
number of trials. Both flag something in 5 of 100 conditions that have none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtri, stdtrit

from lanlab.analysis.statistics.samples import Floats, Scale, sample

#: Chance to flag any of a condition's trials if all are of one normal distribution.
FALSE_FLAGS = 0.05
LEAST_FOR_MEDIAN = 10
#: Median absolute deviation of a normal distribution, in standard deviations: 1 / 1.4826.
_MEDIAN_DEVIATION = 0.6744897501960817
#: How fast the threshold of few values falls to that of many, found by simulation for 10 to 200
#: values (`tests/analysis/statistics/test_outliers.py`).
_FEW_VALUES = 6.8


@dataclass(frozen=True)
class Outliers:
    """Which trials of a condition stand apart."""

    #: For each value, in order.
    flagged: tuple[bool, ...]
    #: Distance of each value from the centre in units of the spread, as `rule` takes them.
    distances: tuple[float, ...]
    #: Distance from which a value is flagged.
    threshold: float
    rule: Literal["grubbs", "median"]

    @property
    def count(self) -> int:
        """Flagged values."""
        return sum(self.flagged)


def flag_outliers(values: Sequence[float], *, scale: Scale = "linear") -> Outliers:
    """
    Flag what stands apart: from 3 to 9 values by Grubbs's test, from 10 by the median deviation.

    Args:
        values: Of one condition, one for each trial, any unit, at least 3. Among 3 or 4 even a
            wild value is hardly told from a wide spread.
        scale: `log` for rates and times.

    Returns:
        With nothing flagged where all values are equal. Where more than half are equal, so that
        the median deviation is 0, by Grubbs's test.

    Raises:
        UnfitValues: Fewer than 3, not finite, or not above zero on a log scale.

    Source:
        F. E. Grubbs, "Procedures for detecting outlying observations in samples", Technometrics 11,
        1969. B. Iglewicz, D. Hoaglin, "How to Detect and Handle Outliers", 1993.

    Examples:
        >>> flag_outliers([80, 83, 80, 120, 82]).flagged
        (False, False, False, True, False)
    """
    array = sample("values", values, 3, scale=scale)
    scaled = np.log(array) if scale == "log" else array
    if array.size >= LEAST_FOR_MEDIAN:
        away = np.abs(scaled - np.median(scaled))
        spread = float(np.median(away)) / _MEDIAN_DEVIATION
        if spread > 0:
            return _flag(away / spread, median_threshold(int(array.size)), "median")
    deviation = float(scaled.std(ddof=1))
    away = np.abs(scaled - scaled.mean())
    equal = np.ptp(array) <= 8 * np.finfo(float).eps * np.abs(array).max()
    distances = np.zeros_like(scaled) if equal else away / deviation
    found = _flag(distances, grubbs_threshold(int(array.size)), "grubbs")
    if found.count < 2:
        return found
    # The test is of the most extreme value alone.
    most = int(distances.argmax())
    return Outliers(
        tuple(at == most for at in range(array.size)), found.distances, found.threshold, "grubbs"
    )


def grubbs_threshold(n: int) -> float:
    """The distance from the mean, in standard deviations, that Grubbs's two-sided test allows.

    Examples:
        >>> round(grubbs_threshold(5), 3)
        1.715
    """
    t = float(stdtrit(n - 2, 1 - FALSE_FLAGS / (2 * n)))
    return (n - 1) / math.sqrt(n) * math.sqrt(t**2 / (n - 2 + t**2))


def median_threshold(n: int) -> float:
    """The distance from the median, in standard deviations by the median deviation, for `n` ≥ 10.

    That of known spread, widened for few values.

    Examples:
        >>> round(median_threshold(20), 2)
        4.04
    """
    known = float(ndtri(0.5 + (1 - FALSE_FLAGS) ** (1 / n) / 2))
    return known * (1 + _FEW_VALUES / n)


def _flag(distances: Floats, threshold: float, rule: Literal["grubbs", "median"]) -> Outliers:
    return Outliers(
        tuple(bool(distance > threshold) for distance in distances),
        tuple(float(distance) for distance in distances),
        threshold,
        rule,
    )
