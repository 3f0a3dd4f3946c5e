"""When a condition has had enough trials."""

from __future__ import annotations

import functools
import math

from lanlab.studies.model import TrialPolicy

#: Places that are missing one after another before a condition or a search is given up.
MISSING_BEFORE_GIVING_UP = 3


@functools.cache
def t_quantile_975(degrees_of_freedom: int) -> float:
    """The 97.5 % quantile of Student's t: half the width of a 95 % interval, in standard errors.

    Examples:
        >>> round(t_quantile_975(4), 3)
        2.776
    """
    from scipy.special import stdtrit  # not at start-up: it takes a tenth of a second

    return float(stdtrit(degrees_of_freedom, 0.975))


class Trials:
    """What the trials of one condition have shown so far, and whether it needs more.

    It has one place in each block, where one trial counts, or none: then the place is missing.
    """

    def __init__(self, policy: TrialPolicy) -> None:
        self._policy = policy
        self._missing_in_a_row = 0
        self._cannot_work = False
        #: Places at which a trial counts.
        self.done = 0
        #: Places at which every trial failed. They are not made up for.
        self.missing = 0
        # Welford's running mean and sum of squared deviations, of trials that had the metric.
        self._measured = 0
        self._mean = 0.0
        self._squares = 0.0

    def record_done(self, value: float | None) -> None:
        """A trial counts; `value` is the experiment's first metric, `None` if not measured."""
        self._missing_in_a_row = 0
        self.done += 1
        if value is None or not math.isfinite(value):
            return
        self._measured += 1
        difference = value - self._mean
        self._mean += difference / self._measured
        self._squares += difference * (value - self._mean)

    def record_missing(self, *, is_lasting: bool = False) -> None:
        """Every trial of a place failed; lasting is a cause that no retry removes."""
        self._missing_in_a_row += 1
        self.missing += 1
        # What has worked before may work again, whatever the cause is said to be.
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
    def relative_half_width(self) -> float | None:
        """Half the width of the 95 % interval of the mean over trials, as a share of the mean.

        `None` before there are two values; infinite if they differ around a mean of zero.
        """
        if self._measured < 2:
            return None
        deviation = math.sqrt(self._squares / (self._measured - 1))
        half_width = t_quantile_975(self._measured - 1) * deviation / math.sqrt(self._measured)
        if half_width == 0:
            return 0.0
        return half_width / abs(self._mean) if self._mean else math.inf

    @property
    def active(self) -> bool:
        """Whether the condition gets another trial."""
        if self.given_up or self.done + self.missing >= self._policy.max:
            return False
        if self._policy.relative_ci is None or self.done < self._policy.min:
            return True
        width = self.relative_half_width
        return width is None or width > self._policy.relative_ci

    @property
    def most_left(self) -> int:
        """Trials that the condition can still need, if none fails."""
        return self._policy.max - self.done - self.missing if self.active else 0
