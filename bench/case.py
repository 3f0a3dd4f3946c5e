"""A thing to be simulated, and in which share of the draws it must happen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

Random = np.random.Generator

#: Chance that a share of a few draws lies beyond either bound although the true one is in between.
_TAIL = 0.005


def chance_bounds(low: float, high: float, draws: int) -> tuple[float, float]:
    """
    Between which shares 99 % of all sets of this number of draws lie.

    That holds where the true share is `low` or `high`; where it is in between, still fewer sets lie
    beyond.
    """
    return (
        float(binom.ppf(_TAIL, draws, low)) / draws,
        float(binom.isf(_TAIL, draws, high)) / draws,
    )


def correlated(random: Random, correlation: float, count: int) -> np.ndarray:
    """Standard normal numbers each of which carries on a share of the one before, as what trials
    meet under load that lasts."""
    off = random.normal(0, 1, count)
    own = math.sqrt(1 - correlation**2)
    for place in range(1, count):
        off[place] = correlation * off[place - 1] + own * off[place]
    return off


@dataclass(frozen=True)
class Case:
    """One thing to be simulated: how often something happens."""

    kind: str
    name: str
    #: Makes one draw, and says whether it happened.
    happens: Callable[[Random], bool]
    #: What theory, or the claim, says of the share of draws; in between is right.
    low: float
    high: float
    draws: int = 3_000
    #: Number of draws that an ordinary test has time for.
    few: int = 300
    seed: tuple[int, ...] = (20261121,)

    def share(self, times: int = 1) -> float:
        """The share in which it happened, of `times` as many draws as the bounds are made for."""
        draws = times * self.draws
        return self._happened(draws) / draws

    def few_share(self) -> float:
        """The share of the first `few` of these draws."""
        return self._happened(self.few) / self.few

    @property
    def few_bounds(self) -> tuple[float, float]:
        """Bounds of `few_share`."""
        return chance_bounds(self.low, self.high, self.few)

    def _happened(self, draws: int) -> int:
        # One stream for each case, whatever cases stand before it.
        random = np.random.default_rng([*self.seed, *self.name.encode()])
        return sum(self.happens(random) for _ in range(draws))
