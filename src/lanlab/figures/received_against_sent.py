"""Receiving rate, the share that arrives, and where the rest was lost, against the sending rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lanlab.analysis.links.wires import limit_name
from lanlab.analysis.saturation.search import Saturation, curve_of, saturations
from lanlab.analysis.traffic.loss_places import RECEIVED, SHARES, place_words
from lanlab.analysis.traffic.peaks import RATES
from lanlab.analysis.trials.summary import Summary
from lanlab.figures.chart import Axis, Chart, Limit, Series
from lanlab.figures.gather import FigureData, axis, place_along, points_of, published_levels
from lanlab.figures.number_text import plain
from lanlab.figures.wording import Quantity, obtained, quantity

_CURVE_POINTS = 40


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
            name, level = f"{limit_name(data.run)}, {y.text(level_bps)}", y.shown(level_bps)
            limits.append(Limit(name, ((0.0, level), (top, level))))
    simulation = data.study.simulation
    loads = {} if simulation is None else simulation.readings_at("rate_bps")
    places = {name: x.shown(float(load)) for name, load in loads.items()}
    return data.chart(
        axis(data.study, "rate_bps"),
        axis(data.study, "goodput_bps"),
        series,
        limits=tuple(limits),
        published=published_levels(found, data.published, y, data.study, places),
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
            carried = quantity(data.study, "goodput_bps").text(carried_bps)
            limits.append(Limit(f"{limit_name(data.run)}, {carried}", tuple(curve)))
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


#: The renderer's colour and pattern for each place, the same in every figure.
_STYLES = {
    RECEIVED: 5,
    "skipped_messages": 7,
    "unsent_messages": 8,
    "refused_messages": 4,
    "lost_sender_queue_messages": 1,
    "lost_adapter_queue_messages": 9,
    "lost_chance_messages": 10,
    "lost_collisions_messages": 11,
    "lost_switch_queue_messages": 12,
    "lost_link_messages": 3,
    "lost_backlog_messages": 2,
    "lost_socket_buffer_messages": 6,
    "lost_late_messages": 0,
}
_LOSSES_SAID = (
    "Of the messages asked for, the share received and where the others ended; they add up."
)


def losses_against_sent(data: FigureData) -> Chart:
    """Shares of the requested messages: received at the bottom, and each place of loss above it.

    The x axis is the requested rate. If more than the rate varies, each condition is a row. Places
    without losses are omitted.
    """
    words = place_words(
        [trial for trial in data.trials if trial.experiment in data.figure.experiments]
    )
    shares = {place: data.drawn(metric) for place, metric in SHARES.items()}
    found = shares[RECEIVED]
    by_rate = all(set(s.factors) <= set(RATES) for s in found) and len(data.figure.experiments) == 1
    rates = [asked_rate_bps(summary) for summary in found]
    x = axis(data.study, "rate_bps")
    if not by_rate or None in rates:
        by_rate = False
        names = tuple(data.called(s.factors) or s.experiment for s in found)
        x = Axis("condition", "", categories=names)
    shown = quantity(data.study, "rate_bps")
    places = [
        shown.shown(rate) if by_rate and rate is not None else float(number)
        for number, rate in enumerate(rates)
    ]
    at = {id(s): x for own in shares.values() for s, x in zip(own, places, strict=True)}
    share = Quantity("", "", "%", 0.01, "ratio")
    return data.chart(
        x,
        Axis("share of messages", "%"),
        [
            Series(
                words[place],
                points_of(own, lambda s: at[id(s)], share, data.study),
                "stack",
                _STYLES[place],
            )
            for place, own in shares.items()
            if place == RECEIVED or any(summary.mean for summary in own)
        ],
        _LOSSES_SAID,
        drawn="Means of the trials.",
        # Use rows, because the names of conditions do not fit side by side.
        sideways=not by_rate,
    )


def saturation_curve(data: FigureData) -> Chart:
    """The share that arrives at each load of full-length trials, a series for each search with the
    factor and metric of the first.
    """
    searches = {e.id: e.search for e in data.study.experiment if e.search is not None}
    names = [name for name in data.figure.experiments if name in searches]
    first = searches[names[0]] if names else None
    factor = first.factor if first else "rate_bps"
    metric = first.metric if first else "goodput_ratio"
    x, y = quantity(data.study, factor), quantity(data.study, metric)

    curves = {name: curve_of(data.run, data.trials, name, metric) for name in names}
    series = [
        Series(data.study.titles[name] if len(names) > 1 else obtained(data.study), points)
        for name, curve in curves.items()
        for points in (points_of(curve, place_along(factor, x), y, data.study),)
    ]
    found = [found for found in data.once(saturations) if found.experiment in names]
    limits = [limit for one in found for limit in _bounds(data, one, len(names) > 1)]
    every = [v for one in series for point in one.points for v in (point.y, *point.trials)]
    y_axis = axis(data.study, metric)
    return data.chart(
        _zoomed(axis(data.study, factor), [p.x for s in series for p in s.points], limits),
        _with_ends(y_axis, min(every), max(every), 0.08, 0.002) if every else y_axis,
        series,
        "Share of the load that arrives, in full-length trials; between each pair of lines, the "
        "95 % interval of the rate, a loss goal is crossed.",
        limits=tuple(limits),
    )


def _zoomed(shown: Axis, loads: Sequence[float], limits: Sequence[Limit]) -> Axis:
    ends = [x for limit in limits for x, _ in limit.points]
    if not ends:
        return shown
    low = max((load for load in loads if load < min(ends)), default=min(ends))
    high = min((load for load in loads if load > max(ends)), default=max(ends))
    return _with_ends(shown, low, high, 0.15, 0.01)


def _with_ends(shown: Axis, low: float, high: float, share: float, least: float) -> Axis:
    margin = max(share * (high - low), least * high)
    return replace(shown, ends=(max(0.0, low - margin), high + margin))


def _bounds(data: FigureData, found: Saturation, several: bool) -> list[Limit]:
    x = quantity(data.study, found.factor)
    whole = quantity(data.study, found.metric).shown(1.0)
    alike: dict[tuple[float, ...], list[float]] = {}
    for goal in found.goals:
        bounds = (goal.result.lower, goal.result.upper)
        ends = bounds if goal.load is None else (goal.load.low, goal.load.high)
        # The bounds of a search that a sweep refuted are invalid.
        known = tuple(x.shown(end) for end in ends if end is not None)
        if known and goal.sweep is None:
            alike.setdefault(known, []).append(goal.result.loss_ratio)
    return [
        Limit(
            name=(f"{data.study.titles[found.experiment]}: " if several else "")
            + f"{' and '.join(f'{plain(100 * goal)} %' for goal in goals)} lost",
            points=tuple((end, height) for end in ends for height in (0.0, whole)),
            kind="guide",
            in_pairs=True,
        )
        for ends, goals in alike.items()
    ]
