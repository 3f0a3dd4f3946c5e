"""
Loss that does not depend on the load, as distinct from saturation.

Trials far below the throughput of the highest loads cannot be lossy because of the load. If they
are lossy, and equally so at lower and at higher loads, messages are lost at random.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lanlab.frozen import dataclass
from lanlab.plan.bounds import Tried

#: Up to this share of the highest throughput, saturation causes no loss: it is four standard
#: deviations below, if the capacity varies by 5 %.
_BELOW_RATIO = 0.8
#: Upper end of the lower part of these loads; loss that rises with load is smaller there.
_MIDDLE_RATIO = 0.6
#: Shares at which to look for loss: alternately in the lower and in the higher part.
PROBE_RATIOS = (0.5, 0.75, 0.4, 0.7)
_RISES_Z = 2.58
_EXCESS_Z = 3.3


class Observation(NamedTuple):
    load: float
    tried: Tried


@dataclass(frozen=True)
class RandomLoss:
    """The loss at loads below capacity, as a share of the messages."""

    ratio: float
    #: 95 % interval of the share.
    low: float
    high: float
    trials: int
    lossy_trials: int
    #: Variance of the counts relative to independent losses.
    dispersion: float
    #: Whether loss rises with load even below capacity, as far as these trials show.
    rises: bool

    @property
    def is_seen(self) -> bool:
        """Whether loss at every load was shown: two trials at different loads agree."""
        return self.lossy_trials > 1 and not self.rises

    def forbids(self, loss_goal: float) -> bool:
        """Whether no load is known to meet a goal, because random loss alone may exceed it."""
        return self.is_seen and loss_goal < self.high

    def most_ratio(self, messages: float) -> float:
        """The most that chance alone loses in a trial, as a share of its messages, at most 1."""
        expected = messages * self.ratio
        if not expected:
            return 0.0
        most = expected + _EXCESS_Z * math.sqrt(self.dispersion * expected) + 1
        return min(1.0, most / messages)


def carried(observed: Iterable[Observation]) -> float:
    """The throughput of the highest loads: the median of three; 0 without trials."""
    highest = sorted(observed, key=lambda one: -one.load)[:3]
    arrived = sorted(one.load * (1 - one.tried.loss_ratio) for one in highest)
    return arrived[len(arrived) // 2] if arrived else 0.0


def random_loss(observed: Sequence[Observation], up_to: float | None = None) -> RandomLoss:
    """The losses of trials up to this load; if omitted, of trials far below saturation."""
    most = carried(observed)
    end = _BELOW_RATIO * most if up_to is None else up_to
    below = [o for o in observed if o.load <= end and o.tried.messages > 0]
    lossy = sum(o.tried.lost_messages > 0 for o in below)
    messages, lost = _sums(below)
    if not lost:
        return RandomLoss(0.0, 0.0, 0.0, len(below), 0, 1.0, rises=False)
    ratio = lost / messages
    dispersion = max(1.0, _chi_square(below, ratio) / max(1, len(below) - 1))
    low, high = _counted(lost / dispersion)
    scale = dispersion / messages
    return RandomLoss(
        ratio, low * scale, min(1.0, high * scale), len(below), lossy, dispersion,
        rises=_rises(below, most, ratio),
    )  # fmt: skip


def _rises(below: Sequence[Observation], most: float, ratio: float) -> bool:
    parts: tuple[list[Observation], list[Observation]] = ([], [])
    for one in below:
        parts[one.load > _MIDDLE_RATIO * most].append(one)
    (low_messages, low_lost), (high_messages, high_lost) = map(_sums, parts)
    if not low_messages or not high_messages:
        return True
    ratios = low_lost / low_messages, high_lost / high_messages
    left = sum(_chi_square(part, own) for part, own in zip(parts, ratios, strict=True))
    dispersion = max(1.0, left / max(1, len(below) - 2))
    deviation = math.sqrt(dispersion * ratio * (1 / low_messages + 1 / high_messages))
    return ratios[1] - ratios[0] > _RISES_Z * deviation


def _sums(observed: Iterable[Observation]) -> tuple[float, float]:
    messages = lost = 0.0
    for _, tried in observed:
        messages, lost = messages + tried.messages, lost + tried.lost_messages
    return messages, lost


def _chi_square(observed: Iterable[Observation], ratio: float) -> float:
    expected = ((tried.lost_messages, tried.messages * ratio) for _, tried in observed)
    # A product that overflows is infinite, where a power would raise an error.
    return sum((lost - mean) * ((lost - mean) / mean) for lost, mean in expected if mean)


def _counted(count: float) -> tuple[float, float]:
    """The exact interval of a count's mean, by Wilson and Hilferty's approximation of the
    quantiles of chi-square (F. Garwood, Biometrika 28, 1936)."""

    def quantile(mean: float, z: float) -> float:
        return mean * max(0.0, 1 - 1 / (9 * mean) + z / (3 * math.sqrt(mean))) ** 3

    return (quantile(count, -1.96) if count > 0 else 0.0), quantile(count + 1, 1.96)
