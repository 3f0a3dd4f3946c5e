"""A metric against a numeric factor, with the link's limit; simulated, with what limits it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from lanlab.analysis.links.limits import udp_wire_bytes
from lanlab.analysis.links.wires import wire_of
from lanlab.analysis.simulation.limiting import cause_of
from lanlab.analysis.trials.attempts import condition_key
from lanlab.analysis.trials.summary import Summary
from lanlab.figures.chart import Chart, Limit, Point, Series
from lanlab.figures.finishing import name_in_common
from lanlab.figures.gather import FigureData, axis, place_along, points_of, published_of
from lanlab.figures.number_text import plain
from lanlab.figures.wording import quantity
from lanlab.studies.scaling import is_numeric

SIZE = "message_size_bytes"
_CURVE_POINTS = 80

#: The limit of the metric, in its unit, for a message size and IP version.
SizeLimit = Callable[[int, int], float]


def against_size(data: FigureData) -> Chart:
    """Goodput against message size, a series for each level of the other factors."""
    metric = data.metric("goodput", "goodput_bps")

    link = wire_of(data.run)
    if link is None:
        return size_chart(data, metric, None, "")
    return size_chart(
        data, metric, lambda size, ip: link.goodput_limit_bps("udp", ip, size), link.limit_name
    )


def size_chart(
    data: FigureData,
    metric: str,
    limit: SizeLimit | None,
    limit_name: str,
    limit_kind: Literal["physical", "guide"] = "physical",
) -> Chart:
    """A metric against message size, with a limit for each UDP series."""
    x, y = quantity(data.study, SIZE), quantity(data.study, metric)
    groups = data.in_series(data.own_summaries(metric), (SIZE,))

    def size(summary: Summary) -> float | None:
        level = summary.parameters.get(SIZE)
        return x.shown(level) if isinstance(level, int) else None

    limits = []
    for index, (name, group) in enumerate(groups.items()):
        is_udp = group[0].parameters.get("transport") == "udp"
        if limit is not None and is_udp:
            curve = _curve(group, limit)
            shown = tuple((x.shown(a), y.shown(b)) for a, b in curve)
            limits.append(Limit(f"{limit_name}, {name}", shown, series=index, kind=limit_kind))
    return data.chart(
        axis(data.study, SIZE),
        metric,
        data.lines(groups, size, y),
        limits=tuple(_named_once(limits, limit_name)),
        published=published_of(groups, size, y, data.published, data.study),
    )


def _named_once(limits: list[Limit], name: str) -> list[Limit]:
    curves: dict[tuple[tuple[float, float], ...], list[Limit]] = {}
    for limit in limits:
        curves.setdefault(limit.points, []).append(limit)
    if len(curves) == 1 and len(limits) > 1:
        return [replace(limits[0], name=name, series=None)]
    return [
        own[0] if len(own) == 1 else replace(own[0], name=name_in_common(own), series=None)
        for own in curves.values()
    ]


def _curve(group: Sequence[Summary], limit: SizeLimit) -> list[tuple[float, float]]:
    sizes = [int(summary.parameters[SIZE]) for summary in group]
    ip_version = int(group[0].parameters["ip_version"])
    step = max(1, (max(sizes) - min(sizes)) // _CURVE_POINTS)
    places = sorted({*range(min(sizes), max(sizes) + 1, step), *sizes})
    return [(place, limit(place, ip_version)) for place in places]


def rtt_against_size(data: FigureData) -> Chart:
    """Round-trip time against message size, a series for each level of the other factors."""
    link = wire_of(data.run)
    metric = data.metric("rtt_", "rtt_mean_ns")
    draw = partial(size_chart, data, metric)
    if link is None:
        return draw(None, "")
    if link.has_token_bucket:
        # A single frame passes a token bucket at once, so no wire limits these round trips.
        return draw(partial(refill_ns, link.rate_bps), "one frame's tokens", "guide")
    return draw(link.idle_round_trip_ns, "shortest on the wire")


def refill_ns(link_rate_bps: float, message_size_bytes: int, ip_version: int) -> float:
    """
    The time in which a token bucket gains the tokens for one message. A closed loop of requests
    soon empties the bucket, and then needs at least this time for each round trip. Both directions
    refill simultaneously, so it is about half of the time of both frames on a wire.

    Returns:
        Nanoseconds.

    Examples:
        >>> round(refill_ns(100e6, 1408, 4))
        117920
    """
    return 8e9 * udp_wire_bytes(message_size_bytes, ip_version) / link_rate_bps


def against_factor(data: FigureData) -> Chart:
    """The figure's `metric` against its `factor`, a line for each level of the other factors.

    The axis of the factor is logarithmic unless a level is 0. The default `metric` is the first of
    the first experiment, and the default `factor` the first whose levels are numbers.
    """
    drawn = next(e for e in data.study.experiment if e.id == data.figure.experiments[0])
    metric = data.figure.metric or drawn.metrics[0]
    numeric = [key for key in drawn.factors if is_numeric(drawn.workload, key)]
    factor = data.figure.factor or next(iter(numeric), "")
    x, y = quantity(data.study, factor), quantity(data.study, metric)
    place = place_along(factor, x)
    groups = data.in_series(data.drawn(metric), (factor,))
    series = data.lines(groups, place, y)
    xs = [point.x for one in series for point in one.points]
    return data.chart(
        axis(data.study, factor, logarithmic=min(xs, default=0) > 0),
        metric,
        series,
        published=published_of(groups, place, y, data.published, data.study),
    )


_TEXT = (
    "The legend names what limits each curve, and where another limit takes over. Causes are read "
    "off how busy wire and processors were, and where frames were lost."
)


def what_limits(data: FigureData) -> Chart:
    """A metric against the figure's factor, a series for each level of the others."""
    metric = data.metric("goodput", "goodput_bps")
    found = data.own_summaries(metric)
    factor = data.figure.factor or _first_numeric(found) or "rate_bps"
    x, y = quantity(data.study, factor), quantity(data.study, metric)
    place = place_along(factor, x)
    causes = {
        condition_key(one.factors): cause_of(one.trials)
        for name in dict.fromkeys(summary.experiment for summary in found)
        for one in data.conditions(name)
    }
    series = []
    for name, group in data.in_series(found, (factor,)).items():
        points = points_of(group, place, y, data.study)
        by_condition = {
            point.condition: causes[condition_key(summary.factors)]
            for summary in group
            for point in points_of([summary], place, y, data.study)
        }
        named = _named_limits(points, by_condition, x.unit)
        series.append(Series(f"{name}: {named}" if named else name, points))
    return data.chart(axis(data.study, factor), metric, series, _TEXT)


def _first_numeric(found: Sequence[Summary]) -> str | None:
    names = (
        name
        for summary in found[:1]
        for name in reversed(summary.factors)
        if is_numeric(summary.workload, name)
    )
    return next(names, None)


def _named_limits(points: Sequence[Point], causes: dict[str, str | None], unit: str) -> str:
    """The bottlenecks along the points, each with its first point; the first bottleneck without."""
    found: list[str] = []
    before = None
    for place, point in enumerate(points):
        cause = causes.get(point.condition)
        if cause and cause != before:
            where = f" from {plain(point.x)} {unit}".rstrip() if place else ""
            found.append(cause + where)
            before = cause
    return ", ".join(found)
