"""Response time against the number of stations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanlab.figures.chart import Chart
from lanlab.figures.gather import FigureData
from lanlab.figures.station_curves import asymptotic_response_s, chart_along, named_curves
from lanlab.figures.stations_within import with_answer
from lanlab.figures.wording import quantity

if TYPE_CHECKING:
    from lanlab.analysis.stations import ServerModel, StationCurve

_MEAN = "response_mean_ns"
_SAID = "Thin lines: a queue fitted to the means, and its asymptotes."


def response_against_stations(data: FigureData) -> Chart:
    """
    The figure's `metric` (by default the mean response time) against the number of stations, a line
    for each level of the other factors; of the mean, up to four of them, with their bounds.
    """
    metric = data.figure.metric or _MEAN
    shown = quantity(data.study, metric)

    def value(curve: StationCurve, model: ServerModel, stations: int, asymptote: bool) -> float:
        if asymptote:
            return shown.shown(1e9 * asymptotic_response_s(model, stations))
        return shown.shown(1e9 * float(model.response_s([stations])[0]))

    curves = named_curves(data) if metric == _MEAN else []
    chart = chart_along(data, metric, curves, value, _SAID)
    return with_answer(data, chart)
