"""Published values compared with measured ones."""

from __future__ import annotations

import math
from collections.abc import Mapping

from lanlab.analysis.trials.summary import Summary
from lanlab.frozen import dataclass
from lanlab.store import Level, RunRecord
from lanlab.studies.counterparts import in_published_words
from lanlab.studies.model import Study
from lanlab.studies.published import MissingValue, Published, PublishedValue
from lanlab.workloads.copy.datasets import mean_bytes

#: Kinds of numbers that are the study's own measurements. Other kinds repeat or derive from another
#: number, or have another subject.
_OWN_KINDS = frozenset({"table", "text"})


@dataclass(frozen=True)
class PublishedPoint:
    #: Names of the levels of factors that the study varied and the condition does not.
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


def points_for(
    summary: Summary, published: Published, study: Study | None = None
) -> tuple[PublishedPoint, ...]:
    """
    The published mean or standard deviation of the summary's metric at its condition. A simulated
    study puts the condition into the publication's terms.

    A number belongs to the condition if it names every factor of the experiment and agrees in every
    parameter that it names. A factor with one level that no published number names is not a factor
    of the study, unless it selects the machines of a condition.
    """
    readings = [summary.parameters]
    if study is not None and study.is_simulated:
        readings = in_published_words(study, summary.experiment, summary.parameters)
    named = {key for value in published.value for key in value.condition}
    factors = {key for key in summary.factors if key in named or key not in summary.constant}
    found = []
    for value in published.value:
        condition = value.condition
        others = [
            str(level) if (one := published.named_level(key, level)) is None else one.title
            for key, level in condition.items()
            if key not in summary.parameters
        ]
        if (
            value.metric == summary.metric
            and value.statistic in ("mean", "sd")
            and is_own(value)
            and _is_of(value, summary)
            and factors <= condition.keys()
            and any(
                all(own.get(key, level) == level for key, level in condition.items())
                for own in readings
            )
            and (study is None or _is_of_amount(amount_of(published, condition), summary))
        ):
            found.append(PublishedPoint(", ".join(others), value))
    return tuple(found)


def _is_of(value: PublishedValue, summary: Summary) -> bool:
    """Whether a number is of the summary's experiment, or of the machine that it is about."""
    machine = summary.parameters.get("machine")
    is_of_machine = machine is not None and value.condition.get("machine") == machine
    return is_of_machine or value.experiment in (None, summary.experiment)


def _is_of_amount(amount: float | None, summary: Summary) -> bool:
    """Whether as much was copied. A short scale copies less, and smaller files more slowly."""
    dataset = summary.parameters.get("dataset")
    return amount is None or dataset is None or math.isclose(amount, mean_bytes(str(dataset)))


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


def published_numbers(run: RunRecord) -> Published:
    """The study's published values. For a user's own study, the values stored when its run was
    started.
    """
    from lanlab.studies.load import known_studies, load_study

    if run.study_id in known_studies():
        return load_study(run.study_id).published
    return Published.model_validate(run.study.get("published") or {"schema": 1})
