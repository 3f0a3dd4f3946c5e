"""
Checks values and computes their moments on a scale: the first step of every statistic.

Each value belongs to one trial. Values within a trial are correlated and must not be passed one by
one (see `lanlab.analysis.trials.summary`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from lanlab.errors import UnfitValues, UsageError
from lanlab.frozen import dataclass
from lanlab.workloads.scales import Scale as Scale
from lanlab.workloads.scales import scale_of as scale_of

Floats = NDArray[np.float64]

#: Share of the intervals that contain the true value.
CONFIDENCE = 0.95

_STEP_SD = 1 / math.sqrt(12)


def sample(name: str, values: Iterable[float], at_least: int, *, scale: Scale = "linear") -> Floats:
    """
    Values as an array of shape `(values,)`, checked for use in a statistic.

    Raises:
        UnfitValues: Fewer than `at_least`, one is not finite, or, for `log`, not above zero.
    """
    array = np.array([float(value) for value in values])
    if array.size < at_least:
        raise UnfitValues(
            f"{name}: need at least {at_least} values, got {array.size}", hint="run more trials"
        )
    if not np.isfinite(array).all():
        at = int(np.flatnonzero(~np.isfinite(array))[0])
        raise UnfitValues(
            f"{name}: every value must be finite; found {array[at]} at position {at}",
            hint="omit trials without this metric",
        )
    if scale == "log" and array.min() <= 0:
        at = int(np.flatnonzero(array <= 0)[0])
        raise UnfitValues(
            f"{name}: on a log scale every value must be above 0; found {array[at]:g}"
            f" at position {at}",
            hint="use the linear scale and a difference",
        )
    return array


def check_share(name: str, value: float) -> None:
    """Refuse a confidence, level or power that is not between 0 and 1 (both exclusive)."""
    if not 0 < value < 1:
        raise UsageError(f"{name}: need a number above 0 and below 1, got {value:g}")


@dataclass(frozen=True)
class Moments:
    """Mean and spread of trials on a scale; for `log`, of the logarithms."""

    mean: float
    #: Standard deviation of the sample, with n - 1.
    sd: float
    n: int
    scale: Scale

    @property
    def mean_variance(self) -> float:
        return self.sd**2 / self.n

    @property
    def centre(self) -> float:
        """The mean in the values' unit: arithmetic, or geometric on a log scale."""
        return unscaled(self.mean, self.scale)


def satterthwaite(parts: Iterable[tuple[float, float]]) -> float:
    """
    Degrees of freedom of a sum of independent means (Satterthwaite 1946, Welch 1947).

    Args:
        parts: For each mean its part of the sum's variance, in the squared unit, not all 0; and the
            number of independent values, from 2.
    """
    known = list(parts)
    variance = math.fsum(part for part, _ in known)
    return variance**2 / math.fsum(part**2 / (n - 1) for part, n in known)


def pooled_sd(a: Moments, b: Moments) -> float:
    squares = (a.n - 1) * a.sd**2 + (b.n - 1) * b.sd**2
    return math.sqrt(squares / (a.n + b.n - 2))


def unscaled(value: float, scale: Scale) -> float:
    """A mean or difference on a scale, as mean, difference or ratio in the values' unit."""
    if scale == "linear":
        return value
    return math.exp(value) if value < 709 else math.inf


def moments(
    name: str,
    values: Iterable[float],
    *,
    scale: Scale = "linear",
    at_least: int = 2,
    resolution: float = 0.0,
) -> Moments:
    """
    Mean and spread of a sample on a scale.

    Args:
        name: Name of the values, for errors.
        values: One per trial, any unit, at least `at_least`.
        scale: `linear`, or `log` for values above zero.
        at_least: Required number of values.
        resolution: The step in which the metric was read, in the values' unit; 0 if it is fine. The
            standard deviation is at least `resolution / √12`, the effect of rounding to such a
            step: a stopwatch that shows 260 s five times does not make the value certain.

    Raises:
        UnfitValues: See `sample`.
        UsageError: A negative resolution.
    """
    if not (math.isfinite(resolution) and resolution >= 0):
        raise UsageError(f"resolution: need a number from 0, got {resolution:g}")
    array = sample(name, values, at_least, scale=scale)
    # Equal except for rounding: their spread is a rounding error.
    equal = float(np.ptp(array)) <= 8 * np.finfo(float).eps * float(np.abs(array).max())
    scaled = np.log(array) if scale == "log" else array
    mean = float(scaled[0]) if equal else float(scaled.mean())
    sd = 0.0 if equal or array.size < 2 else float(scaled.std(ddof=1))
    step = resolution / math.exp(mean) if scale == "log" else resolution
    return Moments(mean, max(sd, step * _STEP_SD), int(array.size), scale)


@dataclass(frozen=True)
class PrintedMean:
    #: Arithmetic mean, any unit.
    mean: float
    #: Standard deviation of the trials (not the standard error), same unit.
    sd: float
    #: Trials, from 2.
    n: int

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean) and math.isfinite(self.sd) and self.sd >= 0):
            raise UnfitValues(
                f"published mean {self.mean:g} and sd {self.sd:g}: both must be finite,"
                " the sd not negative"
            )
        if self.n < 2:
            raise UnfitValues(f"published mean: need at least 2 trials, got {self.n}")

    def moments(self, scale: Scale = "linear") -> Moments:
        """
        The moments on a scale.

        On the log scale the trials are assumed to be lognormal. The parameters follow from mean m
        and sd s: σ² = ln(1 + s²/m²), μ = ln m - σ²/2. For a coefficient of variation below 10 % any
        other shape gives nearly the same.

        Raises:
            UnfitValues: A mean is not above zero on the log scale.
        """
        if scale == "linear":
            return Moments(self.mean, self.sd, self.n, scale)
        if self.mean <= 0:
            raise UnfitValues(
                f"published mean: on a log scale it must be above 0, got {self.mean:g}",
                hint="use the linear scale and a difference",
            )
        variance = math.log1p((self.sd / self.mean) ** 2)
        return Moments(math.log(self.mean) - variance / 2, math.sqrt(variance), self.n, scale)
