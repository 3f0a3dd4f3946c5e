"""A run's results compared with its study's published values for the same conditions."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.comparison_runs import check_metrics
from lanlab.analysis.published import points_for, printed_trials
from lanlab.analysis.summary import Summary, summarise
from lanlab.errors import LabError, UsageError
from lanlab.frozen import dataclass
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Published, PublishedValue, Study, at_scale


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


def compare_with_published(
    run: RunRecord,
    trials: Sequence[TrialRecord],
    published: Published,
    metrics: Sequence[str] | None = None,
) -> tuple[PublishedRatio, ...]:
    """
    Every published mean for a condition of the run, in the order of the conditions.

    Args:
        run, trials: The run with all its trials.
        published: The study's published values.
        metrics: Keys of trials' results; by default all metrics of the experiments.

    Raises:
        UsageError: No mean is published for a condition of the run.
        UnknownName: No trial has a requested metric.
    """
    check_metrics(trials, metrics)
    study = Study.model_validate(run.study)
    their_trials = printed_trials(published)
    found = []
    for scaled in at_scale(study, run.scale):
        if scaled.search is not None:
            continue
        own = {k for t in trials if t.experiment == scaled.experiment.id for k in t.metrics}
        asked = scaled.experiment.metrics if metrics is None else [m for m in metrics if m in own]
        for metric in asked:
            for summary in summarise(run, trials, scaled.experiment.id, metric):
                points = points_for(summary, published)
                spreads = {p.series: p.value for p in points if p.value.statistic == "sd"}
                for point in points:
                    if point.value.statistic == "mean":
                        sd = spreads.get(point.series)
                        found.append(_beside(summary, point.series, point.value, sd, their_trials))
    if not found:
        which = f" of {', '.join(metrics)}" if metrics else ""
        raise UsageError(
            f"study `{run.study_id}` published no mean{which} at any condition of run {run.id}",
            hint="`lanlab report` shows its other published values",
        )
    return tuple(found)


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
    elif summary.sd is None:
        why = "one trial: no interval"
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
    )


def _with_their_spread(
    summary: Summary, value: PublishedValue, sd: PublishedValue | None, trials: int | None
) -> tuple[float, float] | None:
    """The ratio's interval from both spreads; `None` if theirs is unknown."""
    if sd is None or trials is None or summary.mean is None or summary.sd is None:
        return None
    from lanlab.analysis.statistics import PrintedMean, welch_printed

    try:
        found = welch_printed(
            PrintedMean(summary.mean, summary.sd, summary.n),
            PrintedMean(value.si, sd.si, trials),
            scale="log",
        )
    except LabError:
        return None
    return found.low, found.high
