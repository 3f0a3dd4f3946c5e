"""
The next trial to run.

First the conditions of all experiments in randomised complete blocks, each until it has the trials
that its stopping rule requires; then the searches, one after another. A disturbed trial is repeated
and a failed one retried at the end of its block, or at once in a search, as often as the study
allows; of the trials at one position only the last successful one counts. If all fail the position
is missing, and a search goes to the end of the queue. A plan does no I/O and knows no clock: it
depends only on the study, the scale, the seed and the recorded outcomes. So an interrupted run
continues by recording its history into a new plan.

# Driving it

Run `next_trial()`, `record()` its outcome, and repeat, until `next_trial()` returns `None`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING

from lanlab.errors import UsageError
from lanlab.frozen import dataclass
from lanlab.plan.blocks import block_order
from lanlab.plan.conditions import Condition, condition_of, crossed
from lanlab.plan.running import (
    Estimate,
    Outcome,
    Running,
    RunningCondition,
    RunningSearch,
    running_search,
)
from lanlab.plan.search_reading import search_reading
from lanlab.plan.stopping import Trials
from lanlab.studies.base import Level
from lanlab.studies.model import Study
from lanlab.studies.scaling import at_scale

if TYPE_CHECKING:
    from lanlab.plan.search_rule import SearchResult


@dataclass(frozen=True)
class PlannedTrial(Condition):
    #: Order of execution within the run, from 0.
    number: int = field(kw_only=True)
    #: From 0; for a search, its step.
    block: int = field(kw_only=True)
    #: `trial`; for a search, `search`, `confirm` or `curve`.
    purpose: str = field(kw_only=True)
    #: Number of earlier attempts at this position that were disturbed or failed.
    repeats: int = field(kw_only=True)


class Plan:
    """The trials of one run, given one after another.

    Args:
        study: A study that `load_study` has checked.
        scale_name: One of its scales.
        seed: Seed of the order within blocks.
        history: Outcomes of a run to continue, in recorded order.

    Raises:
        UnknownName: The study has no such scale.
        UsageError: The history is not one of this plan.
    """

    def __init__(
        self, study: Study, scale_name: str, seed: int, history: Iterable[Outcome] = ()
    ) -> None:
        self._seed = seed
        self._conditions: list[RunningCondition] = []
        self._searches: list[RunningSearch] = []
        for scaled in at_scale(study, scale_name):
            if scaled.search is None:
                self._conditions += [
                    RunningCondition(
                        condition=condition,
                        trials=Trials(scaled.trials, scaled.experiment.metrics[0]),
                        policy=scaled.trials,
                        metric=scaled.experiment.metrics[0],
                    )
                    for condition in crossed(scaled)
                ]
            else:
                self._searches.append(running_search(scaled, scaled.search, seed))
        self._recorded = 0
        self._block = -1
        self._block_left: deque[RunningCondition] = deque()
        self._waiting_searches = deque(self._searches)
        self._next = self._plan_next()
        for outcome in history:
            self.record(outcome)

    def conditions(self) -> list[Condition]:
        varied = [running.condition for running in self._conditions]
        return varied + [search.condition for search in self._searches]

    def next_trial(self) -> PlannedTrial | None:
        """The trial to run now, the same until its outcome is recorded; `None` at the end."""
        return self._next

    def upcoming(self, most: int) -> list[PlannedTrial]:
        """
        The next trial and its successors if none of them fails, is disturbed, or ends its condition
        early: a guess, for work that can be done ahead. For a search only the next trial is known.
        """
        if not self._block_left:
            return [] if self._next is None else [self._next]
        found: list[PlannedTrial] = []
        taken: Counter[int] = Counter()
        block, left = self._block, list(self._block_left)
        while left and len(found) < most:
            for running in left:
                planned = self._planned(running, running.condition, block, "trial")
                found.append(replace(planned, number=self._recorded + len(found)))
                taken[id(running)] += 1
            active = [
                running
                for running in self._conditions
                if running.trials.active and running.trials.most_left > taken[id(running)]
            ]
            block += 1
            left = list(block_order(active, seed=self._seed, block=block)) if active else []
        return found[:most]

    def record(self, outcome: Outcome) -> None:
        """Record the outcome of the next trial.

        Raises:
            UsageError: It is the outcome of another trial.
        """
        self._check_is_next(outcome)
        self._recorded += 1
        if self._block_left:
            running = self._block_left.popleft()
            counting = running.counting(outcome)
            if counting is None:
                self._block_left.append(running)
            elif counting.metrics is None:
                running.trials.record_missing(is_lasting=counting.is_lasting)
            else:
                running.trials.record_done(counting.metrics.get(running.metric))
        else:
            search, planned = self._waiting_searches[0], self._next
            assert planned is not None  # or it would not be the outcome of the next trial
            search.expected_s += planned.expected_time_s
            counting = search.counting(outcome)
            # A repeat is another trial of the same step: the search sees only the one that counts.
            if counting is not None:
                metric, metrics = search.state.rule.metric, counting.metrics
                shown = None if metrics is None else search_reading(metrics, metric)
                search.state.record(shown, is_lasting=counting.is_lasting)
                if metrics is None:
                    # The fault may be gone once the other searches have had their turns.
                    self._waiting_searches.rotate(-1)
        self._next = self._plan_next()

    def given_up(self) -> tuple[Condition, ...]:
        """Conditions that get no more trials because the last ones all failed."""
        return tuple(r.condition for r in self._conditions if r.trials.given_up)

    def searches_given_up(self) -> tuple[str, ...]:
        """Experiments whose search ended because its last trials all failed."""
        return tuple(s.scaled.experiment.id for s in self._searches if s.state.given_up)

    def search_results(self, *, so_far: bool = False) -> dict[str, SearchResult]:
        """Results of the searches that have ended, by experiment; `so_far` includes those that know
        their bounds.
        """
        results = {
            s.scaled.experiment.id: s.state.so_far() if so_far else s.state.result()
            for s in self._searches
        }
        return {name: result for name, result in results.items() if result is not None}

    def estimate(self, overhead_s: float = 0.25, link_rate_bps: float | None = None) -> Estimate:
        """The remaining work, unless trials fail or are disturbed: an upper limit for conditions,
        an estimate for searches.

        Args:
            overhead_s: Seconds that a trial takes beyond its expected time, for conditions that
                have not run yet; others use the mean of their trials.
            link_rate_bps: Rate of the testbed's link; `None` if unknown or unshaped.
        """
        trials, seconds = 0, 0.0
        for running in self._conditions:
            left = running.trials.most_left
            expected_s = running.condition.time_over_s(link_rate_bps) + overhead_s
            trials += left
            seconds += left * running.time_of_a_trial_s(expected_s)
        for search in self._waiting_searches:
            own = search.estimate(overhead_s)
            trials += own.trials
            seconds += own.seconds
        return Estimate(trials, seconds)

    def _plan_next(self) -> PlannedTrial | None:
        if not self._block_left:
            active = [running for running in self._conditions if running.trials.active]
            if active:
                self._block += 1
                self._block_left.extend(block_order(active, seed=self._seed, block=self._block))
        if self._block_left:
            first = self._block_left[0]
            return self._planned(first, first.condition, self._block, "trial")
        while self._waiting_searches:
            search = self._waiting_searches[0]
            step = search.state.next_step()
            if step is not None:
                levels: dict[str, Level] = {search.state.rule.factor: step.level}
                condition = condition_of(search.scaled, levels, step.time_s)
                return self._planned(search, condition, search.state.steps, step.purpose)
            self._waiting_searches.popleft()
        return None

    def _planned(
        self, running: Running, condition: Condition, block: int, purpose: str
    ) -> PlannedTrial:
        return PlannedTrial(
            *(getattr(condition, one.name) for one in fields(condition)),
            number=self._recorded,
            block=block,
            purpose=purpose,
            repeats=running.repeats,
        )

    def _check_is_next(self, outcome: Outcome) -> None:
        planned = self._next
        if planned is None:
            raise UsageError(f"trial {self._recorded} is beyond the end of the plan")
        compared = {
            name: (getattr(planned, name), getattr(outcome, name))
            for name in ("experiment", "factors", "block", "purpose")
        }
        if planned.purpose != "trial":
            # In a search the time is part of the step.
            times = [trial.parameters.get("time_s") for trial in (planned, outcome)]
            compared["time_s"] = (times[0], times[1])
        for name, (expected, found) in compared.items():
            if expected != found:
                raise UsageError(
                    f"trial {planned.number}: {name} is {found}; the plan has {expected}",
                    hint="resume a run with its original study, scale and seed",
                )
