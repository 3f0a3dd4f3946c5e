"""
State of the conditions and searches of a running plan: their trials, and which of them count.

A position is a condition in one block, or one step of a search. Several trials may run there,
because disturbed ones are repeated and failed ones retried; at most one counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from lanlab.plan.conditions import Condition, condition_of
from lanlab.plan.stopping import Trials
from lanlab.studies.base import Level
from lanlab.studies.model import Search, TrialPolicy
from lanlab.studies.scaling import ExperimentAtScale
from lanlab.trial_data import ErrorRecord

# Imported only for a study with a search.
if TYPE_CHECKING:
    from lanlab.plan.search import SearchState


class Outcome(Protocol):
    """The part of a trial's outcome that a plan needs; the record has all of it."""

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
    def is_disturbed(self) -> bool: ...
    @property
    def error(self) -> ErrorRecord | None:
        """Error of a failed trial; unless `retry_helps` is false, a retry may help."""

    @property
    def elapsed_s(self) -> float: ...
    @property
    def metrics(self) -> Mapping[str, float | int]: ...


class Estimate(NamedTuple):
    """The remaining work of a run if every condition needs its maximum of trials, and every search
    a typical number.
    """

    trials: int
    seconds: float


class Counting(NamedTuple):
    #: The results that count at this position; `None` if every trial failed.
    metrics: Mapping[str, float | int] | None
    is_lasting: bool = False


@dataclass
class Running:
    policy: TrialPolicy = field(kw_only=True)
    finished: int = 0
    elapsed_s: float = 0.0
    disturbed: list[Mapping[str, float | int]] = field(default_factory=list)
    failed: int = 0

    @property
    def repeats(self) -> int:
        return len(self.disturbed) + self.failed

    def counting(self, outcome: Outcome) -> Counting | None:
        """The result of this position after this trial; `None`: run it again."""
        self.finished += 1
        self.elapsed_s += outcome.elapsed_s
        if outcome.status == "done":
            if outcome.is_disturbed and len(self.disturbed) < self.policy.repeat_polluted:
                self.disturbed.append(outcome.metrics)
                return None
            return self._decided(Counting(outcome.metrics))
        if self.disturbed:
            # This position has a disturbed result: only an undisturbed one would have been better.
            return self._decided(Counting(self.disturbed[-1]))
        self.failed += 1
        is_lasting = (outcome.error or {}).get("retry_helps") is False
        if not is_lasting and not self.is_in_doubt and self.failed <= self.policy.retry_failed:
            return None
        return self._decided(Counting(None, is_lasting))

    def _decided(self, counting: Counting) -> Counting:
        self.disturbed.clear()
        self.failed = 0
        return counting

    @property
    def is_in_doubt(self) -> bool:
        """Whether the previous position is missing: then a single attempt is made, so that a
        permanent fault does not cost every block its retries.
        """
        raise NotImplementedError

    def time_of_a_trial_s(self, expected_s: float) -> float:
        """Mean duration of the trials so far; before the first, the expected duration."""
        return self.elapsed_s / self.finished if self.finished else expected_s


@dataclass
class RunningCondition(Running):
    condition: Condition = field(kw_only=True)
    trials: Trials = field(kw_only=True)
    metric: str = field(kw_only=True)

    @property
    def is_in_doubt(self) -> bool:
        return self.trials.is_in_doubt


@dataclass
class RunningSearch(Running):
    scaled: ExperimentAtScale = field(kw_only=True)
    state: SearchState = field(kw_only=True)
    condition: Condition = field(kw_only=True)
    warmup_s: float = field(kw_only=True)
    #: The expected durations of the finished trials, which vary.
    expected_s: float = 0.0

    @property
    def is_in_doubt(self) -> bool:
        return self.state.is_in_doubt

    def estimate(self, overhead_s: float) -> Estimate:
        rule, left = self.state.rule, self.state.left()
        if self.finished:
            overhead_s = (self.elapsed_s - self.expected_s) / self.finished
        trials = left.short + left.full
        seconds = left.short * rule.short_time_s + left.full * rule.full_time_s
        return Estimate(trials, seconds + trials * (self.warmup_s + overhead_s))


def running_search(scaled: ExperimentAtScale, search: Search, seed: int) -> RunningSearch:
    """A search at its beginning; `seed` determines the order of its curve."""
    from lanlab.plan.search import SearchState
    from lanlab.plan.search_rule import SearchRule

    low = condition_of(scaled, {search.factor: search.low})
    high = condition_of(scaled, {search.factor: search.high})
    low_level, high_level = low.factors[search.factor], high.factors[search.factor]
    full_time_s, warmup_s = low.parameters["time_s"], low.parameters["warmup_s"]
    # Factors of a search are numbers, and the study was checked.
    assert isinstance(low_level, int | float) and isinstance(high_level, int | float)
    assert isinstance(full_time_s, float) and isinstance(warmup_s, float)
    as_asked = {key: value for key, value in search if key not in ("low", "high", "short_ratio")}
    rule = SearchRule(
        **as_asked,
        low=low_level,
        high=high_level,
        # Rounded to a few digits, and never zero.
        short_time_s=max(1e-6, round(full_time_s * search.short_ratio, 6)),
        full_time_s=full_time_s,
        seed=seed,
        whole=isinstance(low_level, int),
    )
    return RunningSearch(
        scaled=scaled,
        state=SearchState(rule),
        condition=low,
        warmup_s=warmup_s,
        policy=scaled.trials,
    )
