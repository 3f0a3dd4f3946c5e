"""Throughput of a server against the number of stations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lanlab.figures.chart import Chart
from lanlab.figures.gather import FigureData
from lanlab.figures.station_curves import asymptotic_response_s, chart_along, named_curves
from lanlab.figures.stations_within import response_figure, with_answer
from lanlab.figures.wording import quantity

if TYPE_CHECKING:
    from lanlab.analysis.stations import ServerModel, StationCurve

_OPERATIONS = "operations_per_s"
_SAID = "Thin lines: a queue fitted to the response times, and its asymptotes."


def throughput_against_stations(data: FigureData) -> Chart:
    """
    The figure's `metric` (by default goodput; or operations per second) against the number of
    stations, a line for each level of the other factors; up to four of them with their bounds.
    """
    metric = data.figure.metric or "goodput_bps"
    shown = quantity(data.study, metric)

    def value(curve: StationCurve, model: ServerModel, stations: int, asymptote: bool) -> float:
        if asymptote:
            response_s = asymptotic_response_s(model, stations)
            rate = stations / (response_s + model.think_s)
        else:
            rate = float(model.throughput_per_s([stations])[0])
        if metric == _OPERATIONS:
            return shown.shown(rate)
        assert curve.message_size_bytes is not None
        return shown.shown(8 * curve.message_size_bytes * rate)

    curves = [
        each
        for each in named_curves(data)
        if metric == _OPERATIONS
        or (metric == "goodput_bps" and each.curve.message_size_bytes is not None)
    ]
    chart = chart_along(data, metric, curves, value, _SAID)
    asked = response_figure(data.study, data.figure)
    return (
        chart
        if asked is None
        else with_answer(replace(data, figure=asked), chart, draws_limit=False)
    )
