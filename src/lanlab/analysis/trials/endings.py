"""Why the trials of each condition ended, and the precision that they reached."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Literal

from lanlab.analysis.trials.summary import Summary
from lanlab.frozen import dataclass
from lanlab.plan.stopping import Trials
from lanlab.store import Level, TrialRecord
from lanlab.studies.model import TrialPolicy

#: `fixed`: the study sets a number and no goal. `reached`: the goal was reached. `short`: the goal
#: was missed with the planned trials. `most`: it was missed even with the maximum number.
#: `given_up`: trials kept failing. `unfinished`: the run ended before.
How = Literal["fixed", "reached", "short", "most", "given_up", "unfinished"]


@dataclass(frozen=True)
class Ending:
    experiment: str
    factors: Mapping[str, Level]
    metric: str
    how: How
    trials: int
    missing: int
    #: Requested half width of the interval, as a share of the mean; `None` without a goal.
    goal_ratio: float | None
    #: The half width reached, on its longer side; `None` with too few trials or a mean of zero.
    half_width_ratio: float | None

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def ending(
    summary: Summary, trials: Sequence[TrialRecord], policy: TrialPolicy, is_over: bool
) -> Ending:
    """
    How a condition ended.

    Args:
        trials: All trials of the condition.
        is_over: Whether the run is done.
    """
    state = _replayed(trials, policy, summary.metric)
    goal_ratio, ratio = policy.relative_ci, _half_width_ratio(summary)
    how: How
    if state.given_up:
        how = "given_up"
    elif state.active and not is_over:
        how = "unfinished"
    elif goal_ratio is None:
        how = "fixed"
    elif ratio is not None and ratio <= goal_ratio:
        how = "reached"
    else:
        how = "most" if state.done + state.missing >= policy.max else "short"
    return Ending(
        summary.experiment,
        summary.factors,
        summary.metric,
        how,
        summary.n,
        state.missing,
        goal_ratio,
        ratio,
    )


def _replayed(trials: Sequence[TrialRecord], policy: TrialPolicy, metric: str) -> Trials:
    state = Trials(policy, metric)
    by_block: dict[int, list[TrialRecord]] = {}
    for trial in trials:
        by_block.setdefault(trial.block, []).append(trial)
    for _, at_place in sorted(by_block.items()):
        # A repeat counts in place of the trials before it.
        counts = next((one for one in reversed(at_place) if one.status == "done"), None)
        if counts is not None:
            state.record_done(counts.metrics.get(metric))
        else:
            error = at_place[-1].error or {}
            state.record_missing(is_lasting=error.get("retry_helps") is False)
    return state


def _half_width_ratio(summary: Summary) -> float | None:
    if summary.mean is None or summary.ci_low is None or summary.ci_high is None:
        return None
    half = max(summary.ci_high - summary.mean, summary.mean - summary.ci_low)
    if half == 0:
        return 0.0
    ratio = half / abs(summary.mean) if summary.mean else math.inf
    return ratio if math.isfinite(ratio) else None
