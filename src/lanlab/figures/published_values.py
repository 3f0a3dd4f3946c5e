"""Published values for figures: their names, units, and uncertainty."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

from lanlab.analysis.published.values import printed_trials
from lanlab.analysis.trials.summary import standard_deviation
from lanlab.figures.number_text import plain
from lanlab.figures.wording import Quantity, name_of, quantity
from lanlab.frozen import dataclass
from lanlab.services import SERVICES
from lanlab.studies.base import Level
from lanlab.studies.model import Study
from lanlab.studies.published import Published, PublishedValue
from lanlab.workloads.copy.datasets import dataset_text

DESCRIBING = frozenset({"fact", "level"})
_CLOCK = "timer_resolution_ns"
_STATISTICS = {"sd": "SD of the ", "maximum": "greatest ", "minimum": "least "}


@dataclass(frozen=True)
class Ends:
    low: float
    high: float
    name: str
    #: The published trials behind the value; empty if none were published.
    trials: tuple[float, ...] = ()
    n: int | None = None


def varied_keys(values: Iterable[PublishedValue]) -> list[str]:
    own = list(values)
    keys = dict.fromkeys(key for value in own for key in value.condition)
    return [key for key in keys if len({repr(v.condition.get(key)) for v in own}) > 1]


def levels_text(published: Published, condition: Mapping[str, Level], keys: Iterable[str]) -> str:
    """Levels by the study's names, as in `Windows 98 SE, NetBEUI`."""
    return ", ".join(
        level_title(published, key, condition[key]) for key in keys if key in condition
    )


def level_title(published: Published, key: str, level: Level) -> str:
    """One level by the study's name, with the factor's name if it is only a number."""
    one = published.named_level(key, level)
    if one is not None:
        bare = one.title.replace(".", "").isdigit()
        titles = {factor.name: factor.title for factor in published.factor}
        return f"{titles[key]} {one.title}" if bare else one.title
    if key in ("transport", "ip_version"):
        return str(level).upper() if key == "transport" else f"IPv{level}"
    if isinstance(level, int | float):
        return f"{name_of(key)} {plain(level)}"
    if key == "dataset":
        return dataset_text(level)
    service = SERVICES.get(level)
    return level if service is None else service.title


def shown_as(study: Study, published: Published, values: Sequence[PublishedValue]) -> Quantity:
    """The unit for the values of one metric: the study's, or the one in which all were published,
    or lanlab's.
    """
    metric, units = values[0].metric, {value.unit for value in values}
    ours = quantity(study, metric)
    title = next((one.title for one in published.metric if one.name == metric), ours.name)
    kinds = {value.statistic for value in values}
    opening = _STATISTICS.get(next(iter(kinds)), "") if len(kinds) == 1 else ""
    if metric in study.units or len(units) > 1:
        return Quantity(metric, opening + title, ours.unit, ours.si_per_unit, ours.si_unit)
    per = next((value.si / value.value for value in values if value.value), 1.0)
    unit = units.pop().replace(" [sic]", "")
    return Quantity(metric, opening + title, unit, per, ours.si_unit)


def ends_of(published: Published, value: PublishedValue) -> Ends | None:
    """The uncertainty of a published mean in SI units: the interval from its published trials, or
    from its published deviation, or one step of the clock that timed it. `None` if unknown.
    """
    if value.statistic != "mean":
        return None
    from lanlab.analysis.statistics import PrintedMean
    from lanlab.analysis.statistics.condition_mean import printed_condition_mean

    trials = trials_of(published, value)
    if len(trials) > 1:
        lost = lost_trials_of(published, value)
        # Choose values for the lost trials, at the ends of their ranges, that give the largest
        # spread: the mean includes these trials.
        whole = [(*trials, *chosen) for chosen in itertools.product(*lost)]
        # Readings of a stopwatch can be equal by rounding, which hides their spread.
        sd = max(printed_step(value) / math.sqrt(12), *map(standard_deviation, whole))
        n = len(trials) + len(lost)
        seen = printed_condition_mean(value.metric, PrintedMean(value.si, sd, n))
        return Ends(seen.low, seen.high, "95 %", trials, n)
    printed_sd = _at_same(published, value, value.metric, "sd")
    count = printed_trials(published)
    if printed_sd is not None and count is not None:
        seen = printed_condition_mean(value.metric, PrintedMean(value.si, printed_sd, count))
        return Ends(seen.low, seen.high, "95 %", n=count)
    return _by_clock(published, value)


def _at_same(
    published: Published, value: PublishedValue, metric: str, statistic: str
) -> float | None:
    """Another published number of the same condition, in SI units."""
    return next(
        (
            other.si
            for other in published.value
            if (other.metric, other.statistic) == (metric, statistic)
            and other.condition == value.condition
        ),
        None,
    )


def trials_of(published: Published, value: PublishedValue) -> tuple[float, ...]:
    """The published trials of a published mean, in SI units and in order."""
    own = [
        (other.condition["trial"], other.si)
        for other in published.value
        if other.statistic == "trial"
        and other.metric == value.metric
        and "trial" in other.condition
        and {k: v for k, v in other.condition.items() if k != "trial"} == value.condition
    ]
    return tuple(si for _, si in sorted(own, key=lambda pair: float(pair[0])))


def lost_trials_of(published: Published, value: PublishedValue) -> list[tuple[float, ...]]:
    """The possible range of each lost trial of a published mean, in SI units."""
    per = value.si / value.value
    found: list[tuple[float, ...]] = []
    for one in published.missing:
        rest = {key: level for key, level in one.condition.items() if key != "trial"}
        if one.metric == value.metric and one.statistic == "trial" and rest == value.condition:
            ends = [*(one.feasible or ()), *(one.feasible_if_truncated or ())]
            if ends:
                found.append((per * min(ends), per * max(ends)))
    return found


def clock_step_ns(published: Published) -> float | None:
    """The step of the clock that timed the study's transfers; `None` if not published."""
    steps = {value.si for value in published.value if value.metric == _CLOCK}
    return steps.pop() if len(steps) == 1 else None


def _by_clock(published: Published, value: PublishedValue) -> Ends | None:
    """The error from the clock: a time may be wrong by one step, and a rate accordingly. The step
    is published for one machine, but all PCs have the same clock.
    """
    step = clock_step_ns(published)
    if step is None or value.bound is not None:
        return None
    if value.metric == "elapsed_ns":
        return Ends(value.si - step, value.si + step, "clock step")
    if value.metric != "goodput_bps":
        return None
    elapsed = _at_same(published, value, "elapsed_ns", "mean")
    if elapsed is None or elapsed <= step:
        return None
    slow, fast = elapsed / (elapsed + step), elapsed / (elapsed - step)
    return Ends(value.si * slow, value.si * fast, "clock step")


def printed_step(value: PublishedValue) -> float:
    if value.value == 0:
        return 0.0
    digits = "".join(sign for sign in value.published.replace(" ", "") if sign in "0123456789.")
    decimals = len(digits.partition(".")[2])
    return float(10.0**-decimals * abs(value.si / value.value))
