"""A metric against a numeric factor: what one more factor of ten costs."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.summary import Summary, summarise
from lanlab.figures.chart import Chart, Series
from lanlab.figures.gather import axis, caption, far_apart, in_series, points_of
from lanlab.figures.wording import quantity
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Published, Study
from lanlab.studies.model import Figure
from lanlab.studies.scaling import is_numeric


def against_factor(
    run: RunRecord,
    trials: Sequence[TrialRecord],
    study: Study,
    published: Published,
    figure: Figure,
) -> Chart:
    """
    The figure's `metric` against its `factor`, a line for each level of the other factors.

    The axis of the factor is logarithmic unless a level is 0. Without a `metric` it is the first
    of the first experiment, without a `factor` the first whose levels are numbers.
    """
    drawn = next(e for e in study.experiment if e.id == figure.experiments[0])
    metric = figure.metric or drawn.metrics[0]
    numeric = [key for key in drawn.factors if is_numeric(drawn.workload, key)]
    factor = figure.factor or next(iter(numeric), "")
    x, y = quantity(study, factor), quantity(study, metric)

    def place(summary: Summary) -> float | None:
        level = summary.factors.get(factor)
        return x.shown(level) if isinstance(level, int | float) else None

    found = [s for name in figure.experiments for s in summarise(run, trials, name, metric)]
    groups = in_series(found, (factor,), study)
    series = tuple(Series(name, points_of(g, place, y, study)) for name, g in groups.items())
    xs = [point.x for one in series for point in one.points]
    ys = [point.y for one in series for point in one.points]
    return Chart(
        title=figure.title,
        x=axis(study, factor, logarithmic=min(xs, default=0) > 0),
        y=axis(study, metric, logarithmic=far_apart(ys)),
        series=series,
        caption=caption(run),
    )
