"""A run's results compared with its study's published values for the same conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lanlab.analysis.comparison.runs import check_metrics
from lanlab.analysis.published.values import points_for, printed_trials
from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import LEAST_FOR_INTERVAL, Summary
from lanlab.errors import LabError, UsageError
from lanlab.frozen import dataclass
from lanlab.store import Level
from lanlab.studies.published import PublishedValue


@dataclass(frozen=True)
class PublishedRatio:
    ours: Summary
    #: Levels of factors that the study varied and the run did not, as in `vista`; empty if none.
    series: str
    value: PublishedValue
    sd: PublishedValue | None
    their_trials: int | None
    #: Our mean divided by the published one; `None` if nothing was measured, or theirs is zero.
    ratio: float | None
    #: 95 % interval of the ratio; `None` for a single trial.
    interval: tuple[float, float] | None
    #: Whether the interval includes the published spread; otherwise their value is taken as exact.
    has_their_spread: bool
    #: Why there is no interval; empty if there is one.
    why: str
    #: Our factors, and the parameters in which the compared values of this metric differ.
    factors: Mapping[str, Level]


def compare_with_published(
    data: RunData, metrics: Sequence[str] | None = None
) -> tuple[PublishedRatio, ...]:
    """
    Every published mean for a condition of the run, in the order of the conditions.

    Args:
        metrics: Keys of trials' results; by default all metrics of the experiments.

    Raises:
        UsageError: No mean is published for a condition of the run.
        UnknownName: No trial has a requested metric.
    """
    check_metrics(data.trials, metrics)
    their_trials = printed_trials(data.published)
    found = []
    for scaled in data.experiments:
        if scaled.search is not None:
            continue
        own = {key for trial in data.own(scaled.experiment.id) for key in trial.metrics}
        asked = scaled.experiment.metrics if metrics is None else [m for m in metrics if m in own]
        for metric in asked:
            for summary in data.summaries(scaled.experiment.id, metric):
                points = points_for(summary, data.published)
                spreads = {p.series: p.value for p in points if p.value.statistic == "sd"}
                for point in points:
                    if point.value.statistic == "mean":
                        sd = spreads.get(point.series)
                        one = _beside(summary, point.series, point.value, sd, their_trials)
                        found.append(_without_seeds(one) if data.study.is_simulated else one)
    if not found:
        which, run = f" of {', '.join(metrics)}" if metrics else "", data.run
        raise UsageError(
            f"study `{run.study_id}` published no mean{which} at any condition of run {run.id}",
            hint="`lanlab report` shows its other published values",
        )
    return tuple(replace(one, factors=_factors(one, found)) for one in found)


def _factors(one: PublishedRatio, found: Sequence[PublishedRatio]) -> dict[str, Level]:
    others = [other.value.condition for other in found if other.value.metric == one.value.metric]
    apart = {
        key: level
        for key, level in one.value.condition.items()
        if key in one.ours.parameters and any(level != other.get(key, level) for other in others)
    }
    return apart | one.ours.factors


def _beside(
    summary: Summary,
    series: str,
    value: PublishedValue,
    sd: PublishedValue | None,
    their_trials: int | None,
) -> PublishedRatio:
    ratio = summary.mean / value.si if summary.mean is not None and value.si else None
    interval, has_spread, why = None, False, ""
    if ratio is None:
        why = "no trial has a value" if summary.mean is None else "the printed number is zero"
    elif summary.n < LEAST_FOR_INTERVAL:
        why = f"fewer than {LEAST_FOR_INTERVAL} trials: no interval"
    else:
        interval, has_spread = _with_their_spread(summary, value, sd, their_trials), True
        if interval is None and summary.ci_low is not None and summary.ci_high is not None:
            interval = (summary.ci_low / value.si, summary.ci_high / value.si)
            has_spread = False
    return PublishedRatio(
        ours=summary,
        series=series,
        value=value,
        sd=sd,
        their_trials=their_trials if sd is not None else None,
        ratio=ratio,
        interval=interval,
        has_their_spread=has_spread,
        why=why,
        factors=summary.factors,
    )


def _without_seeds(one: PublishedRatio) -> PublishedRatio:
    """Without an interval: the spread over seeds says nothing about the model's error."""
    if one.interval is None:
        return one
    why = "no interval: seeds do not show the model's error"
    return replace(one, interval=None, has_their_spread=False, why=why)


def _with_their_spread(
    summary: Summary, value: PublishedValue, sd: PublishedValue | None, trials: int | None
) -> tuple[float, float] | None:
    """The ratio's interval from both spreads; `None` if theirs is unknown."""
    if sd is None or trials is None or summary.mean is None or summary.sd is None:
        return None
    from lanlab.analysis.statistics.samples import PrintedMean
    from lanlab.analysis.statistics.two_groups import welch_printed

    try:
        found = welch_printed(
            PrintedMean(summary.mean, summary.sd, summary.n),
            PrintedMean(value.si, sd.si, trials),
            scale="log",
        )
    except LabError:
        return None
    return found.low, found.high
