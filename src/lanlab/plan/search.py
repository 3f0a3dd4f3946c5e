"""
The search for saturation: for each of several loss goals the highest load at which no more is lost.

After RFC 9971, Multiple Loss Ratio Search; the terms in brackets are its own. How single trials
become bounds is in `lanlab.plan.bounds`.

# Driving it

Run a trial as `next_step()` says, tell `record()` what it showed, and again, until `next_step()`
gives `None`. The steps depend on the rule and on what was recorded and on nothing else, so that
recording the same again leads to the same place.

# How it goes

1. Short trials. The first is at the highest load; what arrives of it is a good guess of where the
   bounds lie. From there the load goes up or down, twice as far each time, until the strictest
   goal has a bound on either side; then the middle between them is tried, on a logarithmic scale,
   until they are a goal's width apart. Then the next goal. Every trial counts for all goals.
2. Full-length trials at the bounds so found, which confirm or move them: only a full-length trial
   makes a lower bound.
3. The curve: loads over the whole range, dense around the bounds. These trials draw and decide
   nothing.

A sender that cannot offer what it is asked for is asked once more. If it falls short again, what it
offered at best is the highest load from then on, and a goal that is met there ends as
`sender_limited`. What was offered counts as the load of the trial, either time.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from lanlab.plan.blocks import block_order
from lanlab.plan.bounds import Bounds, Goal, Tried
from lanlab.plan.curve import curve_levels
from lanlab.plan.seen import Seen
from lanlab.plan.stopping import MISSING_BEFORE_GIVING_UP

#: Trials after which the bounds are what they are; the curve comes on top. A system that
#: contradicts itself would be searched for long.
MOST_TRIALS = 200

Kind = Literal["found", "at_least_high", "sender_limited", "below_low", "undecided"]


@dataclass(frozen=True)
class SearchRule:
    """What is searched, with its levels in lanlab's units: `0 < low < high`."""

    factor: str
    #: Lowest and highest load [Min Load, Max Load].
    low: int | float
    high: int | float
    #: `goodput_ratio` or `received_ratio`: what is lost is the rest to 1.
    metric: str
    #: Ascending [Goal Loss Ratio].
    loss_goals: tuple[float, ...]
    #: Length of short and of full-length trials [Goal Initial and Final Trial Duration].
    short_time_s: float
    full_time_s: float
    #: Trials that decide about a load, short or full-length; times the length that is the time
    #: that does [Goal Duration Sum].
    trials: int = 3
    #: Share of them that may be lossy [Goal Exceed Ratio].
    exceed_ratio: float = 0.5
    #: The bounds of a goal are close enough at this distance, as a share of the upper one
    #: [Goal Width].
    width_ratio: float = 0.01
    #: Loads of the curve, and trials at each.
    curve: int = 0
    curve_trials: int = 1
    #: Of the order of the curve's trials.
    seed: int = 0
    #: Whether levels are whole numbers; then both ends are.
    whole: bool = False

    def goals(self, time_s: float) -> tuple[Goal, ...]:
        """The goals for trials of this length, the strictest first."""
        sum_time_s = self.trials * time_s
        return tuple(Goal(r, time_s, sum_time_s, self.exceed_ratio) for r in self.loss_goals)

    @property
    def deciding_trials(self) -> int:
        """Trials without a loss that make a load a lower bound."""
        return max(1, math.ceil(self.trials * (1 - self.exceed_ratio) - 1e-9))


@dataclass(frozen=True)
class SearchStep:
    """The next trial of a search."""

    level: int | float
    time_s: float
    #: `search` is a short trial, `confirm` a full-length one, `curve` one that only draws.
    purpose: Literal["search", "confirm", "curve"]


@dataclass(frozen=True)
class GoalResult:
    """Where the search ended for one goal, loads in the factor's unit [Goal Result]."""

    loss_ratio: float
    #: `found`: both bounds are known, close together. `at_least_high`: the high end is a lower
    #: bound. `sender_limited`: so is the highest load that the sender could offer, which is below
    #: the high end. `below_low`: the low end is an upper bound. `undecided`: trials failed, or the
    #: system contradicted itself for too long.
    kind: Kind
    #: The highest load at which no more was lost, by full-length trials [Relevant Lower Bound].
    lower: float | None = None
    #: The lowest at which more was [Relevant Upper Bound].
    upper: float | None = None
    #: What arrives at the lower bound [Conditional Throughput].
    throughput: float | None = None


@dataclass(frozen=True)
class SearchResult:
    """Where a search ended."""

    #: In the order of the rule's goals.
    goals: tuple[GoalResult, ...]
    #: The highest load that the sender really offered, if it could not offer the high end.
    sender_limit: float | None = None


