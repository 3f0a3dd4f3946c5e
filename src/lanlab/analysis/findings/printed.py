"""Published numbers as samples: numbers with rounding errors, bounds, and ratios of two levels."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from lanlab.analysis.findings.sample import PrintedNumber, PrintedSpread, Sample, Trials
from lanlab.frozen import dataclass
from lanlab.studies.base import Level
from lanlab.studies.published import Published, PublishedLevel, PublishedValue

#: The range of "about", and of "almost" below it. Papers do not define them; this is our choice.
ABOUT_RATIO = 0.1
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def half_digit(value: PublishedValue) -> float:
    """
    Half of the last published digit, in the SI unit; 0 if the number is a word.

    Examples:
        >>> read = {"id": "a", "metric": "m_ns", "statistic": "mean", "unit": "s", "value": 1.5,
        ...         "si": 1.5e9, "si_unit": "ns", "where": "here"}
        >>> half_digit(PublishedValue.model_validate({**read, "published": "about 1.50 s"}))
        5000000.0
        >>> half_digit(PublishedValue.model_validate({**read, "published": "one and a half"}))
        0.0
    """
    if not value.value:
        return 0.0
    for found in _NUMBER.findall(re.sub(r"(?<=\d) (?=\d)", "", value.published)):
        if math.isclose(float(found), abs(value.value), rel_tol=1e-9):
            digits = len(found.partition(".")[2])
            return 0.5 * 10.0**-digits * abs(value.si / value.value)
    return 0.0


def number_of(value: PublishedValue) -> PrintedNumber:
    """A published number with its possible range."""
    mean, half = value.si, half_digit(value)
    below = above = half
    if value.bound in ("~", "<~"):
        below = max(half, ABOUT_RATIO * abs(mean))
        above = below if value.bound == "~" else 0.0
    sources = frozenset({value.id})
    if value.bound in (">=", ">"):
        return PrintedNumber(mean, mean, math.inf, sources)
    if value.bound in ("<=", "<"):
        return PrintedNumber(mean, -math.inf, mean, sources)
    return PrintedNumber(mean, mean - below, mean + above, sources)


@dataclass(frozen=True)
class PrintedRatio:
    factor: str
    numerators: tuple[Level, ...]
    denominators: tuple[Level, ...]
    ratio: PrintedNumber
    levels: Mapping[str, Level]

    @property
    def inverted(self) -> PrintedRatio:
        one = PrintedNumber(1.0, 1.0, 1.0)
        low = 0.0 if math.isinf(self.ratio.high) else one.mean / self.ratio.high
        high = math.inf if self.ratio.low <= 0 else one.mean / self.ratio.low
        turned = PrintedNumber(1 / self.ratio.mean, low, high, self.ratio.sources)
        return PrintedRatio(self.factor, self.denominators, self.numerators, turned, self.levels)


def ratio_of(value: PublishedValue, published: Published) -> PrintedRatio | None:
    """A published ratio, gain or deficit with the two levels that it compares, if it names them."""
    condition = dict(value.condition)
    names = [condition.pop(key, None) for key in ("numerator", "denominator")]
    if value.statistic not in ("ratio", "gain", "deficit") or None in names:
        return None
    of_one = {"ratio": 0.0, "gain": 1.0, "deficit": 1.0}[value.statistic]
    seen = number_of(value)
    if value.statistic == "deficit":
        ends = (1 - seen.mean, 1 - seen.high, 1 - seen.low)
    else:
        ends = (of_one + seen.mean, of_one + seen.low, of_one + seen.high)
    seen = PrintedNumber(*ends, seen.sources)
    if seen.mean <= 0:
        return None
    for factor in published.factor:
        levels = [_levels_named(str(name), factor.levels) for name in names]
        if all(levels):
            return PrintedRatio(factor.name, levels[0], levels[1], seen, condition)
    return None


def _levels_named(name: str, levels: tuple[PublishedLevel, ...]) -> tuple[Level, ...]:
    name = name.casefold()
    exact = [one for one in levels if name in (str(one.level).casefold(), one.title.casefold())]
    begun = [one for one in levels if one.title.casefold().startswith(name)]
    return tuple(one.level for one in exact or begun)


def times(sample: Sample, factor: float) -> Sample:
    match sample:
        case Trials():
            return Trials(
                tuple(factor * value for value in sample.values),
                sample.blocks,
                sample.positions,
                tuple((tuple(factor * v for v in vs), place) for vs, place in sample.missing),
                factor * sample.resolution,
                sample.sources,
            )
        case PrintedSpread():
            return PrintedSpread(
                factor * sample.mean,
                factor * sample.sd,
                sample.n,
                factor * sample.half_digit,
                sample.sources,
            )
        case _:
            ends = (factor * sample.mean, factor * sample.low, factor * sample.high)
            return PrintedNumber(*ends, sample.sources)
