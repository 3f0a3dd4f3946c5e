"""When a condition has had enough trials."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence

from lanlab.studies.model import TrialPolicy
from lanlab.workloads.scales import log_error, scale_of

#: Places that are missing one after another before a condition or a search is given up.
MISSING_BEFORE_GIVING_UP = 3
#: The first trials of a condition, which decide how many it gets towards a goal.
DECIDING_TRIALS = 3
#: Fewest trials of a condition that may stop at a goal: those that follow the deciding ones know
#: nothing of the decision, and must outweigh them in the interval.
LEAST_WITH_GOAL = 12


@functools.cache
def t_quantile_975(degrees_of_freedom: int) -> float:
    """The 97.5 % quantile of Student's t: half the width of a 95 % interval, in standard errors.

    Examples:
        >>> round(t_quantile_975(4), 3)
        2.776
    """
    from scipy.special import stdtrit  # not at start-up: it takes a tenth of a second

    return float(stdtrit(degrees_of_freedom, 0.975))


def trials_needed(
    metric: str, first: Sequence[float], goal_ratio: float, *, least: int, most: int
) -> int:
    """
    How many trials a condition gets, planned once by its first.

    It is Stein's number: enough that the 95 % interval of the mean is within the goal if the
    trials go on to differ as the first ones did, with Student's t for the few that these are. The
    interval is the one that is shown (`lanlab.analysis.statistics.condition_mean`): of rates and
    times on the log scale.

    Args:
        metric: Key of a trial's results; it decides the scale.
        first: Its values in the first trials, at least 2.
        goal_ratio: Half the width of the interval, on its longer side, as a share of the mean.
        least, most: Bounds of the answer; `most` also where none below it is enough.

    Source:
        C. Stein, "A two-sample test for a linear hypothesis whose power is independent of the
        variance", Annals of Mathematical Statistics 16, 1945.

    Examples:
        >>> trials_needed("goodput_bps", [99e6, 100e6, 101e6], 0.01, least=12, most=99)
        19
    """
    t = t_quantile_975(len(first) - 1)
    if scale_of(metric) == "log" and min(first) > 0:
        log_sd = statistics.stdev(map(math.log, first))
        enough = (
            n for n in range(least, most) if t * log_error(log_sd, n) <= math.log1p(goal_ratio)
        )
    else:
        sd, goal = statistics.stdev(first), goal_ratio * abs(statistics.fmean(first))
        enough = (n for n in range(least, most) if t * sd / math.sqrt(n) <= goal)
    return next(enough, most)


class Trials:
    """What the trials of one condition have shown so far, and whether it needs more.

    It has one place in each block, where one trial counts, or none: then the place is missing.
    How many it gets is decided once, by its first `DECIDING_TRIALS`, and never looked at again:
    stopping at the first narrow interval would select those that are narrow by chance
    (docs/statistics.md).

    Args:
        policy: How many trials the study allows, and its goal.
        metric: Key of the results that the goal is about.
    """

    def __init__(self, policy: TrialPolicy, metric: str) -> None:
        self._policy = policy
        self._metric = metric
        #: Trials with the metric that the condition gets; the most allowed until it is decided.
        self.planned = policy.max
        self._missing_in_a_row = 0
        self._cannot_work = False
        self.done = 0
        #: Places at which every trial failed. They are no trials, and are not made up for.
        self.missing = 0
        self._measured = 0
        self._first: list[float] = []

    def record_done(self, value: float | None) -> None:
        """A trial counts; `value` is the experiment's first metric, `None` if not measured."""
        self._missing_in_a_row = 0
        self.done += 1
        if value is None or not math.isfinite(value):
            return
        self._measured += 1
        if len(self._first) < DECIDING_TRIALS:
            self._first.append(value)
            if len(self._first) == DECIDING_TRIALS:
                self._decide()

    def _decide(self) -> None:
        goal_ratio = self._policy.relative_ci
        if goal_ratio is not None:
            least, most = max(self._policy.min, LEAST_WITH_GOAL), self._policy.max
            self.planned = trials_needed(
                self._metric, self._first, goal_ratio, least=least, most=most
            )

    def record_missing(self, *, is_lasting: bool = False) -> None:
        """Every trial of a place failed; lasting is a cause that no retry removes."""
        self._missing_in_a_row += 1
        self.missing += 1
        # What has worked before may work again, also if the error names a lasting cause.
        self._cannot_work |= is_lasting and not self.done

    @property
    def is_in_doubt(self) -> bool:
        """Whether the last place is missing: then a single trial tells whether it works again."""
        return self._missing_in_a_row > 0

    @property
    def given_up(self) -> bool:
        """Whether it gets no more trials because its last ones failed, or ended without any."""
        if self._cannot_work or self._missing_in_a_row >= MISSING_BEFORE_GIVING_UP:
            return True
        return not self.done and self.missing >= self._policy.max

    @property
    def active(self) -> bool:
        return self.most_left > 0

    @property
    def most_left(self) -> int:
        places = self._policy.max - self.done - self.missing
        return 0 if self.given_up else max(0, min(places, self.planned - self._measured))
