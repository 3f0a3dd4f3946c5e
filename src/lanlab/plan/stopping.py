"""When a condition has had enough trials."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from lanlab.studies.model import TrialPolicy
from lanlab.workloads.scales import log_error, scale_of

#: Successive missing positions after which a condition or a search is given up.
MISSING_BEFORE_GIVING_UP = 3
#: The first trials of a condition, which determine its number of trials towards a goal.
DECIDING_TRIALS = 3
#: Fewest trials of a condition that may stop at a goal: those after the deciding ones are
#: independent of the decision, and must outweigh them in the interval.
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
    The number of trials of a condition, planned once from its first ones.

    Stein's number: enough for the 95 % interval of the mean to be within the goal if the trials
    continue to vary as the first ones did, with Student's t for their small number. The interval is
    the displayed one (`lanlab.analysis.statistics.condition_mean`): on the log scale for rates and
    times.

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
    import statistics

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
    """The results of one condition so far, and whether it needs more trials.

    It has one position in each block, where one trial counts, or none: then the position is
    missing. Its number of trials is decided once, by its first `DECIDING_TRIALS`: stopping at the
    first narrow interval would select those that are narrow by chance (docs/statistics.md).

    Args:
        policy: The study's limits on trials, and its goal.
        metric: Key of the results to which the goal applies.
    """

    def __init__(self, policy: TrialPolicy, metric: str) -> None:
        self._policy = policy
        self._metric = metric
        #: Planned trials with the metric; the maximum until it is decided.
        self.planned = policy.max
        self._missing_in_a_row = 0
        self._cannot_work = False
        self.done = 0
        #: Positions at which every trial failed. They do not count as trials, and are not replaced.
        self.missing = 0
        self._measured = 0
        self._first: list[float] = []

    def record_done(self, value: float | None) -> None:
        """Record a trial that counts; `value`: the experiment's first metric, `None` if missing."""
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
        """Record a position whose trials all failed; no retry removes a lasting cause."""
        self._missing_in_a_row += 1
        self.missing += 1
        # What worked before may work again, even if the error names a lasting cause.
        self._cannot_work |= is_lasting and not self.done

    @property
    def is_in_doubt(self) -> bool:
        """
        Whether the last position is missing: then a single trial shows whether it works again.
        """
        return self._missing_in_a_row > 0

    @property
    def given_up(self) -> bool:
        """Whether the condition gets no more trials: its last ones failed, or none worked."""
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
