"""
The statistics: plain functions over the values of trials, frozen results.

Nothing that runs at start-up imports this package: it loads numpy and a part of scipy.
docs/statistics.md says which question is answered by which method, and how it fails.
"""

from lanlab.analysis.statistics.equivalence import Equivalence, Margin, tost
from lanlab.analysis.statistics.intervals import (
    MeanInterval,
    bootstrap_interval,
    mean_interval,
    printed_interval,
)
from lanlab.analysis.statistics.many_groups import (
    Pair,
    Ranked,
    WelchAnova,
    games_howell,
    rank,
    welch_anova,
)
from lanlab.analysis.statistics.multiple import benjamini_hochberg, holm, holm_by_family
from lanlab.analysis.statistics.ranks import RankComparison, mann_whitney
from lanlab.analysis.statistics.samples import PrintedMean, Scale, scale_of
from lanlab.analysis.statistics.two_groups import (
    Comparison,
    paired_by_block,
    welch,
    welch_printed,
)
from lanlab.workloads.fairness import jain_index

__all__ = [
    "Comparison",
    "Equivalence",
    "Margin",
    "MeanInterval",
    "Pair",
    "PrintedMean",
    "RankComparison",
    "Ranked",
    "Scale",
    "WelchAnova",
    "benjamini_hochberg",
    "bootstrap_interval",
    "games_howell",
    "holm",
    "holm_by_family",
    "jain_index",
    "mann_whitney",
    "mean_interval",
    "paired_by_block",
    "printed_interval",
    "rank",
    "scale_of",
    "tost",
    "welch",
    "welch_anova",
    "welch_printed",
]
