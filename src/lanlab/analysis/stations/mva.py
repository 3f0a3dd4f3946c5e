"""
Exact mean values of a closed network of queues with one class of stations.

Queues whose rate is constant: mean value analysis. If the rate of one depends on how many are there
(several servers, or any law), the same values by convolution, whose terms are all above zero: the
recursion of mean values with probabilities loses all its digits where such a queue is saturated.

M. Reiser, S. S. Lavenberg, "Mean-Value Analysis of Closed Multichain Queuing Networks", Journal of
the ACM 27, 1980; J. P. Buzen, "Computational algorithms for closed queueing networks with
exponential servers", Communications of the ACM 16, 1973.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from lanlab.errors import UsageError

#: More take minutes where a rate depends on the number; no testbed has so many stations.
MOST_STATIONS = 100_000
_MOST_BY_CONVOLUTION = 10_000

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Queue:
    """A part of the server at which operations wait for each other."""

    #: Time of one operation there, alone, seconds.
    demand_s: float
    #: How many times as fast it is with 1, 2, … operations there as with one; of more the last
    #: counts. `(1, 2, 3)` are three servers.
    rates: tuple[float, ...] = (1.0,)

    @classmethod
    def of_servers(cls, demand_s: float, servers: int) -> Queue:
        """Several servers with one line before them."""
        return cls(demand_s, tuple(float(number) for number in range(1, servers + 1)))

    @property
    def is_constant(self) -> bool:
        """Whether its rate does not depend on how many are there."""
        return all(rate == 1 for rate in self.rates)


@dataclass(frozen=True)
class MeanValues:
    """Mean values at 1, 2, … stations; arrays of shape `(stations,)`."""

    throughput_per_s: Floats
    response_s: Floats
    #: At each queue with all stations: its mean length, served ones among them; and the mean time
    #: that an operation spends there, seconds. Shape `(queues,)`.
    queue_lengths: Floats
    residence_s: Floats


def mean_values(queues: Sequence[Queue], stations: int, *, think_s: float = 0.0) -> MeanValues:
    """
    Throughput and response time of a closed network.

    Args:
        queues: At least one.
        stations: At most 100,000; 10,000 where a rate depends on the number.
        think_s: Spent beside all queues in each turn, seconds, from 0.

    Raises:
        UsageError: Something out of these bounds.

    Examples:
        One station at a time finds the server free; from three on the server is always busy.

        >>> seen = mean_values([Queue(0.010)], 3, think_s=0.010)
        >>> [round(float(rate), 1) for rate in seen.throughput_per_s]
        [50.0, 80.0, 93.8]
    """
    constant = all(queue.is_constant for queue in queues)
    most = MOST_STATIONS if constant else _MOST_BY_CONVOLUTION
    if not queues or not 1 <= stations <= most:
        raise UsageError(
            f"need a queue and 1 to {most} stations, got {len(queues)} queues, {stations} stations"
        )
    for queue in queues:
        _check(queue)
    if not (math.isfinite(think_s) and think_s >= 0):
        raise UsageError(f"think_s: need a number from 0, got {think_s:g}")
    if constant:
        return _by_recursion(np.array([queue.demand_s for queue in queues]), stations, think_s)
    return _by_convolution(queues, stations, think_s)


def _check(queue: Queue) -> None:
    numbers = (queue.demand_s, *queue.rates)
    if not queue.rates or not all(math.isfinite(one) and one > 0 for one in numbers):
        raise UsageError(
            f"a queue needs a demand and rates above 0, got {queue.demand_s:g} s and "
            f"{', '.join(f'{rate:g}' for rate in queue.rates) or 'no rate'}"
        )


def _by_recursion(demands: Floats, stations: int, think_s: float) -> MeanValues:
    throughput, response = np.zeros(stations), np.zeros(stations)
    lengths = np.zeros(len(demands))
    for count in range(1, stations + 1):
        # Who arrives finds what is there with one station less.
        residence = demands * (1 + lengths)
        response[count - 1] = residence.sum()
        throughput[count - 1] = count / (think_s + response[count - 1])
        lengths = throughput[count - 1] * residence
    return MeanValues(throughput, response, lengths, residence)


def _by_convolution(queues: Sequence[Queue], stations: int, think_s: float) -> MeanValues:
    weights = [_log_weights(queue, stations) for queue in queues]
    think = _log_think(think_s, stations)
    whole = think
    for each in weights:
        whole = _convolved(whole, each)
    throughput = np.exp(whole[:-1] - whole[1:])
    response = np.arange(1, stations + 1) / throughput - think_s
    lengths = np.zeros(len(queues))
    numbers = np.arange(stations + 1)
    for place, own in enumerate(weights):
        others = think
        for other, each in enumerate(weights):
            if other != place:
                others = _convolved(others, each)
        shares = np.exp(own + others[::-1] - whole[-1])
        lengths[place] = float(numbers @ shares)
    return MeanValues(throughput, response, lengths, lengths / throughput[-1])


def _log_weights(queue: Queue, stations: int) -> Floats:
    """Of 0, 1, … operations there: the product of their demands over the rates."""
    rates = np.full(stations, queue.rates[-1])
    rates[: len(queue.rates)] = queue.rates[:stations]
    return np.concatenate(([0.0], np.cumsum(math.log(queue.demand_s) - np.log(rates))))


def _log_think(think_s: float, stations: int) -> Floats:
    if think_s == 0:
        return np.concatenate(([0.0], np.full(stations, -np.inf)))
    numbers = np.arange(stations + 1)
    found: Floats = numbers * math.log(think_s) - gammaln(numbers + 1)
    return found


def _convolved(a: Floats, b: Floats) -> Floats:
    return np.array([logsumexp(a[: n + 1] + b[n::-1]) for n in range(len(a))])
