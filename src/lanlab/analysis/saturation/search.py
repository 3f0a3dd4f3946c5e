"""The results of a search: for each loss goal, the highest load that meets it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lanlab.analysis.links.wires import wire_of
from lanlab.analysis.saturation.capacity import Capacity, Load, Verdict, capacity
from lanlab.analysis.saturation.sweep_bound import SweepBound, refutes_random_loss, sweep_bound
from lanlab.analysis.trials.attempts import counting
from lanlab.analysis.trials.order import (
    LEAST_TRIALS,
    Alike,
    lag_one_of,
    seen_beyond_doubt,
    slope_p,
)
from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import Summary, limit_of, summary_of
from lanlab.errors import UsageError
from lanlab.frozen import dataclass
from lanlab.plan.plan import Plan
from lanlab.plan.random_loss import RandomLoss
from lanlab.plan.search_rule import GoalResult, SearchResult
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.model import Search


@dataclass(frozen=True)
class GoalFound:
    #: Loads in the factor's unit.
    result: GoalResult
    verdict: Verdict
    #: The load up to which the median trial meets the goal; `None` if unknown.
    load: Load | None
    confirmed: Summary | None
    #: A load of a sweep of the same run that refutes the search; then there is no `load`.
    sweep: SweepBound | None = None


@dataclass(frozen=True)
class Saturation:
    experiment: str
    factor: str
    #: The metric of the search: the loss is 1 minus this metric.
    metric: str
    #: Strictest first. Empty if another version planned the trials by rules that this version does
    #: not know.
    goals: tuple[GoalFound, ...]
    #: The highest load that the sender could offer, if that was below the range of the search.
    sender_limit: float | None
    #: The link's limit in the factor's unit.
    limit: float | None
    #: The load above which losses rise; `None` if not reached, or if loss rises gradually.
    capacity: Load | None
    random_loss: RandomLoss | None
    is_gradual: bool
    steps: tuple[TrialRecord, ...]
    #: Drift or correlation of the capacity from trial to trial, if significant over all searches of
    #: the run.
    drift: Alike | None = None
    is_lossless_link: bool = False

    @property
    def disturbed(self) -> int:
        return sum(step.is_disturbed for step in counting(self.steps))

    @property
    def is_of_host(self) -> bool:
        """Whether most trials were disturbed: their losses say little about the network."""
        return 2 * self.disturbed > len(counting(self.steps))


def saturations(data: RunData) -> tuple[Saturation, ...]:
    results = _results(data)
    found: list[Saturation] = []
    orders: list[Alike | None] = []
    for scaled in data.experiments:
        result = results.get(scaled.experiment.id)
        if scaled.search is None or result is None:
            continue
        steps = tuple(data.own(scaled.experiment.id))
        link = wire_of(data.run)
        parameters = steps[0].parameters if steps else {}
        judged = capacity(result, scaled.search.width_ratio)
        limit = limit_of(scaled.search.factor, parameters, link) if steps else None
        goals = tuple(
            _goal(goal, *ends, _confirmed(steps, scaled.search, goal.lower), judged, sweep)
            for goal, ends in zip(result.goals, judged.goals, strict=True)
            for sweep in [sweep_bound(scaled, steps, data, goal.loss_ratio)]
        )
        is_refuted = any(goal.verdict == "refuted" for goal in goals)
        orders.append(None if is_refuted else order_of(judged))
        found.append(
            Saturation(
                experiment=scaled.experiment.id,
                factor=scaled.search.factor,
                metric=scaled.search.metric,
                goals=tuple(_possible(goal, limit) for goal in goals),
                sender_limit=result.sender_limit,
                limit=limit,
                # If a sweep contradicts the trials, nothing is concluded from them.
                capacity=None if is_refuted or judged.load is None else judged.load.at_most(limit),
                random_loss=judged.random_loss,
                is_gradual=judged.is_gradual and not is_refuted,
                steps=steps,
                is_lossless_link=_is_lossless(data.run),
            )
        )
    drifts = seen_beyond_doubt(orders)
    return tuple(replace(one, drift=drift) for one, drift in zip(found, drifts, strict=True))


def order_of(judged: Capacity) -> Alike | None:
    """
    Correlation of the capacity between successive trials of a search, with its p under
    independence, or a slope over all trials: whichever is more significant.

    Returns:
        `None` if too few trials show the capacity, if all show the same, or if loss rises
        gradually: the loads of a search change with time, which would look like a drift.
    """
    few = judged.is_gradual or len(judged.distances) < LEAST_TRIALS
    seen = None if few else lag_one_of(judged.distances)
    if seen is None:
        return None
    return Alike(seen.correlation, min(1.0, 2 * min(seen.p, slope_p(judged.distances))))


def _goal(
    result: GoalResult,
    verdict: Verdict,
    load: Load | None,
    confirmed: Summary | None,
    judged: Capacity,
    sweep: SweepBound | None,
) -> GoalFound:
    if sweep is not None and _is_refuted(result, verdict, load, judged, sweep):
        return GoalFound(result, "refuted", None, confirmed, sweep)
    return GoalFound(result, verdict, load, confirmed)


def _possible(goal: GoalFound, limit: float | None) -> GoalFound:
    if goal.load is None or limit is None:
        return goal
    most = limit / (1 - goal.result.loss_ratio)
    return replace(goal, load=goal.load.at_most(most))


def _is_refuted(
    result: GoalResult, verdict: Verdict, load: Load | None, judged: Capacity, sweep: SweepBound
) -> bool:
    if verdict == "random_loss":
        loss = judged.random_loss
        return loss is not None and refutes_random_loss(sweep, loss, result.loss_ratio)
    most = result.upper if load is None else load.high
    return most is not None and sweep.load > most


def _is_lossless(run: RunRecord) -> bool:
    facts = run.testbed.get("link_facts") or {}
    return run.testbed.get("name") in ("virtual", "loopback") and not facts.get("loss_ratio")


def curve_of(
    run: RunRecord, trials: Sequence[TrialRecord], experiment: str, metric: str
) -> list[Summary]:
    """
    One metric at every load of a search's full-length trials, ascending in load.

    Args:
        run: The run, whose link sets the limits.
        trials: Its trials, in order; those of other experiments are ignored.
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


def _results(data: RunData) -> dict[str, SearchResult]:
    """The result of each search; *not ended* if the trials do not follow this version's plan.

    Searches run after the conditions, and independently of them and their stopping rule.
    """
    searched = tuple(experiment for experiment in data.study.experiment if experiment.search)
    if not searched:
        return {}
    alone = data.study.model_copy(update={"experiment": searched})
    history = [trial for trial in data.trials if trial.purpose != "trial"]
    try:
        plan = Plan(alone, data.run.scale, data.run.seed, history)
        # In older versions a search ended when the bounds were found.
        return plan.search_results(so_far=data.run.status == "done")
    except UsageError:
        begun = {trial.experiment for trial in history}
        return {name: SearchResult(()) for name in begun}


def _confirmed(steps: Sequence[TrialRecord], search: Search, level: float | None) -> Summary | None:
    own = [s for s in steps if s.purpose == "confirm" and s.factors[search.factor] == level]
    return summary_of(own[0], own, search.metric, None) if own else None
