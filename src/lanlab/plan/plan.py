"""
What to run next.

First the conditions of all experiments in randomised complete blocks, each until its stopping rule
is met; then the searches, one after another. A polluted trial is repeated at the end of its block,
or at once in a search, as often as the study allows; of the trials at one place only the last that
did not fail counts. A plan does no I/O and knows no clock: it follows from
the study, the scale and the seed, and from what was recorded. So a run that was interrupted goes on
by recording its history into a new plan.

# Driving it

Run `next_trial()`, `record()` its outcome, and again, until `next_trial()` gives `None`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from lanlab.errors import UsageError
from lanlab.plan.blocks import block_order
from lanlab.plan.conditions import Condition, condition_of, crossed
from lanlab.plan.search import SearchResult, SearchRule, SearchState
from lanlab.plan.seen import seen
from lanlab.plan.stopping import Trials
from lanlab.studies import ExperimentAtScale, Level, Study, at_scale
from lanlab.studies.model import Search


class Outcome(Protocol):
    """What a plan needs to know of a trial that was run; a trial's record has it all."""

    @property
    def experiment(self) -> str: ...
    @property
    def factors(self) -> Mapping[str, Level]: ...
    @property
    def parameters(self) -> Mapping[str, Level]: ...
    @property
    def block(self) -> int: ...
    @property
    def purpose(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def is_polluted(self) -> bool: ...
    @property
    def elapsed_s(self) -> float: ...
    @property
    def metrics(self) -> Mapping[str, float | int]: ...


@dataclass(frozen=True)
class PlannedTrial:
    """A trial to run."""

    #: Order of execution within the run, from 0.
    number: int
    experiment: str
    workload: str
    #: Levels that identify the condition; of a search, the level tried.
    factors: Mapping[str, Level]
    parameters: Mapping[str, Level]
    #: From 0; of a search, its step.
    block: int
    #: `trial`; of a search, `search`, `confirm` or `curve`.
    purpose: str
    #: How often it has been run at this place before, and was polluted.
    repeats: int
    expected_time_s: float


class Estimate(NamedTuple):
    """What is left of a run if every condition needs as many trials as it may have, and every
    search about as many as one commonly does."""

    trials: int
    seconds: float


class _Counting(NamedTuple):
    """The results at one place of a plan; `None` if the trial there failed."""

    metrics: Mapping[str, float | int] | None


@dataclass
class _Running:
    """A condition or a search, with the time that its trials took."""

    #: How often a polluted trial is repeated.
    repeat_polluted: int = field(kw_only=True)
    finished: int = 0
    elapsed_s: float = 0.0
    #: Results of the polluted trials at this place, none of which has counted.
    polluted: list[Mapping[str, float | int]] = field(default_factory=list)

    def counting(self, outcome: Outcome) -> _Counting | None:
        """What counts at this place now that this trial has ended; `None`: it is repeated."""
        self.took(outcome.elapsed_s)
        done = outcome.status == "done"
        if done and outcome.is_polluted and len(self.polluted) < self.repeat_polluted:
            self.polluted.append(outcome.metrics)
            return None
        metrics = outcome.metrics if done else self.polluted[-1] if self.polluted else None
        self.polluted.clear()
        return _Counting(metrics)

    def took(self, elapsed_s: float) -> None:
        self.finished += 1
        self.elapsed_s += elapsed_s

    def time_of_a_trial_s(self, expected_s: float) -> float:
        return self.elapsed_s / self.finished if self.finished else expected_s


@dataclass
class _RunningCondition(_Running):
    condition: Condition = field(kw_only=True)
    trials: Trials = field(kw_only=True)
    metric: str = field(kw_only=True)


@dataclass
class _RunningSearch(_Running):
    scaled: ExperimentAtScale = field(kw_only=True)
    state: SearchState = field(kw_only=True)
    warmup_s: float = field(kw_only=True)
    #: What the trials that have ended were expected to take; they differ in length.
    expected_s: float = 0.0

    def estimate(self, overhead_s: float) -> Estimate:
        rule, left = self.state.rule, self.state.left()
        if self.finished:
            overhead_s = (self.elapsed_s - self.expected_s) / self.finished
        trials = left.short + left.full
        seconds = left.short * rule.short_time_s + left.full * rule.full_time_s
        return Estimate(trials, seconds + trials * (self.warmup_s + overhead_s))


class Plan:
    """The trials of one run, given one after another.

    Args:
        study: A study that `load_study` has checked.
        scale_name: One of its scales.
        seed: Of the order within blocks.
        history: Outcomes of a run to go on with, in the order in which they were recorded.

    Raises:
        UnknownName: The study has no such scale.
        UsageError: The history is not one of this plan.
    """

    def __init__(
        self, study: Study, scale_name: str, seed: int, history: Iterable[Outcome] = ()
    ) -> None:
        self._seed = seed
        self._conditions: list[_RunningCondition] = []
        self._searches: list[_RunningSearch] = []
        for scaled in at_scale(study, scale_name):
            if scaled.search is None:
                self._conditions += [
                    _RunningCondition(
                        condition=condition,
                        trials=Trials(scaled.trials),
                        repeat_polluted=scaled.trials.repeat_polluted,
                        metric=scaled.experiment.metrics[0],
                    )
                    for condition in crossed(scaled)
                ]
            else:
                self._searches.append(_running_search(scaled, scaled.search, seed))
        self._recorded = 0
        self._block = -1
        self._block_left: deque[_RunningCondition] = deque()
        self._waiting_searches = deque(self._searches)
        self._next = self._plan_next()
        for outcome in history:
            self.record(outcome)

    def next_trial(self) -> PlannedTrial | None:
        """The trial to run now, the same until its outcome is recorded; `None` at the end."""
        return self._next

    def record(self, outcome: Outcome) -> None:
        """Take in the outcome of the next trial.

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
                running.trials.record_failed()
            else:
                running.trials.record_done(counting.metrics.get(running.metric))
        else:
            search, planned = self._waiting_searches[0], self._next
            assert planned is not None  # or the outcome were not of the next trial
            search.expected_s += planned.expected_time_s
            counting = search.counting(outcome)
            # A repeat is another trial of the same step: the search hears of neither until then.
            if counting is not None:
                metric, metrics = search.state.rule.metric, counting.metrics
                search.state.record(None if metrics is None else seen(metrics, metric))
        self._next = self._plan_next()

    def given_up(self) -> tuple[Condition, ...]:
        """Conditions that get no more trials because the last ones all failed."""
        return tuple(r.condition for r in self._conditions if r.trials.given_up)

    def search_results(self) -> dict[str, SearchResult]:
        """Where the searches that have ended did so, by experiment."""
        results = {s.scaled.experiment.id: s.state.result() for s in self._searches}
        return {name: result for name, result in results.items() if result is not None}

    def estimate(self, overhead_s: float = 0.25) -> Estimate:
        """What is left, unless trials fail or are polluted: of conditions at most, of searches
        about.

        Args:
            overhead_s:
                Seconds that a trial takes beyond its expected time, for conditions that have not
                run yet; those that have are taken at the mean of what they took.
        """
        trials, seconds = 0, 0.0
        for running in self._conditions:
            left = running.trials.most_left
            expected_s = running.condition.expected_time_s + overhead_s
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
        self, running: _Running, condition: Condition, block: int, purpose: str
    ) -> PlannedTrial:
        return PlannedTrial(
            number=self._recorded,
            experiment=condition.experiment,
            workload=condition.workload,
            factors=condition.factors,
            parameters=condition.parameters,
            block=block,
            purpose=purpose,
            repeats=len(running.polluted),
            expected_time_s=condition.expected_time_s,
        )

    def _check_is_next(self, outcome: Outcome) -> None:
        planned = self._next
        if planned is None:
            raise UsageError(f"trial {self._recorded}: the plan has ended before it")
        compared = {
            name: (getattr(planned, name), getattr(outcome, name))
            for name in ("experiment", "factors", "block", "purpose")
        }
        if planned.purpose != "trial":
            # Of a search the time is part of the step.
            times = [trial.parameters.get("time_s") for trial in (planned, outcome)]
            compared["time_s"] = (times[0], times[1])
        for name, (expected, found) in compared.items():
            if expected != found:
                raise UsageError(
                    f"trial {planned.number}: {name} is {found}, where the plan has {expected}",
                    hint="resume a run with the study, scale and seed that it was started with",
                )


def _running_search(scaled: ExperimentAtScale, search: Search, seed: int) -> _RunningSearch:
    low = condition_of(scaled, {search.factor: search.low})
    high = condition_of(scaled, {search.factor: search.high})
    low_level, high_level = low.factors[search.factor], high.factors[search.factor]
    full_time_s, warmup_s = low.parameters["time_s"], low.parameters["warmup_s"]
    # The factors that can be searched are numbers, and the study was checked.
    assert isinstance(low_level, int | float) and isinstance(high_level, int | float)
    assert isinstance(full_time_s, float) and isinstance(warmup_s, float)
    rule = SearchRule(
        factor=search.factor,
        low=low_level,
        high=high_level,
        metric=search.metric,
        loss_goals=search.loss_goals,
        short_time_s=_in_microseconds(full_time_s * search.short_ratio),
        full_time_s=full_time_s,
        trials=search.trials,
        exceed_ratio=search.exceed_ratio,
        width_ratio=search.width_ratio,
        curve=search.curve,
        curve_trials=search.curve_trials,
        seed=seed,
        whole=isinstance(low_level, int),
    )
    return _RunningSearch(
        scaled=scaled,
        state=SearchState(rule),
        warmup_s=warmup_s,
        repeat_polluted=scaled.trials.repeat_polluted,
    )


def _in_microseconds(time_s: float) -> float:
    """A time without the digits that a division leaves, and never none at all."""
    return max(1e-6, round(time_s, 6))
