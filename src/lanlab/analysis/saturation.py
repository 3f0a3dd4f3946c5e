"""Where a search has ended: for each loss goal the highest load at which no more is lost."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.capacity import Load, Verdict, capacity
from lanlab.analysis.summary import Summary, limit_of, summary_of
from lanlab.analysis.wires import wire_of
from lanlab.errors import UsageError
from lanlab.frozen import dataclass
from lanlab.plan import GoalResult, Plan, RandomLoss, SearchResult
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Search, Study, at_scale


@dataclass(frozen=True)
class GoalFound:
    """Where a search has ended for one loss goal."""

    #: Loads in the factor's unit.
    result: GoalResult
    verdict: Verdict
    #: The load up to which the goal is met in the median trial; `None` where it is not known.
    load: Load | None
    #: The searched metric in the full-length trials at the lower bound.
    confirmed: Summary | None


@dataclass(frozen=True)
class Saturation:
    """What a search along one factor found."""

    experiment: str
    factor: str
    #: What the search looked at: 1 less this metric is the loss.
    metric: str
    #: The strictest first; empty if another version planned the trials in a way that this one
    #: cannot follow.
    goals: tuple[GoalFound, ...]
    #: The highest load that the sender really offered, where that was below the range searched.
    sender_limit: float | None
    #: What the link can carry at most, in the factor's unit.
    limit: float | None
    #: Where loss begins to rise with load; `None` if it was not reached, or loss rises gradually.
    capacity: Load | None
    #: What is lost of every load, where that was seen.
    random_loss: RandomLoss | None
    #: Whether loss begins far below the capacity, and rises gradually.
    is_gradual: bool
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
        link = wire_of(run)
        parameters = steps[0].parameters if steps else {}
        judged = capacity(result, scaled.search.width_ratio)
        found.append(
            Saturation(
                experiment=scaled.experiment.id,
                factor=scaled.search.factor,
                metric=scaled.search.metric,
                goals=tuple(
                    GoalFound(goal, *ends, _confirmed(steps, scaled.search, goal.lower))
                    for goal, ends in zip(result.goals, judged.goals, strict=True)
                ),
                sender_limit=result.sender_limit,
                limit=limit_of(scaled.search.factor, parameters, link) if steps else None,
                capacity=judged.load,
                random_loss=judged.random_loss,
                is_gradual=judged.is_gradual,
                steps=steps,
            )
        )
    return tuple(found)


def curve_of(
    run: RunRecord, trials: Sequence[TrialRecord], experiment: str, metric: str
) -> list[Summary]:
    """
    One metric at every load of a search's full-length trials, ascending in load.

    Args:
        run: The run, whose link sets the limits.
        trials: Its trials, in order; those of other experiments are passed over.
        experiment: Id of an experiment with a search.
        metric: Key of a trial's results.
    """
    by_load: dict[float, list[TrialRecord]] = {}
    for trial in trials:
        if trial.experiment == experiment and trial.purpose in ("confirm", "curve"):
            (load,) = trial.factors.values()
            by_load.setdefault(float(load), []).append(trial)
    link = wire_of(run)
    return [summary_of(group[0], group, metric, link) for _, group in sorted(by_load.items())]


def _results(
    study: Study, run: RunRecord, trials: Sequence[TrialRecord]
) -> dict[str, SearchResult]:
    """Where each search ended; for trials that are not of this version's plan, that it did not.

    Searches follow the conditions and know nothing of them, whatever rule ended those.
    """
    searched = tuple(experiment for experiment in study.experiment if experiment.search)
    alone = study.model_copy(update={"experiment": searched})
    history = [trial for trial in trials if trial.purpose != "trial"]
    try:
        plan = Plan(alone, run.scale, run.seed, history)
        # Older versions had done when the bounds were found.
        return plan.search_results(so_far=run.status == "done")
    except UsageError:
        begun = {trial.experiment for trial in history}
        return {name: SearchResult(()) for name in begun}


def _confirmed(steps: Sequence[TrialRecord], search: Search, level: float | None) -> Summary | None:
    own = [s for s in steps if s.purpose == "confirm" and s.factors[search.factor] == level]
    return summary_of(own[0], own, search.metric, None) if own else None
