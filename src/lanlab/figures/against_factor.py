"""A metric against a numeric factor."""

from __future__ import annotations

from lanlab.analysis.summary import Summary
from lanlab.figures.chart import Chart
from lanlab.figures.gather import FigureData, axis, published_of
from lanlab.figures.wording import quantity
from lanlab.studies.scaling import is_numeric


def against_factor(data: FigureData) -> Chart:
    """
    The figure's `metric` against its `factor`, a line for each level of the other factors.

    The axis of the factor is logarithmic unless a level is 0. The default `metric` is the first of
    the first experiment, and the default `factor` the first whose levels are numbers.
    """
    drawn = next(e for e in data.study.experiment if e.id == data.figure.experiments[0])
    metric = data.figure.metric or drawn.metrics[0]
    numeric = [key for key in drawn.factors if is_numeric(drawn.workload, key)]
    factor = data.figure.factor or next(iter(numeric), "")
    x, y = quantity(data.study, factor), quantity(data.study, metric)

    def place(summary: Summary) -> float | None:
        level = summary.factors.get(factor)
        return x.shown(level) if isinstance(level, int | float) else None

    found = data.drawn(metric)
    groups = data.in_series(found, (factor,))
    series = data.lines(groups, place, y)
    xs = [point.x for one in series for point in one.points]
    return data.chart(
        axis(data.study, factor, logarithmic=min(xs, default=0) > 0),
        metric,
        series,
        published=published_of(groups, place, y, data.published),
    )
