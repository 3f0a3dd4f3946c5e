"""
The search for a saturation point: the highest level at which a metric stays at or above a bound.

# Driving it

Run a trial at `next_level()`, tell `record()` whether it passed, and again, until `next_level()`
gives `None`; then `result()` is there. The levels depend on the rule and on what was recorded and
on nothing else, so that recording the same again leads to the same place.

# How it goes

The high end first: if it passes, the level lies beyond it (or the sender is the limit), and there
is nothing to search. Then the low end. Then the middle of the bracket on a logarithmic scale, until
the bracket is narrow enough. The lower end of the bracket is then confirmed by trials of its own;
where they fail, the next level down is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from lanlab.plan.stopping import FAILURES_BEFORE_GIVING_UP

#: Levels at which a confirmation is tried before the search ends undecided.
MAX_CONFIRMATIONS = 5


@dataclass(frozen=True)
class SearchRule:
    """What is searched, with its levels in lanlab's units: `0 < low < high`."""

    factor: str
    low: int | float
    high: int | float
    metric: str
    at_least: float
    #: The bracket is narrow enough at this width, as a share of its upper end.
    resolution_ratio: float
    #: Trials at each level; the level passes when most of them do.
    trials: int = 1
    confirm_trials: int = 1
    #: Whether levels are whole numbers; then both ends are.
    whole: bool = False

    def passed(self, metrics: Mapping[str, float | int]) -> bool | None:
        """Whether a trial with these results passed; `None` if it did not measure the metric."""
        value = metrics.get(self.metric)
        return None if value is None or math.isnan(value) else value >= self.at_least


@dataclass(frozen=True)
class SearchStep:
    """The next trial of a search."""

    level: float
    purpose: Literal["search", "confirm"]


@dataclass(frozen=True)
class SearchResult:
    """Where a search ended."""

    #: `found`: at `level`, confirmed. `at_least_high`: `level` is the high end, which passed.
    #: `below_low`: `level` is the low end, which did not. `undecided`: trials failed, or no level
    #: could be confirmed.
    kind: Literal["found", "at_least_high", "below_low", "undecided"]
    level: float | None
    #: The highest level that passed and the lowest that did not, where there are such.
    bracket: tuple[float | None, float | None]


class SearchState:
    """A search under way."""

    def __init__(self, rule: SearchRule) -> None:
        self.rule = rule
        #: Trials recorded so far, failed ones too.
        self.steps = 0
        self._phase: Literal["high", "low", "bisect", "confirm"] = "high"
        self._level = rule.high
        self._passing: float | None = None
        self._failing: float | None = None
        self._passes = 0
        self._misses = 0
        self._failures_in_a_row = 0
        self._confirmations = 0
        self._result: SearchResult | None = None

    @classmethod
    def from_history(cls, rule: SearchRule, passed: Iterable[bool | None]) -> SearchState:
        """The search after these trials; the levels need not be told, they follow."""
        state = cls(rule)
        for outcome in passed:
            state.record(outcome)
        return state

    def next_level(self) -> SearchStep | None:
        """The trial to run next; `None` once the search has ended."""
        if self._result is not None:
            return None
        return SearchStep(self._level, "confirm" if self._phase == "confirm" else "search")

    def result(self) -> SearchResult | None:
        """Where the search ended; `None` while it goes on."""
        return self._result

    def record(self, passed: bool | None) -> None:
        """A trial at the next level passed, did not, or (`None`) failed and says nothing."""
        if self._result is not None:
            raise ValueError("passed: the search has ended")
        self.steps += 1
        if passed is None:
            self._failures_in_a_row += 1
            if self._failures_in_a_row >= FAILURES_BEFORE_GIVING_UP:
                self._end("undecided", None)
            return
        self._failures_in_a_row = 0
        self._passes += passed
        self._misses += not passed
        verdict = self._verdict()
        if verdict is not None:
            self._passes = self._misses = 0
            self._judge(verdict)

    def most_trials_left(self) -> int:
        """Trials that the search can still need, if none fails."""
        if self._result is not None:
            return 0
        rule = self.rule
        confirmations = (MAX_CONFIRMATIONS - self._confirmations) * rule.confirm_trials
        if self._phase == "confirm":
            return confirmations - self._passes - self._misses
        low, high = self._passing or rule.low, self._failing or rule.high
        # Levels to bisect to; then the ends that are still to be tried.
        narrowings = math.log(high / low) / -math.log1p(-rule.resolution_ratio)
        levels = max(0, math.ceil(math.log2(narrowings))) if narrowings > 0 else 0
        levels += {"high": 2, "low": 1, "bisect": 0}[self._phase]
        return max(1, levels * rule.trials - self._passes - self._misses) + confirmations

    def _verdict(self) -> bool | None:
        """Whether the level has passed; `None` while that is open."""
        if self._phase == "confirm":
            # All of them are run, as they are the measurement of the level found.
            wanted = self.rule.confirm_trials
            if self._passes + self._misses < wanted and 2 * self._misses < wanted:
                return None
            return 2 * self._passes > wanted
        wanted = self.rule.trials
        if 2 * self._passes > wanted:
            return True
        return False if 2 * self._misses >= wanted else None

    def _judge(self, passed: bool) -> None:
        rule = self.rule
        if passed:
            self._passing = self._level
        else:
            self._failing = self._level
        if self._phase == "high":
            if passed:
                self._end("at_least_high", rule.high)
            else:
                self._phase, self._level = "low", rule.low
        elif self._phase == "low" and not passed:
            self._end("below_low", rule.low)
        elif self._phase != "confirm":
            self._narrow()
        elif passed:
            self._end("found", self._level)
        else:
            self._step_down()

    def _narrow(self) -> None:
        assert self._passing is not None and self._failing is not None  # both ends were tried
        low, high = self._passing, self._failing
        middle = math.sqrt(low) * math.sqrt(high)
        if self.rule.whole:
            middle = round(middle)
        narrow = high - low <= self.rule.resolution_ratio * high
        # Neighbouring numbers have no middle.
        if narrow or not low < middle < high:
            self._phase, self._level = "confirm", low
        else:
            self._phase, self._level = "bisect", middle

    def _step_down(self) -> None:
        self._passing = None
        self._confirmations += 1
        lower = self._level * (1 - self.rule.resolution_ratio)
        if self.rule.whole:
            lower = min(math.floor(lower), self._level - 1)
        if self._confirmations == MAX_CONFIRMATIONS or self._level <= self.rule.low:
            self._end("undecided", None)
        else:
            self._level = max(lower, self.rule.low)

    def _end(
        self,
        kind: Literal["found", "at_least_high", "below_low", "undecided"],
        level: float | None,
    ) -> None:
        self._result = SearchResult(kind, level, (self._passing, self._failing))
