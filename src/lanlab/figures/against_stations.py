"""Response time and throughput against the number of stations, and against each other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lanlab.figures.chart import Chart, Point, Series
from lanlab.figures.gather import FigureData
from lanlab.figures.number_text import plain
from lanlab.figures.station_curves import (
    asymptotic_response_s,
    chart_along,
    named_curves,
    series_along,
)
from lanlab.figures.stations_within import response_figure, with_answer
from lanlab.figures.wording import quantity

if TYPE_CHECKING:
    from lanlab.analysis.stations import ServerModel, StationCurve

_RESPONSE = "response_mean_ns"
_OPERATIONS = "operations_per_s"
_GOODPUT = "goodput_bps"


def response_against_stations(data: FigureData) -> Chart:
    """
    The figure's `metric` (by default the mean response time) against the number of stations, a line
    for each level of the other factors. Up to four lines of means have their bounds.
    """
    chart = _along(data, data.figure.metric or _RESPONSE, "means")
    return with_answer(data, chart)


def throughput_against_stations(data: FigureData) -> Chart:
    """
    The figure's `metric` (by default goodput; or operations per second) against the number of
    stations, a line for each level of the other factors. Up to four lines have their bounds.
    """
    chart = _along(data, data.figure.metric or _GOODPUT, "response times")
    asked = response_figure(data.study, data.figure)
    if asked is None:
        return chart
    return with_answer(data.with_figure(asked), chart, draws_limit=False)


def delay_throughput(data: FigureData) -> Chart:
    """
    The mean response time against goodput along the number of stations, a line for each level of
    the other factors. The line rises when the server saturates, and turns back if more stations
    reduce goodput.
    """
    delays = {
        one.name: {point.x: point for point in one.points} for one in series_along(data, _RESPONSE)
    }
    series = []
    for one in series_along(data, _GOODPUT):
        own = delays.get(one.name, {})
        points = [_beside(rate, own[rate.x]) for rate in one.points if rate.x in own]
        series.append(Series(one.name, tuple(points)))
    said = "Each point is a number of stations, written next to it; lines join them in its order."
    drawn = "Means of the trials; intervals of 95 % of response times."
    return data.chart(_GOODPUT, _RESPONSE, series, said, drawn=drawn)


def _along(data: FigureData, metric: str, fitted_to: str) -> Chart:
    shown = quantity(data.study, metric)

    def value(curve: StationCurve, model: ServerModel, stations: int, asymptote: bool) -> float:
        fitted_s = asymptotic_response_s if asymptote else _fitted_response_s
        response_s = fitted_s(model, stations)
        if metric == _RESPONSE:
            return shown.shown(1e9 * response_s)
        rate = stations / (response_s + model.think_s)
        if metric == _OPERATIONS:
            return shown.shown(rate)
        assert curve.message_size_bytes is not None
        return shown.shown(8 * curve.message_size_bytes * rate)

    curves = [
        each
        for each in (named_curves(data) if metric in (_RESPONSE, _OPERATIONS, _GOODPUT) else ())
        if metric != _GOODPUT or each.curve.message_size_bytes is not None
    ]
    said = f"Thin lines: a queue fitted to the {fitted_to}, and its asymptotes."
    return chart_along(data, metric, curves, value, said)


def _fitted_response_s(model: ServerModel, stations: int) -> float:
    return float(model.response_s([stations])[0])


def _beside(rate: Point, delay: Point) -> Point:
    return replace(delay, x=rate.y, label=plain(delay.x))
