"""
The model's error at published values to which nothing was fitted, and the resulting interval of a
simulated value.

Machines that fit the published values (`lanlab.studies.machines`) show what the fit leaves open,
but they share the model's deficits. Only errors at held-out values show those, so these errors
determine the interval, and the fit's range widens it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lanlab.analysis.simulation.accuracy import PREDICTED, Accuracy
from lanlab.frozen import dataclass

#: With fewer there is no interval: without one of them, at most two would remain.
LEAST_HELD_OUT = 4
#: Metrics of a copy of a fixed amount. The error of its time is the error of its rate.
_OF_ONE_AMOUNT = frozenset({"goodput_bps", "elapsed_ns", "elapsed_s"})


@dataclass(frozen=True)
class HeldOut:
    """
    A published value to which nothing was fitted, with the interval predicted from the others.
    """

    accuracy: Accuracy
    #: In the unit of the published value.
    low: float
    high: float

    @property
    def is_inside(self) -> bool:
        return self.low <= self.accuracy.published <= self.high


def held_out_values(found: Iterable[Accuracy]) -> list[Accuracy]:
    return [one for one in found if one.standing in PREDICTED and one.can_fail]


def by_metric(found: Iterable[Accuracy]) -> list[list[Accuracy]]:
    """The values by metric: the model has an error for each."""
    groups: dict[str, list[Accuracy]] = {}
    for one in found:
        groups.setdefault(_kind(one.value.metric), []).append(one)
    return list(groups.values())


def of_metric(found: Iterable[Accuracy], metric: str) -> list[Accuracy]:
    """The values that show the model's error of a metric."""
    return [one for one in found if _kind(one.value.metric) == _kind(metric)]


def _kind(metric: str) -> str:
    return "copy" if metric in _OF_ONE_AMOUNT else metric


def with_others(first: Sequence[Accuracy], others: Iterable[Accuracy]) -> list[Accuracy]:
    """The held-out values in `first`, and those in `others` that are not in `first`."""
    known = {one.value.id for one in first}
    return [*first, *(one for one in held_out_values(others) if one.value.id not in known)]


def model_error_log(found: Sequence[Accuracy]) -> float | None:
    """
    `half_width_log` of all of these values.

    Args:
        found: The result of `of_metric`.

    Returns:
        `None` if the model's error is unknown: fewer than `LEAST_HELD_OUT` values, or a value that
        was not simulated.
    """
    return half_width_log(error_logs(found)) if _is_known(found) else None


def _is_known(found: Sequence[Accuracy]) -> bool:
    return len(found) >= LEAST_HELD_OUT and all(
        one.simulated > 0 and one.published > 0 for one in found
    )


def error_logs(found: Iterable[Accuracy]) -> list[float]:
    return [math.log(one.published / one.simulated) for one in found]


def half_width_log(logs: Sequence[float]) -> float:
    """
    The expected distance of the next published value from the simulated one, as the logarithm of
    their ratio.

    The errors are assumed to be normal with mean zero: a bias of the model is part of its error and
    not corrected. The next error divided by the root mean square of n others then has Student's t
    distribution with n degrees of freedom.

    Args:
        logs: Errors of at least one value, see `error_logs`.

    Examples:
        >>> round(half_width_log([0.1, -0.1, 0.1, -0.1]), 3)
        0.278
    """
    from lanlab.analysis.statistics.intervals import t_quantile

    return t_quantile(len(logs) + 1) * root_mean_square(logs)


def ratio_error_log(half_log: float) -> float:
    """The model's error of a ratio of two simulated values, if their errors are independent."""
    return math.sqrt(2) * half_log


def ratio_factor(held_out: Iterable[Accuracy], metric: str) -> float:
    """The factor within which a ratio of two simulated values of a metric is right; infinite if the
    model's error is unknown.
    """
    half_log = model_error_log(of_metric(held_out, metric))
    return math.inf if half_log is None else math.exp(ratio_error_log(half_log))


def root_mean_square(logs: Sequence[float]) -> float:
    return math.sqrt(math.fsum(one**2 for one in logs) / len(logs))


def widened(
    value: float, half_log: float, fit: tuple[float, float] | None = None
) -> tuple[float, float]:
    """
    The interval of a simulated value.

    Args:
        value: The simulated value, above 0.
        half_log: The model's error, see `half_width_log`.
        fit: The range that the fit leaves open, which contains the value. On each side, both errors
            are treated as independent: their squares are added.

    Examples:
        >>> low, high = widened(100.0, math.log(2))
        >>> round(low, 6), round(high, 6)
        (50.0, 200.0)
    """
    low, high = fit or (value, value)
    down = math.hypot(half_log, max(0.0, math.log(value / low)))
    up = math.hypot(half_log, max(0.0, math.log(high / value)))
    return value * math.exp(-down), value * math.exp(up)


def cross_validated(found: Sequence[Accuracy]) -> list[HeldOut]:
    """
    Each value with its interval from all other values of its metric, without its own error.

    Args:
        found: The result of `held_out_values`.

    Returns:
        Without values of metrics for which `model_error_log` gives nothing.
    """
    checked = []
    for one in found:
        own = of_metric(found, one.value.metric)
        if not _is_known(own):
            continue
        others = [other for other in own if other is not one]
        fit = None if one.low is None or one.high is None else (one.low, one.high)
        half_log = half_width_log(error_logs(others))
        checked.append(HeldOut(one, *widened(one.simulated, half_log, fit)))
    return checked


def by_print_alone(found: Sequence[Accuracy]) -> list[Accuracy]:
    """The values with estimates from the published values alone in place of simulated ones; empty
    if one has no such estimate.
    """
    return [
        replace(one, simulated=one.baseline, low=None, high=None)
        for one in found
        if one.baseline is not None and all(other.baseline is not None for other in found)
    ]
