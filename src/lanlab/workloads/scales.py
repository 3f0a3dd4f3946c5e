"""The scale on which trials of a metric are compared, and the standard error of their mean on it.

Plain mathematics, without numpy, because the plan uses it between trials.
"""

from __future__ import annotations

import math
import re
from typing import Literal

#: `log`: means are geometric, differences are ratios.
Scale = Literal["linear", "log"]

_RATE_ENDINGS = ("_bps", "_per_s")
_TIME_ENDINGS = ("_ns", "_s")
#: Times that are above zero in every successful trial. CPU times may be below the counter's tick,
#: differences of clocks below zero.
_TIME_WORDS = re.compile(r"(^|_)(rtt|elapsed|response|transfer|duration|file_time)_")


def scale_of(metric: str) -> Scale:
    """
    The scale on which a metric's trials are compared and the interval of their mean is computed.

    It follows from the kind of metric and never from the values: a scale chosen after seeing the
    data biases the result. Rates and times are positive, skewed to the right, and multiplied by
    their causes (a slower machine, a longer header): their differences are ratios. Shares, counts
    and times that can be zero stay linear.

    Args:
        metric: Key of a trial's results, which ends in its unit.

    Examples:
        >>> scale_of("goodput_bps"), scale_of("rtt_p99_ns"), scale_of("received_ratio")
        ('log', 'log', 'linear')
    """
    if metric.endswith(_RATE_ENDINGS):
        return "log"
    return "log" if metric.endswith(_TIME_ENDINGS) and _TIME_WORDS.search(metric) else "linear"


def log_error(log_sd: float, n: int) -> float:
    """
    Standard error of the logarithm of an arithmetic mean of lognormal trials.

    Args:
        log_sd: Standard deviation of the trials' natural logarithms.
        n: Trials, from 2.
    """
    return math.sqrt(log_sd**2 / n + log_sd**4 / (2 * (n - 1)))
