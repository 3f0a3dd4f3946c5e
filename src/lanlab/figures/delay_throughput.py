"""Response time against throughput, one point for each number of stations."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.figures.chart import Chart, Point, Series
from lanlab.figures.gather import axis, caption, far_apart
from lanlab.figures.station_curves import series_along
from lanlab.figures.wording import plain
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Published, Study
from lanlab.studies.model import Figure

_SAID = "Each point is a number of stations, which stands beside it; lines join them in its order."


def delay_throughput(
    run: RunRecord,
    trials: Sequence[TrialRecord],
    study: Study,
    published: Published,
    figure: Figure,
) -> Chart:
    """
    The mean response time against goodput, a line for each level of the other factors, along the
    number of stations: up where the server is saturated, back where more stations get less.
    """
    delays = {
        one.name: {point.x: point for point in one.points}
        for one in series_along(run, trials, study, figure, "response_mean_ns")
    }
    series = []
    for one in series_along(run, trials, study, figure, "goodput_bps"):
        own = delays.get(one.name, {})
        points = [_point(rate, own[rate.x]) for rate in one.points if rate.x in own]
        series.append(Series(one.name, tuple(points)))
    xs = [point.x for one in series for point in one.points]
    ys = [point.y for one in series for point in one.points]
    return Chart(
        title=figure.title,
        x=axis(study, "goodput_bps", logarithmic=far_apart(xs)),
        y=axis(study, "response_mean_ns", logarithmic=far_apart(ys)),
        series=tuple(series),
        caption=caption(run, _SAID, "Means of the trials; intervals of 95 % of response times."),
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
