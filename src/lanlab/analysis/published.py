"""Published values compared with measured ones."""

from __future__ import annotations

from collections.abc import Mapping

from lanlab.analysis.summary import Summary
from lanlab.frozen import dataclass
from lanlab.store import Level, RunRecord
from lanlab.studies import MissingValue, Published, PublishedValue

#: Kinds of numbers that are the study's own measurements. Other kinds repeat or derive from another
#: number, or have another subject.
_OWN_KINDS = frozenset({"table", "text"})


@dataclass(frozen=True)
class PublishedPoint:
    #: Levels of factors that the study varied and the condition does not, as in `celeron, nt4`.
    series: str
    value: PublishedValue


def is_own(value: PublishedValue | MissingValue) -> bool:
    """Whether a number is one of the study's own measurements, and not a known mistake."""
    return value.kind in _OWN_KINDS and value.status != "wrong"


def amount_of(published: Published, condition: Mapping[str, Level]) -> float | None:
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
    """A published number's levels of factors that are not parameters in lanlab, in words."""
    return ", ".join(str(level) for key, level in value.condition.items() if key not in parameters)


def points_for(summary: Summary, published: Published) -> tuple[PublishedPoint, ...]:
    """
    The published mean or standard deviation of the summary's metric at its condition.

    A number belongs to the condition if it names every factor of the experiment and agrees in every
    parameter that it names. A factor with one level that no published number names is not a factor
    of the study, unless it selects the machines of a condition.
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
        and agrees(value, summary.parameters)
    )


def printed_trials(published: Published) -> int | None:
    """Number of trials behind each of the study's means; `None` if not published."""
    said = {
        round(value.si)
        for value in published.value
        if (value.metric, value.statistic) == ("trials", "fact")
        and value.kind != "related"
        and value.status != "wrong"
    }
    return said.pop() if len(said) == 1 else None


def agrees(value: PublishedValue, parameters: Mapping[str, Level]) -> bool:
    return all(
        parameters[key] == level for key, level in value.condition.items() if key in parameters
    )


def published_numbers(run: RunRecord) -> Published:
    """The study's published values. For a user's own study, the values stored when its run was
    started.
    """
    from lanlab.studies import known_studies, load_study

    if run.study_id in known_studies():
        return load_study(run.study_id).published
    return Published.model_validate(run.study.get("published") or {"schema": 1})
