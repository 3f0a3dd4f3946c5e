"""The ratio of two conditions, compared within blocks so that drift between blocks cancels out."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lanlab.analysis.attempts import counting
from lanlab.analysis.summary import Summary
from lanlab.errors import NoSpread
from lanlab.frozen import dataclass
from lanlab.store import TrialRecord


@dataclass(frozen=True)
class Contrast:
    ratio: float
    #: 95 % interval of the ratio; `None` for a single block.
    interval: tuple[float, float] | None
    blocks: int

    @property
    def differs(self) -> bool:
        return self.interval is not None and not self.interval[0] <= 1 <= self.interval[1]


def contrast(
    numerator: Summary, denominator: Summary, trials: Sequence[TrialRecord]
) -> Contrast | None:
    """The ratio of two conditions of an experiment, from the blocks that have both.

    Student's t on the logarithms of the ratios, one per block.

    Returns:
        `None` if no block has both, or a value is not above zero.
    """
    above, below = (_by_block(summary, trials) for summary in (numerator, denominator))
    pairs = [(above[block], below[block]) for block in above if block in below]
    if not pairs or any(a <= 0 or b <= 0 for a, b in pairs):
        return None
    logs = [math.log(a / b) for a, b in pairs]
    ratio = math.exp(math.fsum(logs) / len(logs))
    if len(pairs) == 1:
        return Contrast(ratio, None, 1)
    from lanlab.analysis.statistics.two_groups import paired_by_block

    try:
        found = paired_by_block(above, below)
    except NoSpread:
        # Equal ratios in every block give an interval of zero width.
        return Contrast(ratio, (ratio, ratio), len(pairs))
    return Contrast(ratio, (found.low, found.high), len(pairs))


def _by_block(summary: Summary, trials: Sequence[TrialRecord]) -> dict[int, float]:
    return {
        trial.block: float(trial.metrics[summary.metric])
        for trial in counting(trials)
        if trial.experiment == summary.experiment
        and trial.purpose == "trial"
        and trial.factors == summary.factors
        and summary.metric in trial.metrics
    }
