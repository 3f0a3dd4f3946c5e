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
    # Loaded only for figures of published values.
    from lanlab.analysis.findings.printed import half_digit
    from lanlab.analysis.findings.published_evidence import printed_sample
    from lanlab.analysis.findings.sample import PrintedSpread, Trials
    from lanlab.analysis.statistics import PrintedMean
    from lanlab.analysis.statistics.condition_mean import printed_condition_mean

    own = [
        other
        for other in published.printed
        if other.metric == value.metric
        and other.statistic in ("trial", "mean", "sd")
        and {k: v for k, v in other.condition.items() if k != "trial"} == value.condition
    ]
    trials: tuple[float, ...] = ()
    match printed_sample(own, printed_trials(published)):
        case Trials(values=trials, missing=lost):
            # Choose values for the lost trials, at the ends of their ranges, that give the largest
            # spread: the mean includes these trials.
            ends = ((min(fills), max(fills)) for fills, _ in lost)
            whole = [(*trials, *chosen) for chosen in itertools.product(*ends)]
            # Readings of a stopwatch can be equal by rounding, which hides their spread.
            step = 2 * half_digit(value)
            sd = max(step / math.sqrt(12), *map(standard_deviation, whole))
            n = len(trials) + len(lost)
        case PrintedSpread(sd=sd, n=n):
            pass
        case _:
            return _by_clock(published, value)
    seen = printed_condition_mean(value.metric, PrintedMean(value.si, sd, n))
    return Ends(seen.low, seen.high, "95 %", trials, n)


def _by_clock(published: Published, value: PublishedValue) -> Ends | None:
    """The error from the clock: a time may be wrong by one step, and a rate accordingly. The step
    is published for one machine, but all PCs have the same clock.
    """
    steps = {one.si for one in published.value if one.metric == _CLOCK}
    if len(steps) != 1 or value.bound is not None:
        return None
    (step,) = steps
    if value.metric == "elapsed_ns":
        return Ends(value.si - step, value.si + step, "clock step")
    if value.metric != "goodput_bps":
        return None
    elapsed = next(
        (
            one.si
            for one in published.value
            if (one.metric, one.statistic) == ("elapsed_ns", "mean")
            and one.condition == value.condition
        ),
        0.0,
    )
    if elapsed <= step:
        return None
    slow, fast = elapsed / (elapsed + step), elapsed / (elapsed - step)
    return Ends(value.si * slow, value.si * fast, "clock step")
