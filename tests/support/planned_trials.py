"""Trials that a claim needs if its spread is known, by the estimates that plan further trials."""

import math

from lanlab.analysis.statistics.equivalence import Margin
from lanlab.analysis.statistics.power import CAP, Spread
from lanlab.analysis.statistics.samples import Scale
from lanlab.analysis.statistics.two_groups import Design


def sd_of_cv(cv_ratio: float) -> float:
    """Standard deviation of the logarithm of lognormal trials."""
    return math.sqrt(math.log1p(cv_ratio**2))


def trials_to_detect(
    difference: float,
    sd: float,
    *,
    sd_b: float | None = None,
    scale: Scale = "linear",
    design: Design = "unpaired",
    level: float = 0.05,
    power: float = 0.8,
    cap: int = CAP,
) -> int | None:
    away = abs(math.log(difference)) if scale == "log" else abs(difference)
    return Spread(sd, sd_b or sd, design).trials([away], level / 2, power=power, cap=cap)


def trials_for_equivalence(
    margin: Margin,
    sd: float,
    *,
    sd_b: float | None = None,
    true: float | None = None,
    design: Design = "unpaired",
) -> int | None:
    there = 0.0 if true is None else math.log(true) if margin.scale == "log" else true
    low, high = margin.scaled
    spread = Spread(sd, sd_b or sd, design)
    return spread.trials([there - low, high - there], 0.05, power=0.8, cap=CAP)
