"""
The statistics: plain functions over the values of trials, frozen results.

Nothing that runs at start-up imports this package: it loads numpy and a part of scipy.
docs/statistics.md says which question is answered by which method, and how it fails.
"""

from lanlab.analysis.statistics.condition_mean import (
    ConditionMean,
    condition_mean,
    printed_condition_mean,
)
from lanlab.analysis.statistics.drift import Drift, drift
from lanlab.analysis.statistics.equivalence import Equivalence, Margin, tost
from lanlab.analysis.statistics.factorial import Effect, Factorial, factorial
from lanlab.analysis.statistics.intervals import (
    MeanInterval,
    bootstrap_interval,
    mean_interval,
    printed_interval,
)
from lanlab.analysis.statistics.least_squares import Coefficient, Fit, fit_groups, identified
from lanlab.analysis.statistics.many_groups import (
    Pair,
    Ranked,
    WelchAnova,
    games_howell,
    rank,
    welch_anova,
)
from lanlab.analysis.statistics.multiple import benjamini_hochberg, holm, holm_by_family
from lanlab.analysis.statistics.outliers import Outliers, flag_outliers
from lanlab.analysis.statistics.power import (
    Further,
    Needed,
    sd_of_cv,
    trials_for_equivalence,
    trials_to_decide,
    trials_to_detect,
)
from lanlab.analysis.statistics.ranks import RankComparison, mann_whitney
from lanlab.analysis.statistics.samples import PrintedMean, Scale, scale_of
from lanlab.analysis.statistics.saturation import (
    HighestLoad,
    TwoLines,
    highest_load,
    knee,
    two_lines,
)
from lanlab.analysis.statistics.steady_state import SteadyState, steady_state
from lanlab.analysis.statistics.trend import (
    Monotonicity,
    PeakThenDecline,
    Trend,
    monotonicity,
    ordered_trend,
    peak_then_decline,
)
from lanlab.analysis.statistics.two_groups import (
    Comparison,
    KnownSpread,
    by_spread,
    paired_by_block,
    welch,
    welch_printed,
)
from lanlab.analysis.statistics.two_modes import TwoModes, two_modes
from lanlab.workloads.fairness import jain_index

__all__ = [
    "Coefficient",
    "Comparison",
    "ConditionMean",
    "Drift",
    "Effect",
    "Equivalence",
    "Factorial",
    "Fit",
    "Further",
    "HighestLoad",
    "KnownSpread",
    "Margin",
    "MeanInterval",
    "Monotonicity",
    "Needed",
    "Outliers",
    "Pair",
    "PeakThenDecline",
    "PrintedMean",
    "RankComparison",
    "Ranked",
    "Scale",
    "SteadyState",
    "Trend",
    "TwoLines",
    "TwoModes",
    "WelchAnova",
    "benjamini_hochberg",
    "bootstrap_interval",
    "by_spread",
    "condition_mean",
    "drift",
    "factorial",
    "fit_groups",
    "flag_outliers",
    "games_howell",
    "highest_load",
    "holm",
    "holm_by_family",
    "identified",
    "jain_index",
    "knee",
    "mann_whitney",
    "mean_interval",
    "monotonicity",
    "ordered_trend",
    "paired_by_block",
    "peak_then_decline",
    "printed_condition_mean",
    "printed_interval",
    "rank",
    "scale_of",
    "sd_of_cv",
    "steady_state",
    "tost",
    "trials_for_equivalence",
    "trials_to_decide",
    "trials_to_detect",
    "two_lines",
    "two_modes",
    "welch",
    "welch_anova",
    "welch_printed",
]
