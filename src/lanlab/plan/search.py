"""
The search for saturation: for each of several loss goals the highest load that meets it.

After RFC 9971, Multiple Loss Ratio Search; the terms in brackets are its own. How single trials
become bounds is in `lanlab.plan.bounds`.

# Driving it

Run a trial as `next_step()` says, pass its result to `record()`, and repeat, until `next_step()`
returns `None`. The steps depend only on the rule and the recorded results, so that recording the
same results again reproduces them.

# How it goes

1. Short trials. The first is at the highest load; the received rate is a good first guess of the
   bounds. From there the load goes up or down, twice as far each time, until the strictest goal has
   a bound on either side; then the middle between them is tried, on a logarithmic scale, until they
   are a goal's width apart. Then the next goal. Every trial counts for all goals.
2. Full-length trials at the bounds so found, which confirm or move them: only a full-length trial
   makes a lower bound.
3. The curve: loads over the whole range, dense around the bounds. These trials move no bounds.
4. Full-length trials for the interval of the capacity: far below the bounds, where losses are
   random, and around the upper bound, up two steps after each good trial and down one after each
   lossy one, so that they stay near the capacity, however much it varies.

If every load may lose as much as a goal allows (`lanlab.plan.random_loss`), no load is searched for
that goal. The interval itself is computed by `lanlab.analysis.saturation.search`.

A sender that cannot offer a load gets a second attempt. If it falls short again, the most that it
offered is the highest load from then on, and a goal met there ends as `sender_limited`. In both
attempts, the offered load counts as the load of the trial.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import replace
from typing import Literal

from lanlab.plan.blocks import block_order
from lanlab.plan.bounds import Bounds, Goal, Tried
from lanlab.plan.curve import curve_levels
from lanlab.plan.random_loss import PROBE_RATIOS, Observation, carried, random_loss
from lanlab.plan.search_reading import SearchReading
from lanlab.plan.search_rule import GoalResult, SearchResult, SearchRule, SearchStep, StepsLeft
from lanlab.plan.staircase import Staircase, staircase
from lanlab.plan.stopping import MISSING_BEFORE_GIVING_UP

#: Trials after which the bounds are final; the curve and the trials around the bounds are
#: additional. This limits searches with contradictory results.
MOST_TRIALS = 200

#: Below this share of the first load's throughput, the search looks for random loss first.
_FAR_BELOW_RATIO = 0.9


class SearchState:
    def __init__(self, rule: SearchRule) -> None:
        self.rule = rule
        self.steps = 0
        self._phase: Literal["short", "full", "curve", "around", "ended"] = "short"
        self._counts = {"search": 0, "confirm": 0}
        self._tried: dict[float, list[Tried]] = {}
        self._missing_in_a_row = 0
        #: Whether the search ended because its last trials failed.
        self.given_up = False
        self._top = rule.high
        self._sender_limits = 0
        #: The load that the sender offered when it fell short, before the second attempt.
        self._fell_short: float | None = None
        self._anchors: tuple[float | None, ...] = (None,) * len(rule.loss_goals)
        self._curve: deque[float] = deque()
        self._in_order: list[Observation] = []
        self._loss = random_loss(())
        self._staircase = Staircase(0.0, (), 0, 0, 0.0)
        self._is_reopened = False
        self._next = self._choose()

    def next_step(self) -> SearchStep | None:
        """The trial to run next; `None` once the search has ended."""
        return self._next

    @property
    def is_in_doubt(self) -> bool:
        return self._missing_in_a_row > 0

    def result(self) -> SearchResult | None:
        """The result of the search; `None` before its end."""
        return self.so_far() if self._next is None else None

    def so_far(self) -> SearchResult | None:
        """The current result; `None` while bounds are searched. Older versions ended here."""
        if self._phase in ("short", "full"):
            return None
        limit = max(self._tried) if self._top < self.rule.high else None
        enough_s = self.rule.full_time_s * (1 - 1e-9)
        full = tuple(one for one in self._in_order if one.tried.time_s >= enough_s)
        return SearchResult(self._goal_results(), limit, self._loss, full)

    def record(self, seen: SearchReading | None, *, is_lasting: bool = False) -> None:
        """
        Record the result of the next step's trial.

        Args:
            seen: `None` if every trial of the step failed. The load is still untested: the step is
                repeated, unless it belongs to the curve, which omits it.
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
        one = Observation(step.level * seen.offered_ratio, _tried(step, seen))
        if step.purpose == "curve":
            self._curve.popleft()
        elif self._phase == "around":
            self._staircase.recorded.append(one)
        else:
            self._counts[step.purpose] += 1
            one = Observation(self._take_in(step, seen), one.tried)
        self._in_order.append(one)
        self._loss = random_loss(self._observed())
        self._next = self._choose()

    def left(self) -> StepsLeft:
        """An estimate of the remaining trials, from typical searches. A noisy network needs more,
        up to `MOST_TRIALS` and the curve.
        """
        if self._next is None:
            return StepsLeft(0, 0)
        rule = self.rule
        goals, deciding = len(rule.loss_goals), rule.deciding_trials
        if self._phase == "around":
            return StepsLeft(0, self._staircase.left)
        around_bounds = rule.far + rule.around
        if self._phase == "curve":
            return StepsLeft(0, len(self._curve) + around_bounds)
        curve = rule.curve * rule.curve_trials + around_bounds
        full = max(1, deciding * (1 + goals) - self._counts["confirm"])
        if self._phase == "full":
            return StepsLeft(0, full + curve)
        # The high end, the guess, and one near it for each goal.
        short = 1 + deciding * (1 + goals) - self._counts["search"]
        return StepsLeft(max(1, short), full + curve)

    def _take_in(self, step: SearchStep, seen: SearchReading) -> float:
        rule, load = self.rule, step.level
        if seen.offered_ratio < 1 - rule.width_ratio / 2:
            load = self._rounded(step.level * seen.offered_ratio)
            if self._fell_short is None:
                self._fell_short = load
            else:
                # One width lower each time, so as not to chase a noisy sender's best attempt.
                best = max(load, self._fell_short) * (1 - rule.width_ratio) ** self._sender_limits
                self._top, self._fell_short = self._rounded(best), None
                self._sender_limits += 1
        else:
            self._fell_short = None
        self._tried.setdefault(load, []).append(_tried(step, seen))
        if self._anchors[0] is None:
            arrived = self._rounded(load * (1 - max(0.0, seen.loss_ratio)))
            self._anchors = (arrived,) * len(rule.loss_goals)
        return load

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
        if self._phase == "curve":
            self._phase, self._staircase = "around", self._begin_staircase()
        load = self._staircase.next_load() if self._phase == "around" else None
        if load is not None:
            level = self._rounded(min(max(load, self._bottom), self._top))
            return SearchStep(level, rule.full_time_s, "confirm")
        if self._phase == "around" and not self._is_reopened and self._is_open():
            # Loss that looked random in short trials rises with load: some load may meet the goal.
            self._phase, self._is_reopened = "full", True
            return self._choose()
        self._phase = "ended"
        return None

    def _is_open(self) -> bool:
        return any(goal.kind == "undecided" for goal in self._goal_results())

    def _begin_staircase(self) -> Staircase:
        rule, observed = self.rule, self._observed()
        enough_s = rule.full_time_s * (1 - 1e-9)
        full = [one for one in observed if one.tried.time_s >= enough_s]
        goals = [goal for goal in self._goal_results() if goal.kind != "random_loss"]
        uppers = [(goal.loss_ratio, goal.upper) for goal in goals]
        most = carried(observed)
        if not goals and most < self._top:
            uppers = [(self._loss.high, most * (1 + rule.width_ratio))]
        return staircase(
            full, uppers, most, far=rule.far, count=rule.around, width_ratio=rule.width_ratio
        )

    def _observed(self) -> list[Observation]:
        tried = [Observation(load, one) for load, ones in self._tried.items() for one in ones]
        return [*tried, *self._staircase.recorded]

    def _end_phase(self) -> None:
        rule = self.rule
        if self._phase == "short":
            found = [goal.bounds(self._tried) for goal in rule.goals(rule.short_time_s)]
            self._anchors = tuple(self._bottom if b.lower is None else b.lower for b in found)
            self._phase = "full"
            return
        if self._is_reopened:
            self._phase = "ended"
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
        short = self._phase == "short"
        time_s = self.rule.short_time_s if short else self.rule.full_time_s
        anchor: float | None = None
        for place, goal in enumerate(self.rule.goals(time_s)):
            if self._loss.forbids(goal.loss_ratio):
                continue
            bounds = goal.bounds(self._tried)
            # Goals are close together: begin at the result of the stricter one.
            begin = self._anchors[place] if anchor is None or not short else anchor
            level = self._narrow(bounds, begin)
            if level is not None:
                return self._probe(level) if short else level
            anchor = bounds.lower
        return None

    def _probe(self, level: float) -> float:
        first = self._anchors[0]
        if first is None or level >= _FAR_BELOW_RATIO * first or self._bottom > first / 2:
            return level
        far_below = sum(len(ones) for load, ones in self._tried.items() if load < 0.8 * first)
        if far_below >= len(PROBE_RATIOS):
            return level
        return self._rounded(max(self._bottom, PROBE_RATIOS[far_below] * first))

    def _narrow(self, bounds: Bounds, anchor: float | None) -> float | None:
        """The next load for a goal, or `None` if its bounds are close enough."""
        if self._is_settled(bounds):
            return None
        if anchor is None:
            return self._top
        lower, upper = bounds
        anchor = min(max(anchor, self._bottom), self._top)
        # Slightly less than the width, so that rounding does not exceed it.
        unit = -0.99 * math.log1p(-self.rule.width_ratio)
        if lower is not None and lower >= anchor:
            wanted = min(self._top, anchor * math.exp(2 * math.log(lower / anchor) + unit))
            wanted = wanted if upper is None else min(wanted, math.sqrt(lower * upper))
        elif upper is not None and upper <= anchor:
            wanted = max(self._bottom, anchor * math.exp(-2 * math.log(anchor / upper) - unit))
            wanted = wanted if lower is None else max(wanted, math.sqrt(lower * upper))
        else:
            wanted = anchor
        # Prefer an undecided load nearby to a new load.
        inside = [load for load in self._tried if self._is_inside(load, bounds)]
        near = [load for load in inside if abs(math.log(load / wanted)) <= unit]
        if near:
            return min(near, key=lambda load: (abs(math.log(load / wanted)), load))
        wanted = self._rounded(wanted)
        if not self._is_inside(wanted, bounds):
            # Rounding led onto a bound; its neighbour on the other side is free.
            wanted += 1 if wanted == lower else -1
        return wanted

    def _is_inside(self, load: float, bounds: Bounds) -> bool:
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
        if self._loss.forbids(goal.loss_ratio):
            return replace(result, kind="random_loss")
        if not self._is_settled(bounds):
            return result
        if lower is None:
            return replace(result, kind="below_low")
        if self._is_close(bounds):
            return replace(result, kind="found")
        limited = self._top < self.rule.high
        return replace(result, kind="sender_limited" if limited else "at_least_high")


def _tried(step: SearchStep, seen: SearchReading) -> Tried:
    loss_ratio = max(0.0, seen.loss_ratio)
    return Tried(step.time_s, loss_ratio, seen.messages, max(0.0, seen.lost_messages))
