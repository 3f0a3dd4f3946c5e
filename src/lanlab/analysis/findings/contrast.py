"""
A weighted sum of conditions' means, and its statistical uncertainty.

A difference has weights 1 and -1, a ratio the same on the log scale. Differences of differences,
slopes and single means are weighted sums, too. One formula covers all: within blocks if the
conditions were measured in blocks, else Welch's with Satterthwaite's degrees of freedom.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from scipy.special import stdtr, stdtrit

from lanlab.analysis.findings.sample import PrintedNumber, PrintedSpread, Sample, Trials, as_number
from lanlab.analysis.statistics.samples import (
    Moments,
    PrintedMean,
    Scale,
    moments,
    pooled_sd,
    satterthwaite,
)
from lanlab.analysis.statistics.two_groups import unbiased_g
from lanlab.frozen import dataclass
from lanlab.workloads.scales import log_error

#: `tested`: the uncertainty is known. `as printed`: no spread is known. `all equal`: all trials
#: were equal. `too few`: one trial, or two equal ones. `simulated`: the mean over a model's seeds,
#: whose spread does not show how machines vary.
Basis = Literal["tested", "as printed", "all equal", "too few", "simulated"]
Term = tuple[float, Sample]

#: With fewer trials, all equal, there is no verdict.
_LEAST_EQUAL = 3
#: With more combinations of values for lost trials than this, only the ends and middle of each
#: range are tried.
_MOST_WAYS = 100


@dataclass(frozen=True)
class Estimate:
    value: float
    basis: Basis
    test: str
    #: Standard error and its degrees of freedom; 0 without a test.
    error: float = 0.0
    df: float = 1.0
    below: float = 0.0
    above: float = 0.0
    is_bound: bool = False
    n: tuple[int, ...] = ()
    #: Difference of two conditions in standard deviations, corrected for the bias of few trials.
    hedges_g: float | None = None
    sources: frozenset[str] = frozenset()

    def p_above(self, bound: float) -> float:
        """Probability of a value this high if the true value is at most `bound`."""
        return float(stdtr(self.df, -(self.value - self.below - bound) / self.error))

    def p_below(self, bound: float) -> float:
        """Probability of a value this low if the true value is at least `bound`."""
        return float(stdtr(self.df, (self.value + self.above - bound) / self.error))

    def interval(self, confidence: float) -> tuple[float, float]:
        half = 0.0
        if self.basis == "tested":
            half = float(stdtrit(self.df, 0.5 + confidence / 2)) * self.error
        return self.value - self.below - half, self.value + self.above + half


def scale_for(terms: Sequence[Term], wanted: Scale) -> Scale:
    """The requested scale; linear if a value does not allow logarithms."""
    if wanted == "log" and any(_least(sample) <= 0 for _, sample in terms):
        return "linear"
    return wanted


def contrasts(terms: Sequence[Term], scale: Scale) -> tuple[Estimate, ...]:
    """
    The contrast, once for each possible value of lost trials; once if no trial was lost.

    Args:
        terms: Weights and samples.
        scale: The scale of the sum; for `log` every value must be above zero.
    """
    ways = [len(list(s.completed())) if isinstance(s, Trials) else 1 for _, s in terms]
    few = math.prod(ways) > _MOST_WAYS
    options = [
        list(sample.completed(few)) if isinstance(sample, Trials) else [sample]
        for _, sample in terms
    ]
    weights = [weight for weight, _ in terms]
    return tuple(
        contrast(list(zip(weights, chosen, strict=True)), scale)
        for chosen in itertools.product(*options)
    )


def contrast(terms: Sequence[Term], scale: Scale) -> Estimate:
    """The contrast of samples without lost trials; arguments as in `contrasts`."""
    sources = frozenset().union(*(sample.sources for _, sample in terms))
    return replace(_contrast(terms, scale), sources=sources)


def _contrast(terms: Sequence[Term], scale: Scale) -> Estimate:
    if any(isinstance(sample, PrintedNumber) for _, sample in terms):
        return _as_printed(terms, scale)
    if any(isinstance(sample, Trials) and len(sample.values) < 2 for _, sample in terms):
        value = math.fsum(w * on_scale(as_number(s).mean, scale) for w, s in terms)
        n = tuple(_count(sample) for _, sample in terms)
        return Estimate(value, "too few", "none: a condition was tried once", n=n)
    blocks = _common_blocks([sample for _, sample in terms])
    return _by_block(terms, scale, blocks) if blocks else _unpaired(terms, scale)


def _unpaired(terms: Sequence[Term], scale: Scale) -> Estimate:
    found = []
    for weight, sample in terms:
        if isinstance(sample, Trials):
            seen = moments("trials", sample.values, scale=scale, resolution=sample.resolution)
            half = 0.0
        else:
            assert isinstance(sample, PrintedSpread)
            seen = PrintedMean(sample.mean, sample.sd, sample.n).moments(scale)
            half = sample.half_digit / sample.mean if scale == "log" else sample.half_digit
        found.append((weight, seen, half))
    if len(terms) == 1 and scale == "log":
        return _single_rate(terms[0][1], found[0][1], found[0][2])
    value = math.fsum(weight * seen.mean for weight, seen, _ in found)
    parts = [weight**2 * seen.mean_variance for weight, seen, _ in found]
    variance = math.fsum(parts)
    rounding = math.fsum(abs(weight) * half for weight, _, half in found)
    n = tuple(seen.n for _, seen, _ in found)
    if variance == 0:
        return _without_spread(value, rounding, n)
    df = satterthwaite(zip(parts, n, strict=True))
    hedges_g = None
    if len(found) == 2:
        (_, a, _), (_, b, _) = found
        hedges_g = unbiased_g(value / pooled_sd(a, b), a.n + b.n - 2)
    name = {1: "Student's t", 2: "Welch's t"}.get(len(found), "Welch's t of a contrast")
    return Estimate(
        value, "tested", name, math.sqrt(variance), df, rounding, rounding, False, n, hedges_g
    )


def _single_rate(sample: Sample, seen: Moments, rounding: float) -> Estimate:
    value = math.log(as_number(sample).mean)
    if seen.sd == 0:
        return _without_spread(value, rounding, (seen.n,))
    error, df = log_error(seen.sd, seen.n), seen.n - 1.0
    test = "Student's t"
    return Estimate(value, "tested", test, error, df, rounding, rounding, False, (seen.n,))


def _by_block(terms: Sequence[Term], scale: Scale, blocks: Sequence[int]) -> Estimate:
    columns = []
    for weight, sample in terms:
        assert isinstance(sample, Trials)
        own = dict(zip(sample.blocks, sample.values, strict=True))
        columns.append([weight * on_scale(own[block], scale) for block in blocks])
    sums = [math.fsum(parts) for parts in zip(*columns, strict=True)]
    value, count = math.fsum(sums) / len(sums), len(sums)
    n = (count,) * len(terms)
    # Equal except for rounding errors.
    bits = 1e-13 * max(abs(part) for column in columns for part in column)
    if max(sums) - min(sums) <= bits:
        return _without_spread(value, 0.0, n)
    sd = math.sqrt(math.fsum((one - value) ** 2 for one in sums) / (count - 1))
    hedges_g = unbiased_g(value / sd, count - 1.0) if len(terms) == 2 else None
    error = sd / math.sqrt(count)
    test = "Student's t by block"
    return Estimate(value, "tested", test, error, count - 1.0, n=n, hedges_g=hedges_g)


def _without_spread(value: float, rounding: float, n: tuple[int, ...]) -> Estimate:
    if min(n) < _LEAST_EQUAL:
        return Estimate(value, "too few", "none: two equal trials say nothing of chance", n=n)
    test = "none: no trial differed"
    return Estimate(value, "all equal", test, below=rounding, above=rounding, n=n)


def _as_printed(terms: Sequence[Term], scale: Scale) -> Estimate:
    value = low = high = 0.0
    is_bound = False
    for weight, sample in terms:
        seen = as_number(sample)
        is_bound |= seen.is_bound
        ends = sorted(weight * on_scale(end, scale) for end in (seen.low, seen.high))
        value += weight * on_scale(seen.mean, scale)
        low, high = low + ends[0], high + ends[1]
    n = tuple(_count(sample) for _, sample in terms)
    test = "none: means only"
    return Estimate(value, "as printed", test, 0, 1, value - low, high - value, is_bound, n)


def _common_blocks(samples: Sequence[Sample]) -> list[int]:
    if len(samples) < 2 or not all(isinstance(s, Trials) and s.blocks for s in samples):
        return []
    known = [set(sample.blocks) for sample in samples if isinstance(sample, Trials)]
    common = sorted(set.intersection(*known))
    return common if len(common) >= 2 else []


def on_scale(value: float, scale: Scale) -> float:
    if scale == "linear":
        return value
    return math.log(value) if value > 0 else -math.inf


def _least(sample: Sample) -> float:
    if isinstance(sample, Trials):
        lost = (value for values, _ in sample.missing for value in values)
        return min(*sample.values, *lost, math.inf)
    return sample.mean


def _count(sample: Sample) -> int:
    match sample:
        case Trials(values=values):
            return len(values)
        case PrintedSpread(n=n):
            return n
        case _:
            return 1
