"""Published numbers that cover several conditions, with their counterparts in a run."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.published import agrees, is_own, points_for, series_of
from lanlab.analysis.run_data import RunData
from lanlab.analysis.summary import Summary
from lanlab.frozen import dataclass
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Published, PublishedValue, Study

#: Statistics that compare two levels of a factor, with the names of the two sides.
_PAIRS = {
    "difference": ("minuend", "subtrahend"),
    **dict.fromkeys(("ratio", "gain", "deficit"), ("numerator", "denominator")),
}


@dataclass(frozen=True)
class Statement:
    value: PublishedValue
    series: str
    #: In `value.si_unit`; `None` if the run has no counterpart.
    ours: float | None
    how: str


def statements(
    run: RunRecord, trials: Sequence[TrialRecord], published: Published
) -> tuple[Statement, ...]:
    """
    Published numbers that do not describe a single condition: shares of the link, ends of a range,
    ratios and differences. Each has its counterpart in the run, if any. For a simulated run, the
    counterpart is the value used for the accuracy.
    """
    if not published.value:
        return ()
    summaries = RunData(run, trials).all_summaries()
    judged = _judged(run, trials, published)
    points = {point.value.id for summary in summaries for point in points_for(summary, published)}
    found = []
    for value in published.value:
        if value.id in points or not is_own(value):
            continue
        if value.statistic in ("level", "fact", "sd", "trial"):
            continue
        matching = [
            summary
            for summary in summaries
            if summary.metric == value.metric
            and value.experiment in (None, summary.experiment)
            and agrees(value, summary.parameters)
        ]
        if not matching:
            continue
        ours, how = (
            judged.get(value.id)
            or _between_levels(value, matching, published)
            or _counterpart(value, matching)
        )
        found.append(Statement(value, series_of(value, matching[0].parameters), ours, how))
    return tuple(found)


def _judged(
    run: RunRecord, trials: Sequence[TrialRecord], published: Published
) -> dict[str, tuple[float, str]]:
    if Study.model_validate(run.study).simulation is None:
        return {}
    from lanlab.analysis.simulated_run import run_accuracies

    return {
        one.value.id: (_as_printed(one.value, one.simulated), one.how)
        for one in run_accuracies(run, trials, published)
    }


def _as_printed(value: PublishedValue, ratio: float) -> float:
    return {"gain": ratio - 1, "deficit": 1 - ratio}.get(value.statistic, ratio)


def _between_levels(
    value: PublishedValue, matching: list[Summary], published: Published
) -> tuple[float, str] | None:
    names = [value.condition.get(key) for key in _PAIRS.get(value.statistic, ())]
    for factor in published.factor if names else ():
        levels = [
            one.level
            for name in names
            for one in factor.levels
            if str(name).casefold() in (str(one.level).casefold(), one.title.casefold())
        ]
        sides = [
            [s.mean for s in matching if s.mean and s.parameters.get(factor.name) == level]
            for level in levels
        ]
        if len(sides) == len(names) and all(sides):
            first, second = (max(means) for means in sides)
            if value.statistic == "difference":
                return first - second, "difference of the greatest means"
            return _as_printed(value, first / second), "ratio of the greatest means"
    return None


def _counterpart(value: PublishedValue, matching: list[Summary]) -> tuple[float | None, str]:
    measured = [summary for summary in matching if summary.mean is not None]
    if not measured:
        return None, "no trial has ended"
    means = [summary.mean for summary in measured if summary.mean is not None]
    if value.statistic == "share_of_link":
        limited = [s for s in measured if s.limit]
        if not limited:
            return None, "this link has no rate of its own"
        best = max(limited, key=lambda summary: summary.mean or 0.0)
        assert best.mean is not None and best.limit is not None
        return best.mean / best.limit, "greatest mean over what the link can carry"
    if value.statistic in ("maximum", "mean"):
        return max(means), "greatest mean of these conditions"
    if value.statistic == "minimum":
        return min(means), "least mean of these conditions"
    return None, "compares systems that this run does not have"
