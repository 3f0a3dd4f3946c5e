"""
The data on a metric at one condition: trials, a published mean with its spread, or a number.

All values are in the metric's SI unit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

from lanlab.frozen import dataclass

#: Maximum number of values tried for each missing trial, if several samples lack trials.
_MOST_FILLS = 3


@dataclass(frozen=True)
class Trials:
    values: tuple[float, ...]
    #: The block of each trial, if they were measured in blocks; else empty.
    blocks: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()
    missing: tuple[tuple[tuple[float, ...], int], ...] = ()
    #: The step size of the readings; 0 if it is negligible.
    resolution: float = 0.0
    #: Ids of the published numbers it is computed from; empty for measurements.
    sources: frozenset[str] = frozenset()

    @property
    def mean(self) -> float:
        return math.fsum(self.values) / len(self.values)

    def completed(self, few: bool = False) -> Iterator[Trials]:
        """The sample with each possible value of its lost trials (`few`: only ends and middle)."""
        choices = [_some(values) if few else values for values, _ in self.missing]
        places = tuple(place for _, place in self.missing)
        for chosen in itertools.product(*choices):
            yield replace(
                self,
                values=(*self.values, *chosen),
                positions=(*self.positions, *places),
                missing=(),
            )


@dataclass(frozen=True)
class PrintedSpread:
    """A printed mean of `n` trials with their standard deviation."""

    mean: float
    sd: float
    n: int
    half_digit: float = 0.0
    sources: frozenset[str] = frozenset()


@dataclass(frozen=True)
class PrintedNumber:
    mean: float
    #: Possible range of the value, from its last digit or a published bound.
    low: float
    high: float
    sources: frozenset[str] = frozenset()

    @property
    def is_bound(self) -> bool:
        return math.isinf(self.low) or math.isinf(self.high)


Sample = Trials | PrintedSpread | PrintedNumber


def as_number(sample: Sample) -> PrintedNumber:
    match sample:
        case PrintedNumber():
            return sample
        case PrintedSpread(mean=mean, half_digit=half):
            return PrintedNumber(mean, mean - half, mean + half, sample.sources)
        case Trials():
            return PrintedNumber(sample.mean, sample.mean, sample.mean, sample.sources)


def divided(a: PrintedNumber, b: PrintedNumber) -> PrintedNumber:
    """`a / b` of positive numbers, with its possible range."""
    low = a.low / b.high if math.isfinite(b.high) else 0.0
    high = a.high / b.low if b.low > 0 else math.inf
    return PrintedNumber(a.mean / b.mean, low, high, a.sources | b.sources)


def _some(values: tuple[float, ...]) -> tuple[float, ...]:
    if len(values) <= _MOST_FILLS:
        return values
    return values[0], values[len(values) // 2], values[-1]
