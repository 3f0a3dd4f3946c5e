"""Where a search has ended: the highest rate that still arrives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lanlab.analysis.summary import Summary, limit_of, summary_of
from lanlab.errors import UsageError
from lanlab.plan import Condition, Plan, SearchResult
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Study, at_scale


@dataclass(frozen=True)
class Saturation:
    """What a search along one factor found."""

    experiment: str
    #: `found`; `at_least_high` and `below_low` if it lies outside the range that was searched;
    #: `undecided` if trials failed, if no level could be confirmed, or if another version planned
    #: the trials in a way that this one cannot follow.
    kind: str
    #: The level found, in the factor's unit; of the two outside kinds the end that was tested.
    level: float | None
    #: Highest level that passed and lowest that failed, where there are such.
    bracket: tuple[float | None, float | None]
    #: What was asked of a level: this metric, at least so much.
    metric: str
    at_least: float
    #: The metric in the confirming trials at the level found.
    confirmed: Summary | None
    #: What the link can carry at most, in the factor's unit.
    limit: float | None
    #: Every trial of the search, in order.
    steps: tuple[TrialRecord, ...]


def saturations(run: RunRecord, trials: Sequence[TrialRecord]) -> tuple[Saturation, ...]:
    """The searches of a run that have ended, in the study's order."""
    study = Study.model_validate(run.study)
    results = _results(study, run, trials)
    found = []
    for scaled in at_scale(study, run.scale):
        result = results.get(scaled.experiment.id)
        if scaled.search is None or result is None:
            continue
        steps = tuple(trial for trial in trials if trial.experiment == scaled.experiment.id)
        factor = scaled.search.factor
        confirming = [
            step
            for step in steps
            if step.purpose == "confirm" and step.factors[factor] == result.level
        ]
        link_rate_bps = run.testbed.get("link_rate_bps")
        limit = limit_of("rate_bps", steps[0].parameters, link_rate_bps) if steps else None
        found.append(
            Saturation(
                experiment=scaled.experiment.id,
                kind=result.kind,
                level=result.level,
                bracket=result.bracket,
                metric=scaled.search.metric,
                at_least=scaled.search.at_least,
                confirmed=_confirmed(confirming, scaled.search.metric),
                limit=limit if factor == "rate_bps" else None,
                steps=steps,
            )
        )
    return tuple(found)


def _results(
    study: Study, run: RunRecord, trials: Sequence[TrialRecord]
) -> dict[str, SearchResult]:
    """Where each search ended; for trials that are not of this version's plan, that it did not."""
    try:
        return Plan(study, run.scale, run.seed, history=trials).search_results()
    except UsageError:
        begun = {trial.experiment for trial in trials if trial.purpose != "trial"}
        return {name: SearchResult("undecided", None, (None, None)) for name in begun}


def _confirmed(confirming: list[TrialRecord], metric: str) -> Summary | None:
    if not confirming:
        return None
    first = confirming[0]
    condition = Condition(
        experiment=first.experiment,
        workload=first.workload,
        factors=first.factors,
        parameters=first.parameters,
        expected_time_s=0.0,
    )
    return summary_of(condition, confirming, metric, None)