class StepsLeft(NamedTuple):
    """What a search will still need, about."""

    short: int
    full: int


class SearchState:
    """A search under way."""

    def __init__(self, rule: SearchRule) -> None:
        self.rule = rule
        #: Steps recorded so far, those of which every trial failed too.
        self.steps = 0
        self._phase: Literal["short", "full", "curve", "ended"] = "short"
        self._counts = {"search": 0, "confirm": 0}
        self._tried: dict[float, list[Tried]] = {}
        self._missing_in_a_row = 0
        #: Whether it ended because its last trials failed.
        self.given_up = False
        self._top = rule.high
        self._sender_limits = 0
        #: What the sender offered where it fell short of the load that is asked for once more.
        self._fell_short: float | None = None
        #: Where to look for each goal first: what the phase before has found.
        self._anchors: tuple[float | None, ...] = (None,) * len(rule.loss_goals)
        self._curve: deque[float] = deque()
        self._next = self._choose()

    def next_step(self) -> SearchStep | None:
        """The trial to run next; `None` once the search has ended."""
        return self._next

    @property
    def is_in_doubt(self) -> bool:
        """Whether every trial of the last step failed."""
        return self._missing_in_a_row > 0

    def result(self) -> SearchResult | None:
        """Where the search ended; `None` while it goes on."""
        if self._next is not None:
            return None
        limit = max(self._tried) if self._top < self.rule.high else None
        return SearchResult(self._goal_results(), limit)

    def record(self, seen: Seen | None, *, is_lasting: bool = False) -> None:
        """
        What the trial of the next step showed.

        Args:
            seen: `None` if every trial of the step failed. That says nothing of the load: the
                step comes again, but for one of the curve, which stays without that trial.
            is_lasting: Whether no retry removes the cause of the last failure.
        """
        step = self._next
        if step is None:
            raise ValueError("seen: the search has ended")
        self.steps += 1
        if seen is None:
            self._missing_in_a_row += 1
            cannot_work = is_lasting and not sum(self._counts.values())
            if cannot_work or self._missing_in_a_row >= MISSING_BEFORE_GIVING_UP:
                self._phase, self._next, self.given_up = "ended", None, True
            elif step.purpose == "curve":
                self._curve.popleft()
                self._next = self._choose()
            return
        self._missing_in_a_row = 0
        if step.purpose == "curve":
            self._curve.popleft()
        else:
            self._counts[step.purpose] += 1
            self._take_in(step, seen)
        self._next = self._choose()

    def left(self) -> StepsLeft:
        """What the search will still need, from what one commonly needs. A noisy network takes
        more, up to `MOST_TRIALS` and the curve."""
        if self._next is None:
            return StepsLeft(0, 0)
        rule = self.rule
        goals, deciding = len(rule.loss_goals), rule.deciding_trials
        if self._phase == "curve":
            return StepsLeft(0, len(self._curve))
        curve = rule.curve * rule.curve_trials
        full = max(1, deciding * (1 + goals) - self._counts["confirm"])
        if self._phase == "full":
            return StepsLeft(0, full + curve)
        # The high end, the guess, and one beside it for each goal.
        short = 1 + deciding * (1 + goals) - self._counts["search"]
        return StepsLeft(max(1, short), full + curve)

    def _take_in(self, step: SearchStep, seen: Seen) -> None:
        rule, load = self.rule, step.level
        if seen.offered_ratio < 1 - rule.width_ratio / 2:
            load = self._rounded(step.level * seen.offered_ratio)
            if self._fell_short is None:
                self._fell_short = load
            else:
                # Each further time a width lower: the best of a noisy sender is not run after.
                best = max(load, self._fell_short) * (1 - rule.width_ratio) ** self._sender_limits
                self._top, self._fell_short = self._rounded(best), None
                self._sender_limits += 1
        else:
            self._fell_short = None
        self._tried.setdefault(load, []).append(Tried(step.time_s, max(0.0, seen.loss_ratio)))
        if self._anchors[0] is None:
            arrived = self._rounded(load * (1 - max(0.0, seen.loss_ratio)))
            self._anchors = (arrived,) * len(rule.loss_goals)

    def _choose(self) -> SearchStep | None:
        if self._fell_short is not None and self._next is not None:
            return self._next
        rule = self.rule
        while self._phase in ("short", "full"):
            level = self._next_level() if sum(self._counts.values()) < MOST_TRIALS else None
            if level is not None and self._phase == "short":
                return SearchStep(level, rule.short_time_s, "search")
            if level is not None:
                return SearchStep(level, rule.full_time_s, "confirm")
            self._end_phase()
        if self._curve:
            return SearchStep(self._curve[0], rule.full_time_s, "curve")
        self._phase = "ended"
        return None

    def _end_phase(self) -> None:
        rule = self.rule
        if self._phase == "short":
            found = [goal.bounds(self._tried) for goal in rule.goals(rule.short_time_s)]
            self._anchors = tuple(self._bottom if b.lower is None else b.lower for b in found)
            self._phase = "full"
            return
        self._phase = "curve"
        if rule.curve:
            ends = [end for goal in self._goal_results() for end in (goal.lower, goal.upper)]
            known = [end for end in ends if end is not None]
            levels = curve_levels(rule.curve, self._bottom, self._top, known, whole=rule.whole)
            for block in range(rule.curve_trials):
                self._curve.extend(block_order(levels, seed=rule.seed, block=block))

    @property
    def _bottom(self) -> float:
        return min(self.rule.low, self._top)

    def _next_level(self) -> float | None:
        """The load that brings the first goal on that has not got where it wants to be."""
        short = self._phase == "short"
        time_s = self.rule.short_time_s if short else self.rule.full_time_s
        anchor: float | None = None
        for place, goal in enumerate(self.rule.goals(time_s)):
            bounds = goal.bounds(self._tried)
            # Goals lie close together: where the stricter one has ended is where to begin.
            begin = self._anchors[place] if anchor is None or not short else anchor
            level = self._narrow(bounds, begin)
            if level is not None:
                return level
            anchor = bounds.lower
        return None

    def _narrow(self, bounds: Bounds, anchor: float | None) -> float | None:
        """The next load for a goal, or `None` if its bounds are as close as they shall be."""
        if self._is_settled(bounds):
            return None
        if anchor is None:
            return self._top
        lower, upper = bounds
        anchor = min(max(anchor, self._bottom), self._top)
        # A little less than the width, so that rounding does not make it more.
        unit = -0.99 * math.log1p(-self.rule.width_ratio)
        if lower is not None and lower >= anchor:
            wanted = min(self._top, anchor * math.exp(2 * math.log(lower / anchor) + unit))
            wanted = wanted if upper is None else min(wanted, math.sqrt(lower * upper))
        elif upper is not None and upper <= anchor:
            wanted = max(self._bottom, anchor * math.exp(-2 * math.log(anchor / upper) - unit))
            wanted = wanted if lower is None else max(wanted, math.sqrt(lower * upper))
        else:
            wanted = anchor
        # Rather a load that is near and not decided than one more load.
        inside = [load for load in self._tried if self._is_inside(load, bounds)]
        near = [load for load in inside if abs(math.log(load / wanted)) <= unit]
        if near:
            return min(near, key=lambda load: (abs(math.log(load / wanted)), load))
        wanted = self._rounded(wanted)
        if not self._is_inside(wanted, bounds):
            # Only rounding leads onto a bound, and its neighbour on the other side is free.
            wanted += 1 if wanted == lower else -1
        return wanted

    def _is_inside(self, load: float, bounds: Bounds) -> bool:
        """Whether a load can be asked for and lies strictly between the bounds."""
        lower, upper = bounds
        above = self._bottom <= load and (lower is None or lower < load)
        return above and load <= self._top and (upper is None or load < upper)

    def _is_settled(self, bounds: Bounds) -> bool:
        lower, upper = bounds
        beyond = lower is not None and lower >= self._top
        return beyond or (upper is not None and upper <= self._bottom) or self._is_close(bounds)

    def _is_close(self, bounds: Bounds) -> bool:
        lower, upper = bounds
        if lower is None or upper is None:
            return False
        close = upper - lower <= self.rule.width_ratio * upper * (1 + 1e-9)
        # Neighbouring numbers have nothing between them.
        return close or (self.rule.whole and upper - lower <= 1)

    def _rounded(self, load: float) -> float:
        return max(1, math.floor(load + 0.5)) if self.rule.whole else load

    def _goal_results(self) -> tuple[GoalResult, ...]:
        return tuple(self._goal_result(g) for g in self.rule.goals(self.rule.full_time_s))

    def _goal_result(self, goal: Goal) -> GoalResult:
        bounds = goal.bounds(self._tried)
        lower, upper = bounds
        result = GoalResult(goal.loss_ratio, "undecided", lower, upper)
        if lower is not None:
            throughput = goal.throughput(lower, self._tried[lower])
            result = replace(result, throughput=throughput)
        if not self._is_settled(bounds):
            return result
        if lower is None:
            return replace(result, kind="below_low")
        if self._is_close(bounds):
            return replace(result, kind="found")
        limited = self._top < self.rule.high
        return replace(result, kind="sender_limited" if limited else "at_least_high")
