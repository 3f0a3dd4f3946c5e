"""
Statistics: pure functions over the values of trials, with immutable results.

Start-up code does not import this package, because it loads numpy and parts of scipy.
docs/statistics.md says which method answers which question, and when it fails.
"""

from lanlab.analysis.statistics.condition_mean import (
    ConditionMean,
    condition_mean,
    printed_condition_mean,
)
from lanlab.analysis.statistics.equivalence import Equivalence, Margin, tost
from lanlab.analysis.statistics.intervals import MeanInterval, mean_interval
from lanlab.analysis.statistics.least_squares import Coefficient, Fit, fit_groups, identified
from lanlab.analysis.statistics.multiple import holm
from lanlab.analysis.statistics.power import Further, trials_to_decide
from lanlab.analysis.statistics.samples import PrintedMean, Scale, scale_of
from lanlab.analysis.statistics.two_groups import (
    Comparison,
    KnownSpread,
    by_spread,
    paired_by_block,
    welch,
    welch_printed,
)
from lanlab.analysis.statistics.two_modes import TwoModes, two_modes

__all__ = [
    "Coefficient",
    "Comparison",
    "ConditionMean",
    "Equivalence",
    "Fit",
    "Further",
    "KnownSpread",
    "Margin",
    "MeanInterval",
    "PrintedMean",
    "Scale",
    "TwoModes",
    "by_spread",
    "condition_mean",
    "fit_groups",
    "holm",
    "identified",
    "mean_interval",
    "paired_by_block",
    "printed_condition_mean",
    "scale_of",
    "tost",
    "trials_to_decide",
    "two_modes",
    "welch",
    "welch_printed",
]
