"""When a condition has had enough trials."""

from __future__ import annotations

import functools
import math

from lanlab.studies.model import TrialPolicy

#: Trials that fail one after another before a condition is given up.
FAILURES_BEFORE_GIVING_UP = 3


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
    """What the trials of one condition have shown so far, and whether it needs more."""

    def __init__(self, policy: TrialPolicy) -> None:
        self._policy = policy
        self._failures_in_a_row = 0
        #: Finished trials; failed ones do not count.
        self.done = 0
        # Welford's running mean and sum of squared deviations, of trials that had the metric.
        self._measured = 0
        self._mean = 0.0
        self._squares = 0.0

    def record_done(self, value: float | None) -> None:
        """A trial finished; `value` is the experiment's first metric, `None` if not measured."""
        self._failures_in_a_row = 0
        self.done += 1
        if value is None or not math.isfinite(value):
            return
        self._measured += 1
        difference = value - self._mean
        self._mean += difference / self._measured
        self._squares += difference * (value - self._mean)

    def record_failed(self) -> None:
        """A trial failed."""
        self._failures_in_a_row += 1

    @property
    def given_up(self) -> bool:
        """Whether the last trials all failed, so that more would fail as well."""
        return self._failures_in_a_row >= FAILURES_BEFORE_GIVING_UP

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
        if self.given_up or self.done >= self._policy.max:
            return False
        if self._policy.relative_ci is None or self.done < self._policy.min:
            return True
        width = self.relative_half_width
        return width is None or width > self._policy.relative_ci

    @property
    def most_left(self) -> int:
        """Trials that the condition can still need, if none fails."""
        return self._policy.max - self.done if self.active else 0
