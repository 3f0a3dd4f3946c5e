"""
Summarises trials for a table: mean, spread and interval of each condition.

The trial is the sampling unit. Values within a trial are correlated: an interval that ignores this
misses the mean half of the time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from lanlab.analysis.links.limits import wire_bytes
from lanlab.analysis.links.wires import Wire, wire_at
from lanlab.analysis.traffic.loss_places import SHARED, shares_of
from lanlab.analysis.trials.attempts import by_condition, condition_key, counting
from lanlab.analysis.trials.failures import missing_places
from lanlab.frozen import dataclass
from lanlab.services import CARRIERS, SERVICES
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.store.large_runs import column

if TYPE_CHECKING:
    from lanlab.plan.conditions import Condition

#: With fewer trials, the values are shown instead: an interval from two reaches 13 standard errors,
#: and so is less informative.
LEAST_FOR_INTERVAL = 3


@dataclass(frozen=True)
class Summary:
    experiment: str
    workload: str
    factors: dict[str, Level]
    parameters: dict[str, Level]
    metric: str
    #: One per counting trial that has the metric, in order of execution.
    values: tuple[float, ...]
    failed: int
    #: Arithmetic; `None` without values.
    mean: float | None
    #: Standard deviation of the trials; `None` for fewer than two.
    sd: float | None
    #: 95 % interval of the mean (`interval_of_mean`), or `None`.
    ci_low: float | None
    ci_high: float | None
    #: The limit of the run's link in the metric's unit; `None`: no limit.
    limit: float | None
    #: Disturbed trials that the mean includes, although repeated as often as the study allows.
    disturbed: int = 0
    #: Disturbed trials that are not in the mean, because a repeat replaces them.
    left_out: int = 0
    missing: int = 0
    constant: frozenset[str] = frozenset()

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def n_text(self) -> str:
        """Number of trials in the mean, and the planned number if some are missing.

        Examples:
            >>> from dataclasses import replace
            >>> from types import SimpleNamespace
            >>> one = SimpleNamespace(experiment="e", workload="stream", factors={}, parameters={})
            >>> full = summary_of(one, [], "goodput_bps", None)
            >>> full.n_text, replace(full, missing=2).n_text
            ('0', '0 of 2')
        """
        return f"{self.n} of {self.n + self.missing}" if self.missing else str(self.n)


def interval_of_mean(
    metric: str, values: Sequence[float], limit: float | None = None
) -> tuple[float, float] | None:
    """
    The 95 % interval of a condition's mean, for every table, figure and comparison.

    Args:
        metric: Key of a trial's results. It determines the method
            (`lanlab.analysis.statistics.condition_mean`): rates and times use the log scale, so the
            interval stays above zero.
        values: One per trial, in the metric's unit.
        limit: The greatest possible value, see `greatest_possible`. The interval ends there, or at
            a greater trial, as queues make possible. A mean above the limit refutes it.

    Returns:
        `(low, high)` in that unit; `None` for fewer than `LEAST_FOR_INTERVAL` values. Equal values
            give an interval of width zero, which does not mean that the value is exact.

    Examples:
        >>> low, high = interval_of_mean("elapsed_s", [80, 83, 80, 85, 82])
        >>> f"{low:.2f} {high:.2f}"
        '79.42 84.67'
    """
    if len(values) < LEAST_FOR_INTERVAL:
        return None
    from lanlab.analysis.statistics.condition_mean import condition_mean

    found = condition_mean(metric, values)
    most = math.inf if limit is None or fmean(values) > limit else max(limit, *values)
    return None if found is None else (found.low, min(found.high, most))


def standard_deviation(values: Sequence[float]) -> float:
    """Standard deviation of a sample of at least two values, in their unit."""
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


class ConditionTrials:
    """The trials of a condition, to be summarised by several metrics."""

    def __init__(
        self,
        condition: Condition | TrialRecord,
        trials: Sequence[TrialRecord],
        link: Wire | None,
        constant: frozenset[str] = frozenset(),
    ) -> None:
        """
        Args:
            constant: Factors that have only one level in the experiment.
        """
        done = [trial for trial in trials if trial.status == "done"]
        self.trials, self.counted = trials, counting(done)
        self._condition, self._link, self._constant = condition, link, constant
        self.failed, self._left_out = len(trials) - len(done), len(done) - len(self.counted)
        self._missing = len(missing_places(trials))
        self._disturbed = [trial.is_disturbed for trial in self.counted]

    @property
    def factors(self) -> dict[str, Level]:
        return dict(self._condition.factors)

    @property
    def parameters(self) -> dict[str, Level]:
        return dict(self._condition.parameters)

    def values(self, metric: str) -> list[float | None]:
        """A value for each trial that counts; `None` where it is missing."""
        metrics = [trial.metrics for trial in self.counted]
        return shares_of(metrics, metric) if metric in SHARED else column(metrics, metric)

    def mean(self, metric: str) -> tuple[int, float | None]:
        """The number of values, and their mean."""
        values = [float(value) for value in self.values(metric) if value is not None]
        return len(values), math.fsum(values) / len(values) if values else None

    def summary(self, metric: str) -> Summary:
        found = self.values(metric)
        values = tuple(float(value) for value in found if value is not None)
        parameters = self.parameters
        limit = limit_of(metric, parameters, self._link)
        most = greatest_possible(metric, parameters, limit)
        interval = interval_of_mean(metric, values, most)
        return Summary(
            experiment=self._condition.experiment,
            workload=self._condition.workload,
            factors=self.factors,
            parameters=parameters,
            metric=metric,
            values=values,
            failed=self.failed,
            mean=math.fsum(values) / len(values) if values else None,
            sd=standard_deviation(values) if len(values) > 1 else None,
            ci_low=None if interval is None else interval[0],
            ci_high=None if interval is None else interval[1],
            limit=limit,
            disturbed=sum(
                is_disturbed
                for is_disturbed, value in zip(self._disturbed, found, strict=True)
                if value is not None
            ),
            left_out=self._left_out,
            missing=self._missing,
            constant=self._constant,
        )


def summary_of(
    condition: Condition | TrialRecord,
    trials: Sequence[TrialRecord],
    metric: str,
    link: Wire | None,
) -> Summary:
    return ConditionTrials(condition, trials, link).summary(metric)


def conditions_of(
    run: RunRecord, trials: Sequence[TrialRecord], experiment: str
) -> list[ConditionTrials]:
    """
    The conditions of an experiment, in the order of the study's levels.

    Args:
        run: The run, whose link sets the limits.
        trials: Its trials, in order; those of other experiments are ignored.
        experiment: Id of an experiment with factors. For a search see
            `lanlab.analysis.saturation.search`.
    """
    from lanlab.plan.conditions import expand
    from lanlab.studies.model import Study

    study = Study.model_validate(run.study)
    own = by_condition(
        trial for trial in trials if trial.experiment == experiment and trial.purpose == "trial"
    )
    conditions = [one for one in expand(study, run.scale) if one.experiment == experiment]
    levels: dict[str, set[Level]] = {}
    for condition in conditions:
        for name, level in condition.factors.items():
            levels.setdefault(name, set()).add(level)
    constant = frozenset(name for name, every in levels.items() if len(every) == 1)
    return [
        ConditionTrials(
            condition,
            own.get(condition_key(condition.factors), []),
            wire_at(run, condition.parameters, study),
            constant,
        )
        for condition in conditions
    ]


def greatest_possible(
    metric: str, parameters: Mapping[str, Level], limit: float | None
) -> float | None:
    """The upper bound of a condition's mean: the limit of the link or, if lower, the offered load;
    `None` without a bound.
    """
    rate = float(parameters.get("rate_messages_per_s") or 0)
    offered = {
        "goodput_bps": float(parameters.get("rate_bps") or 0)
        or 8 * rate * float(parameters.get("message_size_bytes") or 0),
        "received_messages_per_s": rate,
    }.get(metric)
    return min((bound for bound in (limit, offered) if bound), default=None)


def limit_of(metric: str, parameters: dict[str, Level], link: Wire | None) -> float | None:
    """The limit of a link under a condition, in the metric's unit."""
    if metric == "rate_messages_per_s":
        limit_bps = limit_of("rate_bps", parameters, link)
        return limit_bps and limit_bps / (8 * int(parameters["message_size_bytes"]))
    if link is None or metric not in ("goodput_bps", "rate_bps"):
        return None
    if link.is_of_adapters and "://" in str(parameters.get("server")):
        # A user's own server is not a host of the study.
        return None
    service = SERVICES.get(str(parameters.get("service")))
    frame = None if service is None else CARRIERS[service.carrier].fullest_frame
    if frame is not None:
        data_bytes, packet_bytes = frame
        return link.rate_bps * data_bytes / wire_bytes(packet_bytes)
    transport = str(parameters.get("transport", "tcp"))
    size = int(parameters["message_size_bytes"]) if transport == "udp" else None
    return link.goodput_limit_bps(transport, int(parameters.get("ip_version", 4)), size)
