"""
Predicts throughput and response time for more stations than were measured, with intervals.

The model is chosen by a test: the third of the levels with the most stations is held out. Each
model (`models`) is fitted to the other levels and predicts the held-out ones. The model with the
closer response times is chosen, or `queue` if noise leaves this open. With fewer than five levels
none is held out, and `queue` is used.

The interval combines two errors. The first is random variation: the model is fitted again to
resampled means (`resampling`), with Student's t because only the trials show the noise. The second
is the model's error in the test beyond random variation, scaled with the ratio of stations. With
too few levels for a test, it is the model's distance from the levels that it was fitted to.

In these models throughput never falls. If it is shown to fall after its peak (or falls by a tenth,
with one trial per level), nothing is known beyond the measured levels. Then the prediction is the
last throughput, and its interval extends to the value of the universal scalability law.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lanlab.analysis.stations.levels import StationCurve
from lanlab.analysis.stations.models import (
    PARAMETERS,
    Family,
    ServerModel,
    fit_model,
    refits,
    residuals,
)
from lanlab.analysis.stations.resampling import drawn_means, noise
from lanlab.analysis.stations.usl import throughput_by_law
from lanlab.errors import NoSpread, UnfitValues
from lanlab.frozen import dataclass

#: With fewer levels, none can be held out for a test.
_LEVELS_FOR_TEST = 5
_LEAST_LEVELS = 3
_DRAWS = 200
#: Half width of a 95 % interval, in standard errors.
_TWO_SIDED = 1.959964
_FALL, _LEVEL = 0.1, 0.05

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Predictor:
    """The chosen model of one curve, and its known error."""

    #: `held`: throughput fell, and is assumed to stay at its last value.
    kind: Literal["queue", "corner", "held"]
    #: The model. For `held`, it gives the best case.
    model: ServerModel
    #: The model's error in the test, or in the fit without a test: the root mean square of the
    #: logarithms of its errors.
    error_ratio: float
    reason: str
    _curve: StationCurve
    _draws: tuple[ServerModel, ...]
    _reach: float
    #: Multiple of the draws' standard deviation that gives a 95 % interval.
    _t: float

    def at(self, stations: int) -> tuple[float, float, float]:
        """The mean response time with this number of stations, from 1, and the ends of its 95 %
        interval, seconds; meant for numbers beyond the measured ones.
        """
        if self.kind == "held":
            return self._held(stations)
        value = float(self.model.response_s([stations])[0])
        logs = [math.log(float(draw.response_s([stations])[0])) for draw in self._draws]
        chance = self._t * float(np.std(logs)) if logs else 0.0
        half = math.hypot(chance, _TWO_SIDED * self.error_ratio * self._stretch(stations))
        return value, value * math.exp(-half), value * math.exp(half)

    def _held(self, stations: int) -> tuple[float, float, float]:
        last = self._curve.levels[-1]
        think_s = self._curve.think_s
        value = max(last.response, stations / last.throughput - think_s)
        low = max(last.response, stations / self._curve.peak.throughput - think_s)
        law = throughput_by_law(self._curve, stations)
        high = max(value, stations / law - think_s)
        spread = math.exp(_TWO_SIDED * self.error_ratio)
        return value, low / spread, high * spread

    def _stretch(self, stations: int) -> float:
        beyond = math.log(stations / max(self._curve.stations))
        return max(1.0, beyond / self._reach) if self._reach > 0 else 1.0


def predictor(curve: StationCurve) -> Predictor:
    """
    Choose and fit the model of a curve.

    Args:
        curve: At least 3 levels of a mean response time; the models describe no percentiles.

    Raises:
        UnfitValues: There are fewer levels.
    """
    if len(curve.levels) < _LEAST_LEVELS:
        raise UnfitValues(
            f"levels: need at least {_LEAST_LEVELS} for a prediction, got {len(curve.levels)}",
            hint="measure at more numbers of stations",
        )
    family, error, is_tested, reason = _chosen(curve)
    model = fit_model(curve, family)
    draws = drawn_means(curve, _DRAWS)
    models = () if draws is None else tuple(refits(curve, model, np.exp(draws[:, :, 1])))
    before = curve.stations[_kept_for_fit(curve) - 1]
    reach = math.log(max(curve.stations) / before if is_tested else 2)
    kind: Literal["queue", "corner", "held"] = family
    if _falls(curve):
        kind = "held"
        reason = (
            "throughput falls after its peak, which no queue explains: it is taken to stay where "
            "it was at the most stations, with what the scalability law makes of the fall as the "
            "end of the interval"
        )
        error = noise(curve) or 0.0
    from scipy.special import stdtrit  # takes a tenth of a second to load

    freedom = sum(level.trials - 1 for level in curve.levels)
    t = float(stdtrit(freedom, 0.975)) if freedom else _TWO_SIDED
    return Predictor(kind, model, error, reason, curve, models, reach, t)


def _chosen(curve: StationCurve) -> tuple[Family, float, bool, str]:
    if len(curve.levels) < _LEVELS_FOR_TEST:
        model = fit_model(curve, "queue")
        left = max(1, len(curve.levels) - PARAMETERS)
        squares = float(np.square(residuals(curve, model)).sum())
        few = f"{len(curve.levels)} levels are too few to test a model on"
        return "queue", math.sqrt(squares / left), False, few
    kept = _kept_for_fit(curve)
    begun = replace(curve, levels=curve.levels[:kept])
    rest = replace(curve, levels=curve.levels[kept:])
    families: tuple[Family, ...] = ("queue", "corner")
    models = {family: fit_model(begun, family) for family in families}
    errors = {
        family: math.sqrt(float(np.square(residuals(rest, models[family])).mean()))
        for family in families
    }
    best: Family = "queue"
    if errors["corner"] < errors["queue"] - (noise(curve) or 0.0):
        best = "corner"
    chance = _chance(begun, rest, models[best], noise(curve))
    own = math.sqrt(max(0.0, errors[best] ** 2 - chance))
    first, last = rest.stations[0], rest.stations[-1]
    which = f"{first} to {last} stations" if first != last else f"{last} stations"
    reason = (
        f"fitted to the levels below, `{best}` foretold response times at {which} within "
        f"{100 * math.expm1(errors[best]):.2g} %"
    )
    return best, own, True, reason


def _chance(
    begun: StationCurve, rest: StationCurve, model: ServerModel, noise_ratio: float | None
) -> float:
    draws = drawn_means(begun, _DRAWS)
    if draws is None or noise_ratio is None:
        return 0.0
    responses = [
        np.log(each.response_s(rest.stations))
        for each in refits(begun, model, np.exp(draws[:, :, 1]))
    ]
    return float(np.var(responses, axis=0).mean()) + noise_ratio**2


def _kept_for_fit(curve: StationCurve) -> int:
    return len(curve.levels) - max(1, len(curve.levels) // 3)


def _falls(curve: StationCurve) -> bool:
    peak, last = curve.peak, curve.levels[-1]
    if len(curve.levels) > 2 and all(level.trials > 1 for level in curve.levels):
        if peak is last:
            return False
        from lanlab.analysis.statistics.two_groups import welch  # loads a part of scipy

        with contextlib.suppress(NoSpread):
            found = welch(peak.operations_per_s, last.operations_per_s, scale="log")
            # One-sided, because the peak was chosen as the greatest, of as many levels.
            return found.p_greater * (len(curve.levels) - 1) < _LEVEL
    return last.throughput < (1 - _FALL) * peak.throughput
