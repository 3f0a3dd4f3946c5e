"""Cost per byte against cost per file, which distinguishes file services."""

from __future__ import annotations

from lanlab.analysis.copy_cost import CopyCost, copy_costs
from lanlab.figures.chart import Axis, Chart, Point, Series
from lanlab.figures.gather import FigureData, far_apart
from lanlab.figures.wording import condition_text
from lanlab.studies import Study

_DRAWN = "By least squares over the trials of all datasets, with 95 % intervals in both directions."


def cost_per_byte_and_file(data: FigureData) -> Chart:
    """A point for each condition of the figure's experiments, over all datasets: lower is cheaper
    per byte, left is cheaper per file. Conditions whose costs cannot be separated are not drawn.
    """
    found = [
        cost for name in data.figure.experiments for cost in copy_costs(data.run, data.trials, name)
    ]
    drawn = [
        Series(data.named(cost.factors), (point,), "points")
        for cost in found
        if (point := _point(cost, data.study)) is not None
    ]
    left_out = len(found) - len(drawn)
    text = f"{left_out} of {len(found)} conditions are not drawn: costs not separated." * (
        left_out > 0
    )
    return data.chart(
        Axis("cost of a file", "ms", logarithmic=far_apart([one.points[0].x for one in drawn])),
        Axis("cost of a GB", "s", logarithmic=far_apart([one.points[0].y for one in drawn])),
        drawn,
        text,
        drawn=_DRAWN,
        empty="no costs could be separated",
    )


def _point(cost: CopyCost, study: Study) -> Point | None:
    byte, file = cost.per_byte, cost.per_file
    if byte is None or file is None:
        return None
    return Point(
        x=1e3 * file.value,
        y=1e9 * byte.value,
        low=None if byte.low is None else 1e9 * byte.low,
        high=None if byte.high is None else 1e9 * byte.high,
        condition=condition_text(study, cost.factors),
        x_low=None if file.low is None else 1e3 * file.low,
        x_high=None if file.high is None else 1e3 * file.high,
    )
