"""Response time against throughput, one point for each number of stations."""

from __future__ import annotations

from lanlab.figures.chart import Chart, Point, Series
from lanlab.figures.gather import FigureData, axis, caption, far_apart
from lanlab.figures.station_curves import series_along
from lanlab.figures.wording import plain

_SAID = "Each point is a number of stations, which stands beside it; lines join them in its order."


def delay_throughput(data: FigureData) -> Chart:
    """
    The mean response time against goodput, a line for each level of the other factors, along the
    number of stations: up where the server is saturated, back where more stations get less.
    """
    delays = {
        one.name: {point.x: point for point in one.points}
        for one in series_along(data, "response_mean_ns")
    }
    series = []
    for one in series_along(data, "goodput_bps"):
        own = delays.get(one.name, {})
        points = [_point(rate, own[rate.x]) for rate in one.points if rate.x in own]
        series.append(Series(one.name, tuple(points)))
    xs = [point.x for one in series for point in one.points]
    ys = [point.y for one in series for point in one.points]
    return Chart(
        title=data.figure.title,
        x=axis(data.study, "goodput_bps", logarithmic=far_apart(xs)),
        y=axis(data.study, "response_mean_ns", logarithmic=far_apart(ys)),
        series=tuple(series),
        caption=caption(
            data.run, _SAID, "Means of the trials; intervals of 95 % of response times."
        ),
    )


def _point(rate: Point, delay: Point) -> Point:
    return Point(
        x=rate.y,
        y=delay.y,
        low=delay.low,
        high=delay.high,
        trials=delay.trials,
        condition=delay.condition,
        label=plain(delay.x),
    )
