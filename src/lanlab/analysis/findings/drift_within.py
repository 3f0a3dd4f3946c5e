"""Whether trials drift over time, within each condition."""

from __future__ import annotations

import math

from lanlab.analysis.findings.claim import Gap, Node, compared
from lanlab.analysis.findings.compare import place_words
from lanlab.analysis.findings.contrast import Estimate
from lanlab.analysis.findings.forms_simple import all_or_gap
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.findings.scope import Scope
from lanlab.analysis.findings.sides import places
from lanlab.analysis.statistics.samples import Scale, scale_of
from lanlab.studies import findings as forms


def drift_within(statement: forms.NoTrend, scope: Scope) -> Node:
    """The change of each condition along a straight line from the first trial to the last."""
    parts: list[Node] = []
    share = statement.margin_ratio
    for place in places(scope.without("trial")):
        side = place.found
        if isinstance(side, Gap):
            parts.append(side)
            continue
        sample = side.cell.sample
        if not isinstance(sample, Trials) or len(sample.positions) < 3:
            said = place_words(place)
            parts.append(Gap(f"fewer than three trials in a known order at {said}", True))
            continue
        log = scale_of(scope.metric) == "log" and min(sample.values) > 0
        scale: Scale = "log" if log else "linear"
        margin = share if log else share * abs(sample.mean)
        same = 1.0 if log else 0.0
        parts.append(
            compared(
                what=f"change from first to last trial at {place_words(place)}",
                metric=scope.metric,
                measure="change",
                scale=scale,
                estimates=[change(one, scale) for one in sample.completed(few=True)],
                least=same - margin,
                most=same + margin,
                conditions=(side.cell.name,),
                lost_trials=side.lost_trials,
            )
        )
    return all_or_gap(parts, scope)


def change(sample: Trials, scale: Scale) -> Estimate:
    """
    Ordinary least squares over the positions of at least three trials.

    Returns:
        The change from the first position to the last, on the scale.
    """
    x = sample.positions
    y = [math.log(value) for value in sample.values] if scale == "log" else list(sample.values)
    count = len(y)
    mean_x, mean_y = math.fsum(x) / count, math.fsum(y) / count
    spread = math.fsum((one - mean_x) ** 2 for one in x)
    if spread == 0:
        return Estimate(0.0, "too few", "none: all trials stand at one position", n=(count,))
    pairs = list(zip(x, y, strict=True))
    slope = math.fsum((one - mean_x) * (value - mean_y) for one, value in pairs) / spread
    rest = math.fsum((value - mean_y - slope * (one - mean_x)) ** 2 for one, value in pairs)
    # A reading with a step size has at least this variance
    # (`lanlab.analysis.statistics.samples.moments`).
    step = sample.resolution / (sample.mean if scale == "log" else 1.0)
    variance = max(rest / (count - 2), step**2 / 12)
    reach = max(x) - min(x)
    if variance == 0:
        return Estimate(slope * reach, "all equal", "none: no trial differed", n=(count,))
    error = reach * math.sqrt(variance / spread)
    name = "Student's t of the slope"
    return Estimate(slope * reach, "tested", name, error, count - 2.0, n=(count,))
