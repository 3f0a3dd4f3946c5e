"""
Shows "no difference" by two one-sided tests against a declared margin.

A p above 0.05 shows nothing: with few or noisy trials every difference is "not significant". The
margin is the largest difference that does not matter. It must be declared before the trials are
seen, so there is no default.
"""

from __future__ import annotations

import math
from typing import Literal

from scipy.special import stdtr

from lanlab.analysis.statistics.samples import Scale
from lanlab.analysis.statistics.two_groups import Comparison
from lanlab.errors import UsageError
from lanlab.frozen import dataclass

Verdict = Literal["equivalent", "different", "undecided"]


@dataclass(frozen=True)
class Margin:
    #: Bounds of `a - b` (linear: below and above 0), or of `a / b` (log: below and above 1).
    low: float
    high: float
    scale: Scale

    def __post_init__(self) -> None:
        same = 1.0 if self.scale == "log" else 0.0
        finite = math.isfinite(self.low) and math.isfinite(self.high)
        if not (finite and self.low < same < self.high and (same == 0 or self.low > 0)):
            kind = "ratio" if same else "difference"
            raise UsageError(
                f"margin {self.low:g} … {self.high:g}: as a {kind} it must enclose {same:g}",
                hint="declare e.g. `Margin.of_ratio(0.05)` for 5 %",
            )

    @classmethod
    def of_ratio(cls, share: float) -> Margin:
        """
        A relative margin, the same in both directions: 0.05 is `1 / 1.05 … 1.05`.

        Raises:
            UsageError: Not above 0.
        """
        if not share > 0:
            raise UsageError(f"margin: need a share above 0, got {share:g}")
        return cls(1 / (1 + share), 1 + share, "log")

    @classmethod
    def of_difference(cls, difference: float) -> Margin:
        """
        An absolute margin in the values' unit.

        Raises:
            UsageError: Not above 0.
        """
        return cls(-difference, difference, "linear")

    @property
    def scaled(self) -> tuple[float, float]:
        if self.scale == "linear":
            return self.low, self.high
        return math.log(self.low), math.log(self.high)


@dataclass(frozen=True)
class Equivalence:
    #: `equivalent`: the interval is within the margin. `different`: it is entirely beyond the
    #: margin on one side. `undecided`: it contains an end of the margin; more trials would narrow
    #: it.
    verdict: Verdict
    p: float


def tost(comparison: Comparison, margin: Margin, *, level: float = 0.05) -> Equivalence:
    """
    Two one-sided tests of any comparison: of trials, by block, or of published values.

    Equivalent to asking whether the interval of confidence 1 - 2 `level` lies within the margin.

    Args:
        comparison: On the margin's scale.
        margin: Declared before the trials were seen.
        level: Maximum probability to call a difference equal to the margin equivalent.

    Raises:
        UsageError: Comparison and margin are on different scales.

    Source:
        D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power approach
        for assessing the equivalence of average bioavailability", Journal of Pharmacokinetics and
        Biopharmaceutics 15, 1987.

    Examples:
        >>> from lanlab.analysis.statistics import welch
        >>> seen = welch([99, 100, 101, 100], [100, 101, 102, 101], scale="log")
        >>> tost(seen, Margin.of_ratio(0.05)).verdict, tost(seen, Margin.of_ratio(0.01)).verdict
        ('equivalent', 'undecided')
    """
    if not 0 < level < 0.5:
        raise UsageError(f"level: need a number above 0 and below 0.5, got {level:g}")
    if comparison.scale != margin.scale:
        raise UsageError(
            f"margin: found the {margin.scale} scale; allowed: the {comparison.scale} scale of the"
            " comparison",
            hint="compare on the log scale for a ratio, on the linear one for a difference",
        )
    below, above = margin.scaled
    error, df = comparison.standard_error, comparison.df
    p = max(
        float(stdtr(df, -(comparison.scaled_effect - below) / error)),
        float(stdtr(df, (comparison.scaled_effect - above) / error)),
    )
    low, high = comparison.interval(1 - 2 * level)
    verdict: Verdict = "undecided"
    if p <= level:
        verdict = "equivalent"
    elif low > margin.high or high < margin.low:
        verdict = "different"
    return Equivalence(verdict, p)
