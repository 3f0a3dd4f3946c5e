"""A limit for the response time, and the number of stations that stay within it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lanlab.figures.chart import Chart, Limit
from lanlab.figures.gather import FigureData
from lanlab.figures.station_curves import named_curves
from lanlab.figures.wording import quantity
from lanlab.studies import Study
from lanlab.studies.model import Figure
from lanlab.units import format_time

if TYPE_CHECKING:
    from lanlab.analysis.stations import StationsWithin


_MEAN = "response_mean_ns"
#: A limit above this multiple of the maximum would compress everything else, so it is not drawn.
_MOST_ABOVE = 4.0


def response_figure(study: Study, figure: Figure) -> Figure | None:
    """The figure of the same experiments that has a limit for the response time."""
    for one in study.figure:
        if one.within_s is not None and set(one.experiments) == set(figure.experiments):
            return one
    return None


def with_answer(data: FigureData, chart: Chart, *, draws_limit: bool = True) -> Chart:
    """
    A chart against stations, with a line at the figure's `within_s`, and a vertical one at the
    number of stations within it. Unchanged if the figure has no limit.

    Args:
        figure: Figure of a response time; its `metric` names which.
        draws_limit: Whether the chart shows that response time.
    """
    metric = data.figure.metric or _MEAN
    within_s = data.figure.within_s
    if within_s is None or chart.is_empty:
        return chart
    from lanlab.analysis.stations import curves_of, stations_within

    curves = curves_of(data.trials, data.figure.experiments, metric)
    names = [each.name for each in named_curves(data)]
    xs = [point.x for one in chart.series for point in one.points]
    top = max(point.y for one in chart.series for point in one.points)
    lines = []
    said = []
    limit = quantity(data.study, metric).shown(1e9 * within_s)
    if draws_limit and limit > _MOST_ABOVE * top:
        said.append(f"The limit of {format_time(within_s)} lies far above what is drawn")
    elif draws_limit:
        top = limit
        ends = ((min(xs), top), (max(xs), top))
        lines.append(Limit(f"limit of {format_time(within_s)}", ends))
    for place, curve in enumerate(curves):
        found = stations_within(curve, within_s, can_predict=metric == _MEAN)
        name = f"{names[place]}: " if len(curves) > 1 else ""
        said.append(f"{name}{within_text(found)}")
        if found.basis == "measured" and found.stations:
            upright = ((float(found.stations), 0.0), (float(found.stations), top))
            lines.append(Limit(f"{name}{_users(found.stations)}", upright, kind="guide"))
    caption = f"{'. '.join(said)}. {chart.caption}"
    return replace(chart, limits=(*chart.limits, *lines), caption=caption)


def within_text(found: StationsWithin) -> str:
    limit = format_time(found.limit_s)
    if found.basis == "fewest" or (found.basis == "measured" and not found.stations):
        return f"Even the smallest measured number of stations exceeds {limit}"
    if found.stations is None:
        return f"{limit} was not reached, and how many more can be served is not known"
    high = "more" if found.high is None else found.high
    spread = "" if found.low is None else f" (95 % interval: {found.low} to {high})"
    how = "" if found.basis == "measured" else "; beyond what was measured, by a model"
    return f"{_users(found.stations)} within {limit}{spread}{how}"


def _users(number: int) -> str:
    return "1 user" if number == 1 else f"{number} users"
