"""Receiving rate, and the share that arrives, against the sending rate."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.summary import Summary
from lanlab.analysis.wires import limit_name
from lanlab.figures.chart import Chart, Limit, Series
from lanlab.figures.gather import FigureData, axis, published_levels
from lanlab.figures.wording import quantity

_CURVE_POINTS = 40
RATES = ("rate_bps", "rate_messages_per_s")


def received_against_sent(data: FigureData) -> Chart:
    x, y = quantity(data.study, "rate_bps"), quantity(data.study, "goodput_bps")
    found = data.own_summaries("goodput_bps")
    series = _sweep(data, found, "goodput_bps")
    rates = [point.x for one in series for point in one.points]
    limits = []
    if rates:
        top = max(rates)
        everything = ((0.0, 0.0), (top, y.shown(top * x.si_per_unit)))
        limits.append(Limit("received = sent", everything, kind="guide"))
        for level_bps in sorted({s.limit for s in found if s.limit is not None}):
            level = y.shown(level_bps)
            limits.append(
                Limit(f"{limit_name(data.run)}, {y.text(level_bps)}", ((0.0, level), (top, level)))
            )
    return data.chart(
        axis(data.study, "rate_bps"),
        axis(data.study, "goodput_bps"),
        series,
        limits=tuple(limits),
        published=published_levels(found, data.published, y),
    )


def received_ratio_against_sent(data: FigureData) -> Chart:
    """The share of the requested messages that the receiver counted, against the requested rate."""
    x, y = quantity(data.study, "rate_bps"), quantity(data.study, "received_ratio")
    series = _sweep(data, data.own_summaries("received_ratio"), "received_ratio")
    rates = [point.x for one in series for point in one.points]
    limits = []
    speeds = data.own_summaries("goodput_bps")
    for carried_bps in sorted({s.limit for s in speeds if s.limit is not None}):
        corner, top = x.shown(carried_bps), max(rates, default=0.0)
        if rates and top > corner:
            # Beyond the link's capacity, the share that arrives is capacity divided by load.
            beyond = [corner + (top - corner) * i / _CURVE_POINTS for i in range(_CURVE_POINTS + 1)]
            curve = [(0.0, y.shown(1.0)), *((rate, y.shown(corner / rate)) for rate in beyond)]
        else:
            curve = [(0.0, y.shown(1.0)), (top, y.shown(1.0))] if rates else []
        if curve:
            name = (
                f"{limit_name(data.run)}, {quantity(data.study, 'goodput_bps').text(carried_bps)}"
            )
            limits.append(Limit(name, tuple(curve)))
    return data.chart(
        axis(data.study, "rate_bps"),
        axis(data.study, "received_ratio"),
        series,
        "Share of the messages asked for that the receiver counted.",
        limits=tuple(limits),
    )


def _sweep(data: FigureData, found: Sequence[Summary], metric: str) -> tuple[Series, ...]:
    x = quantity(data.study, "rate_bps")

    def rate(summary: Summary) -> float | None:
        rate_bps = asked_rate_bps(summary)
        return None if rate_bps is None else x.shown(rate_bps)

    return data.lines(data.in_series(found, RATES), rate, quantity(data.study, metric))


def asked_rate_bps(summary: Summary) -> float | None:
    """The requested rate, bit/s of payload; `None` if as fast as possible."""
    parameters = summary.parameters
    if "rate_bps" in parameters:
        return float(parameters["rate_bps"])
    if "rate_messages_per_s" in parameters:
        message_bits = 8 * float(parameters["message_size_bytes"])
        return message_bits * float(parameters["rate_messages_per_s"])
    return None
