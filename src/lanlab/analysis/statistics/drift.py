"""
Whether trials drift in the order of execution.

If conditions run one after another, a drift looks like an effect: 3 % over 20 trials causes a false
difference in 88 of 100 comparisons. Randomised blocks remove it from the effect; this module
detects it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, stdtr, stdtrit

from lanlab.analysis.statistics.samples import CONFIDENCE, Floats, Scale, sample, unscaled
from lanlab.errors import NoSpread, UnfitValues
from lanlab.frozen import dataclass


@dataclass(frozen=True)
class Drift:
    """How a metric changes from one trial to the next, regardless of its conditions."""

    #: Change from one position to the next, in the values' unit; on a log scale a factor.
    slope: float
    low: float
    high: float
    p: float
    #: Kendall's tau of position and value, -1 to 1, robust against outliers.
    tau: float
    tau_p: float
    n: int
    conditions: int
    scale: Scale

    @property
    def drifts(self) -> bool:
        none = 1.0 if self.scale == "log" else 0.0
        return not self.low <= none <= self.high


def drift(
    conditions: Sequence[Sequence[float]],
    positions: Sequence[Sequence[float]] | None = None,
    *,
    scale: Scale = "linear",
) -> Drift:
    """
    One slope over all conditions, each with its own mean.

    Args:
        conditions: Values of each condition, one per trial, any one unit.
        positions: When each was run: the trial's number, the block's, or seconds, in the same
            shape. By default 1, 2, 3 … within each condition.
        scale: `log` for conditions of different size, which drift in proportion.

    Raises:
        UnfitValues: Fewer than 3 trials beyond the number of conditions with two or more, unfit
            values, positions of another shape, or all at one position.
        NoSpread: All values of each condition are equal, or all lie on one line exactly.

    Source:
        Slope: ordinary least squares. Tau: M. G. Kendall, "Rank Correlation Methods", 1948, with
        the variance for ties; over several conditions their scores and variances are added
        (R. M. Hirsch, J. R. Slack, R. A. Smith, Water Resources Research 18, 1982).
    """
    if positions is None:
        positions = [list(range(1, len(values) + 1)) for values in conditions]
    if [len(values) for values in conditions] != [len(own) for own in positions]:
        raise UnfitValues("positions: need one for each value of each condition")
    pairs = []
    for at, (values, own) in enumerate(zip(conditions, positions, strict=True)):
        if len(values) >= 2:  # a single trial says nothing about order
            seen = sample(f"condition {at}", values, 2, scale=scale)
            pairs.append((sample("positions", own, 2), np.log(seen) if scale == "log" else seen))
    n = sum(seen.size for _, seen in pairs)
    df = n - len(pairs) - 1
    if df < 1:
        raise UnfitValues(
            f"conditions: need at least 3 trials of one, or 2 of several; got {n}"
            f" in {len(pairs)} conditions",
            hint="run more blocks",
        )
    x = np.concatenate([own - own.mean() for own, _ in pairs])
    y = np.concatenate([_centred(seen) for _, seen in pairs])
    spread = float(x @ x)
    if spread == 0:
        raise UnfitValues("positions: all trials of each condition have the same position")
    if not y.any():
        raise NoSpread("conditions: all values of each are equal, so nothing can drift")
    slope = float(x @ y) / spread
    rest = y - slope * x
    error = math.sqrt(float(rest @ rest) / df / spread)
    if error <= 1e-12 * abs(slope):
        raise NoSpread(
            "conditions: all values lie on one line, which leaves no error to compare it with",
            hint="run more blocks",
        )
    half = float(stdtrit(df, 0.5 + CONFIDENCE / 2)) * error
    tau, tau_p = _kendall(pairs)
    return Drift(
        slope=unscaled(slope, scale),
        low=unscaled(slope - half, scale),
        high=unscaled(slope + half, scale),
        p=min(1.0, 2 * float(stdtr(df, -abs(slope) / error))),
        tau=tau,
        tau_p=tau_p,
        n=n,
        conditions=len(pairs),
        scale=scale,
    )


def _centred(values: Floats) -> Floats:
    if np.ptp(values) <= 8 * np.finfo(float).eps * np.abs(values).max():
        return np.zeros_like(values)
    centred: Floats = values - values.mean()
    return centred


def _kendall(pairs: Sequence[tuple[Floats, Floats]]) -> tuple[float, float]:
    if len(pairs) == 1:
        from scipy import stats  # exact for few values without ties

        found = stats.kendalltau(*pairs[0])
        return float(found.statistic), float(found.pvalue)
    score = variance = 0.0
    comparable = np.zeros(2)
    for x, y in pairs:
        signs_x, signs_y = (np.sign(np.subtract.outer(v, v)) for v in (x, y))
        score += float((signs_x * signs_y).sum()) / 2
        comparable += np.abs(signs_x).sum() / 2, np.abs(signs_y).sum() / 2
        variance += _score_variance(x, y)
    if variance == 0:
        return 0.0, 1.0
    z = max(0.0, abs(score) - 1) / math.sqrt(variance)
    return score / math.sqrt(float(comparable.prod())), min(1.0, 2 * float(ndtr(-z)))


def _score_variance(x: Floats, y: Floats) -> float:
    """Variance of Kendall's score without a trend, with ties in both (Kendall 1948, chapter 4)."""
    n = x.size
    ties = [np.unique(values, return_counts=True)[1].astype(float) for values in (x, y)]

    def total(of: Floats, *subtracted: int) -> float:
        product = np.ones_like(of)
        for less in subtracted:
            product = product * (of - less)
        return float(product.sum())

    first = float(n * (n - 1) * (2 * n + 5))
    first -= sum(float((t * (t - 1) * (2 * t + 5)).sum()) for t in ties)
    variance = first / 18
    if n > 2:
        variance += total(ties[0], 0, 1, 2) * total(ties[1], 0, 1, 2) / (9 * n * (n - 1) * (n - 2))
    return variance + total(ties[0], 0, 1) * total(ties[1], 0, 1) / (2 * n * (n - 1))
