"""What the study printed, beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lanlab.analysis.summary import Summary, summarise
from lanlab.frozen import dataclass
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies import MissingValue, Published, PublishedValue, Study, at_scale

#: Kinds of numbers that the study's measurements gave; the others repeat or follow from another, or
#: are of something else.
_OWN_KINDS = frozenset({"table", "text"})


@dataclass(frozen=True)
class PublishedPoint:
    """A printed number that belongs to one condition."""

    #: What the condition does not vary but the study did, as in `vista` or `celeron, nt4`.
    series: str
    value: PublishedValue


@dataclass(frozen=True)
class Statement:
    """A printed number that belongs to several conditions, and our counterpart."""

    value: PublishedValue
    series: str
    #: In `value.si_unit`; `None` where the run has no counterpart.
    ours: float | None
    #: How ours was computed, or why there is none.
    how: str


def is_own(value: PublishedValue | MissingValue) -> bool:
    """Whether a number is one of the study's own measurements, and not known to be a mistake."""
    return value.kind in _OWN_KINDS and value.status != "wrong"


def amount_of(published: Published, condition: Mapping[str, Level]) -> float | None:
    """Bytes that a publication says were moved under a condition."""
    for value in published.value:
        if (
            value.metric in ("dataset_bytes", "transfer_bytes")
            and value.status != "wrong"
            and value.condition
            and value.condition.items() <= condition.items()
        ):
            return value.si
    sent = condition.get("bytes")
    return float(sent) if isinstance(sent, int) else None


def series_of(value: PublishedValue, parameters: Mapping[str, Level]) -> str:
    """The levels of a printed number that are no parameters here, in words."""
    return ", ".join(str(level) for key, level in value.condition.items() if key not in parameters)


def points_for(summary: Summary, published: Published) -> tuple[PublishedPoint, ...]:
    """
    The printed numbers (mean or standard deviation) of the summary's metric at its condition.

    A number belongs to it if it names every factor of the experiment and agrees in every parameter
    that it names. A factor of one level that no printed number names is none of the study's, but
    one that says on which machines a condition is.
    """
    named = {key for value in published.value for key in value.condition}
    factors = {key for key in summary.factors if key in named or key not in summary.constant}
    return tuple(
        PublishedPoint(series_of(value, summary.parameters), value)
        for value in published.value
        if value.metric == summary.metric
        and value.statistic in ("mean", "sd")
        and is_own(value)
        and value.experiment in (None, summary.experiment)
        and factors <= value.condition.keys()
        and _agrees(value, summary.parameters)
    )


def printed_trials(published: Published) -> int | None:
    """How many trials the study says that each of its means is of; `None` if it does not."""
    said = {
        round(value.si)
        for value in published.value
        if (value.metric, value.statistic) == ("trials", "fact")
        and value.kind != "related"
        and value.status != "wrong"
    }
    return said.pop() if len(said) == 1 else None


def statements(
    run: RunRecord, trials: Sequence[TrialRecord], published: Published
) -> tuple[Statement, ...]:
    """
    The printed numbers that are no point of a condition: shares of the link, ends of a range,
    ratios and differences, each with our counterpart where the run has one. Of a simulated run
    that is the one by which its accuracy is judged.
    """
    summaries = all_summaries(run, trials)
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
            and _agrees(value, summary.parameters)
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


def all_summaries(run: RunRecord, trials: Sequence[TrialRecord]) -> list[Summary]:
    """Every condition of a run, of every metric that its experiments name."""
    study = Study.model_validate(run.study)
    return [
        summary
        for scaled in at_scale(study, run.scale)
        if scaled.search is None
        for metric in scaled.experiment.metrics
        for summary in summarise(run, trials, scaled.experiment.id, metric)
    ]


def _agrees(value: PublishedValue, parameters: Mapping[str, Level]) -> bool:
    return all(
        parameters[key] == level for key, level in value.condition.items() if key in parameters
    )


def _judged(
    run: RunRecord, trials: Sequence[TrialRecord], published: Published
) -> dict[str, tuple[float, str]]:
    """By id of a printed number, its counterpart in a simulated run, in the number's unit."""
    if Study.model_validate(run.study).simulation is None:
        return {}
    from lanlab.analysis.simulated_run import run_accuracies

    return {
        one.value.id: (_as_printed(one.value, one.simulated), one.how)
        for one in run_accuracies(run, trials, published)
    }


def _as_printed(value: PublishedValue, ratio: float) -> float:
    """A ratio as a gain or deficit is printed; all else as it is."""
    return {"gain": ratio - 1, "deficit": 1 - ratio}.get(value.statistic, ratio)


#: Statistics that compare two levels of a factor, and the names of these in a condition.
_PAIRS = {
    "difference": ("minuend", "subtrahend"),
    **dict.fromkeys(("ratio", "gain", "deficit"), ("numerator", "denominator")),
}


def _between_levels(
    value: PublishedValue, matching: list[Summary], published: Published
) -> tuple[float, str] | None:
    """Our number for one of theirs that compares two levels, if the run has both."""
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
    """Our number for one of theirs, and how it was made."""
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


def published_numbers(run: RunRecord) -> Published:
    """What the study printed: of a study of one's own, what its run was begun with."""
    from lanlab.studies import known_studies, load_study

    if run.study_id in known_studies():
        return load_study(run.study_id).published
    return Published.model_validate(run.study.get("published") or {"schema": 1})
