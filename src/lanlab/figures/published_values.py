"""Printed numbers for figures: their names, their units, and how far each may be off."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

from lanlab.analysis.published import printed_trials
from lanlab.analysis.summary import standard_deviation
from lanlab.figures.number_text import plain
from lanlab.figures.wording import Quantity, name_of, quantity
from lanlab.frozen import dataclass
from lanlab.studies import Level, Published, PublishedValue, Study

DESCRIBING = frozenset({"fact", "level"})
_CLOCK = "timer_resolution_ns"
_STATISTICS = {
    "sd": "SD of the ",
    "maximum": "greatest ",
    "minimum": "least ",
}


@dataclass(frozen=True)
class Ends:
    low: float
    high: float
    name: str
    #: The printed trials that they come from; empty where they come from something else.
    trials: tuple[float, ...] = ()
    n: int | None = None


def levels_text(published: Published, condition: Mapping[str, Level], keys: Iterable[str]) -> str:
    """Levels as the study calls them, as in `Windows 98 SE, NetBEUI`."""
    return ", ".join(
        level_title(published, key, condition[key]) for key in keys if key in condition
    )


def level_title(published: Published, key: str, level: Level) -> str:
    """One level as the study calls it, with the factor's name where it is a bare number."""
    one = published.named_level(key, level)
    if one is not None:
        bare = one.title.replace(".", "").isdigit()
        titles = {factor.name: factor.title for factor in published.factor}
        return f"{titles[key]} {one.title}" if bare else one.title
    if key in ("transport", "ip_version"):
        return str(level).upper() if key == "transport" else f"IPv{level}"
    return f"{name_of(key)} {plain(level)}" if isinstance(level, int | float) else str(level)


def shown_as(study: Study, published: Published, values: Sequence[PublishedValue]) -> Quantity:
    """
    How the values of one metric are shown: in the study's unit, or in that which all were printed
    with, or in lanlab's.
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
    """
    How far a printed mean may be off, in SI units: by the interval of its printed trials, by that
    of its printed deviation, or by one step of the clock that timed it; `None` where nothing is
    known.
    """
    if value.statistic != "mean":
        return None
    from lanlab.analysis.statistics import PrintedMean
    from lanlab.analysis.statistics.condition_mean import printed_condition_mean

    trials = trials_of(published, value)
    if len(trials) > 1:
        lost = lost_trials_of(published, value)
        # Each lost trial as the one of its ends that spreads them most: the mean is of all of them.
        whole = [(*trials, *chosen) for chosen in itertools.product(*lost)]
        # Rounding to a step spreads by itself: a stopwatch that shows the same is not certain.
        sd = max(printed_step(value) / math.sqrt(12), *map(standard_deviation, whole))
        n = len(trials) + len(lost)
        seen = printed_condition_mean(value.metric, PrintedMean(value.si, sd, n))
        return Ends(seen.low, seen.high, "95 %", trials, n)
    printed_sd = next(
        (
            other.si
            for other in published.value
            if (other.metric, other.statistic) == (value.metric, "sd")
            and other.condition == value.condition
        ),
        None,
    )
    count = printed_trials(published)
    if printed_sd is not None and count is not None:
        seen = printed_condition_mean(value.metric, PrintedMean(value.si, printed_sd, count))
        return Ends(seen.low, seen.high, "95 %", n=count)
    return _by_clock(published, value)


def trials_of(published: Published, value: PublishedValue) -> tuple[float, ...]:
    """The printed trials of a printed mean, in SI units and in order."""
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
    """What each lost trial of a printed mean can have been, least and greatest, in SI units."""
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
    """The step of the clock that timed the study's transfers; `None` if it is not printed."""
    steps = {value.si for value in published.value if value.metric == _CLOCK}
    return steps.pop() if len(steps) == 1 else None


def _by_clock(published: Published, value: PublishedValue) -> Ends | None:
    """A time may be off by a step, and a rate by what that makes of it. The step is printed for
    one machine; the clock is that of every PC."""
    step = clock_step_ns(published)
    if step is None or value.bound is not None:
        return None
    if value.metric == "elapsed_ns":
        return Ends(value.si - step, value.si + step, "clock step")
    if value.metric != "goodput_bps":
        return None
    elapsed = next(
        (
            other.si
            for other in published.value
            if (other.metric, other.statistic) == ("elapsed_ns", "mean")
            and other.condition == value.condition
        ),
        None,
    )
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
