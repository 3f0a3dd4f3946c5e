"""The share that arrives against sending speed."""

from __future__ import annotations

from lanlab.figures.chart import Chart, Limit
from lanlab.figures.gather import FigureData, axis, caption
from lanlab.figures.received_against_sent import sweep_series
from lanlab.figures.wording import quantity

_CURVE_POINTS = 40


def received_ratio_against_sent(data: FigureData) -> Chart:
    """The share of the messages asked for that the receiver counted, against the rate asked for."""
    x, y = quantity(data.study, "rate_bps"), quantity(data.study, "received_ratio")
    series = sweep_series(
        data.own_summaries("received_ratio"),
        data.study,
        "received_ratio",
    )
    rates = [point.x for one in series for point in one.points]
    limits = []
    speeds = data.own_summaries("goodput_bps")
    for carried_bps in sorted({s.limit for s in speeds if s.limit is not None}):
        corner, top = x.shown(carried_bps), max(rates, default=0.0)
        if rates and top > corner:
            # All arrives up to what the link can carry, then that much of what is sent.
            beyond = [corner + (top - corner) * i / _CURVE_POINTS for i in range(_CURVE_POINTS + 1)]
            curve = [(0.0, y.shown(1.0)), *((rate, y.shown(corner / rate)) for rate in beyond)]
        else:
            curve = [(0.0, y.shown(1.0)), (top, y.shown(1.0))] if rates else []
        if curve:
            name = f"link limit, {quantity(data.study, 'goodput_bps').text(carried_bps)}"
            limits.append(Limit(name, tuple(curve)))
    return Chart(
        title=data.figure.title,
        x=axis(data.study, "rate_bps"),
        y=axis(data.study, "received_ratio"),
        series=series,
        limits=tuple(limits),
        caption=caption(data.run, "Share of the messages asked for that the receiver counted."),
    )
