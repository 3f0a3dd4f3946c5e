"""
What a closed loop of stations cannot leave, whatever the server does: operational bounds.

Demands are the time that one operation takes at each part of the server that serves one after
another, in seconds; the think time is what a station does by itself between operations, and
whatever else of an operation no other has to wait for.

P. J. Denning, J. P. Buzen, "The Operational Analysis of Queueing Network Models", Computing Surveys
10, 1978; E. D. Lazowska and others, "Quantitative System Performance", 1984, chapter 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lanlab.errors import UsageError


@dataclass(frozen=True)
class Bounds:
    """Throughput in operations per second, response time in seconds, of some stations."""

    throughput_low: float
    throughput_high: float
    response_low: float
    response_high: float


def asymptotic_bounds(demands_s: Sequence[float], think_s: float, stations: int) -> Bounds:
    """
    The bounds of any closed loop.

    Args:
        demands_s: At each part that queues, seconds, at least one above 0.
        think_s: Seconds, from 0.
        stations: From 1.

    Raises:
        UsageError: A demand or time below 0 or not finite, no demand above 0, no station.

    Examples:
        >>> seen = asymptotic_bounds([9.2, 8.0], 120.0, 20)
        >>> round(seen.throughput_high, 3), round(seen.response_low, 3)
        (0.109, 64.0)
    """
    _check(demands_s, think_s, stations)
    total, greatest = math.fsum(demands_s), max(demands_s)
    high = min(1 / greatest, stations / (total + think_s))
    low = stations / (stations * total + think_s)
    return Bounds(
        throughput_low=low,
        throughput_high=high,
        response_low=max(total, stations * greatest - think_s),
        response_high=stations * total,
    )


def balanced_job_bounds(demands_s: Sequence[float], think_s: float, stations: int) -> Bounds:
    """
    Tighter bounds, of a loop in which service times are exponential and rates constant.

    Arguments and errors as of `asymptotic_bounds`.

    Source:
        J. Zahorjan and others, "Balanced job bound analysis of queueing networks", Communications
        of the ACM 25, 1982; with think time as in Lazowska, table 5.2.
    """
    _check(demands_s, think_s, stations)
    total, greatest = math.fsum(demands_s), max(demands_s)
    mean, others = total / len(demands_s), stations - 1
    short = total + others * mean / (1 + think_s / total)
    long = total + others * greatest / (1 + think_s / (stations * total))
    high = min(1 / greatest, stations / (short + think_s))
    low = stations / (long + think_s)
    return Bounds(
        throughput_low=low,
        throughput_high=high,
        response_low=max(stations * greatest - think_s, short),
        response_high=long,
    )


def knee_stations(demands_s: Sequence[float], think_s: float) -> float:
    """
    Stations from which on some must wait, N*: where both asymptotes of the throughput meet.

    Arguments and errors as of `asymptotic_bounds`.

    Examples:
        >>> knee_stations([5.0, 4.0, 3.0], 15.0)
        5.4
    """
    _check(demands_s, think_s, 1)
    return (math.fsum(demands_s) + think_s) / max(demands_s)


def _check(demands_s: Sequence[float], think_s: float, stations: int) -> None:
    if not demands_s or not all(math.isfinite(one) and one >= 0 for one in demands_s):
        raise UsageError(f"demands_s: need numbers from 0, got {list(demands_s)}")
    if max(demands_s) == 0:
        raise UsageError("demands_s: all 0, so that nothing bounds the throughput")
    if not (math.isfinite(think_s) and think_s >= 0):
        raise UsageError(f"think_s: need a number from 0, got {think_s:g}")
    if stations < 1:
        raise UsageError(f"stations: need at least 1, got {stations}")
