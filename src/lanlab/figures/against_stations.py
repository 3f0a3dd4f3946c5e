"""Response time and throughput against the number of stations, and against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lanlab.analysis.trials.summary import Summary
from lanlab.figures.chart import Axis, Chart, Limit, Point, PublishedMark, PublishedSeries, Series
from lanlab.figures.gather import FigureData, category_axis, mark_kind, point_of_trials, printed
from lanlab.figures.number_text import counted, plain
from lanlab.figures.published_values import levels_text
from lanlab.figures.wording import Quantity, condition_text, quantity, tried_text
from lanlab.frozen import dataclass
from lanlab.studies.model import Figure, Study
from lanlab.units import format_time

if TYPE_CHECKING:
    from lanlab.analysis.stations.answer import StationsWithin
    from lanlab.analysis.stations.levels import StationCurve

_RESPONSE = "response_mean_ns"
_GOODPUT = "goodput_bps"


def response_against_stations(data: FigureData) -> Chart:
    """The figure's `metric` (by default the mean response time) against the number of stations, a
    line for each level of the other factors.
    """
    return with_answer(data, _along(data, data.figure.metric or _RESPONSE))


def throughput_against_stations(data: FigureData) -> Chart:
    """The figure's `metric` (by default goodput; or operations per second) against the number of
    stations, a line for each level of the other factors.
    """
    chart = _along(data, data.figure.metric or _GOODPUT)
    asked = response_figure(data.study, data.figure)
    if asked is None:
        return chart
    return with_answer(data.with_figure(asked), chart, draws_limit=False)


def delay_throughput(data: FigureData) -> Chart:
    """The mean response time against goodput along the number of stations, a line for each level of
    the other factors. The line rises when the server saturates, and turns back if more stations
    reduce goodput.
    """
    delays = {
        one.name: {point.x: point for point in one.points} for one in series_along(data, _RESPONSE)
    }
    series = []
    for one in series_along(data, _GOODPUT):
        own = delays.get(one.name, {})
        points = [
            replace(own[rate.x], x=rate.y, label=plain(rate.x))
            for rate in one.points
            if rate.x in own
        ]
        series.append(Series(one.name, tuple(points)))
    said = "Each point is a number of stations, written next to it; lines join them in its order."
    drawn = "Means of the trials; intervals of 95 % of response times."
    return data.chart(_GOODPUT, _RESPONSE, series, said, drawn=drawn)


def _along(data: FigureData, metric: str) -> Chart:
    series = series_along(data, metric)
    return data.chart(stations_axis(series), metric, series, "")


#: A limit above this multiple of the maximum would compress everything else, so it is not drawn.
_MOST_ABOVE = 4.0


def response_figure(study: Study, figure: Figure) -> Figure | None:
    """The figure of the same experiments that has a limit for the response time."""
    for one in study.figure:
        if one.within_s is not None and set(one.experiments) == set(figure.experiments):
            return one
    return None


def with_answer(data: FigureData, chart: Chart, *, draws_limit: bool = True) -> Chart:
    """A chart against stations, with a line at the figure's `within_s`, and a vertical one at the
    number of stations within it. Unchanged if the figure has no limit.
    """
    metric = data.figure.metric or _RESPONSE
    within_s = data.figure.within_s
    if within_s is None or chart.is_empty:
        return chart
    from lanlab.analysis.stations.answer import stations_within
    from lanlab.analysis.stations.levels import curves_of

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
        found = stations_within(curve, within_s)
        name = f"{names[place]}: " if len(curves) > 1 else ""
        said.append(f"{name}{within_text(found)}")
        if found.basis == "measured" and found.stations:
            upright = ((float(found.stations), 0.0), (float(found.stations), top))
            lines.append(
                Limit(f"{name}{counted(found.stations, 'station')}", upright, kind="guide")
            )
    caption = f"{'. '.join(said)}. {chart.caption}"
    return replace(chart, limits=(*chart.limits, *lines), caption=caption)


def within_text(found: StationsWithin) -> str:
    limit = format_time(found.limit_s)
    if found.basis == "fewest" or (found.basis == "measured" and not found.stations):
        return f"Even the smallest number of stations exceeds {limit}"
    if found.stations is None:
        return f"{limit} was not reached, and how many more can be served is not known"
    high = "more" if found.high is None else found.high
    spread = "" if found.low is None else f" (95 % interval: {found.low} to {high})"
    return f"{counted(found.stations, 'station')} within {limit}{spread}"


_SIZE = "message_size_bytes"


def greatest_throughput(data: FigureData) -> Chart:
    shown = quantity(data.study, "goodput_bps")
    # The axis shows the size, so the names need not.
    unnamed = data.figure.model_copy(update={"at": {**data.figure.at, _SIZE: 0}})
    curves = [
        each
        for each in named_curves(data.with_figure(unnamed))
        if each.curve.message_size_bytes is not None
    ]
    sizes = sorted({size for each in curves if (size := each.curve.message_size_bytes)})
    numbers = {number for each in curves for number in each.curve.stations}
    tried = tried_text(data.study, STATIONS, numbers) if numbers else "no stations"
    groups: dict[str, list[Point]] = {}
    for each in sorted(curves, key=lambda each: each.curve.message_size_bytes or 0):
        groups.setdefault(each.name, []).append(_greatest_point(each, sizes, shown, data.study))
    return data.chart(
        category_axis(data.study, data.published, _SIZE, sizes),
        "goodput_bps",
        [Series(name, tuple(points), "bars") for name, points in groups.items()],
        f"Highest mean of {tried}; numbers between may be higher. As the highest of several means "
        "it is biased upward.",
        published=_printed_greatest(data, sizes, shown, list(groups)),
    )


def _greatest_point(each: NamedCurve, sizes: Sequence[int], shown: Quantity, study: Study) -> Point:
    size = each.curve.message_size_bytes
    assert size is not None
    best = each.curve.peak
    goodputs = [8 * size * rate for rate in best.operations_per_s]
    levels = condition_text(study, {**each.curve.factors, "stations": best.stations})
    return point_of_trials(float(sizes.index(size)), shown, goodputs, levels)


def _printed_greatest(
    data: FigureData, sizes: Sequence[int], shown: Quantity, names: Sequence[str]
) -> tuple[PublishedSeries, ...]:
    found: dict[tuple[str, str], list[PublishedMark]] = {}
    for value in data.published.value:
        size = value.condition.get(_SIZE)
        if (value.metric, value.statistic, value.kind) != ("goodput_bps", "maximum", "text"):
            continue
        if isinstance(size, int) and size in sizes:
            rest = [key for key in value.condition if key != _SIZE]
            name = levels_text(data.published, value.condition, rest)
            mark = PublishedMark(float(sizes.index(size)), shown.shown(value.si), printed(value))
            kind = mark_kind(value, data.published, data.study)
            found.setdefault((name, kind), []).append(mark)
    return tuple(
        PublishedSeries(name, tuple(own), kind, names.index(name) if name in names else None)
        for (name, kind), own in found.items()
    )


STATIONS = "stations"
_WIDE = 30


@dataclass(frozen=True)
class NamedCurve:
    name: str
    curve: StationCurve


def named_curves(data: FigureData) -> list[NamedCurve]:
    """The curves of a figure's experiments, named by the factors that vary."""
    from lanlab.analysis.stations.levels import curves_of

    curves = curves_of(data.trials, data.figure.experiments)
    fixed = (STATIONS, *data.figure.at)
    keys = [
        (one.experiment, data.called({k: v for k, v in one.factors.items() if k not in fixed}))
        for one in curves
    ]
    groups = dict.fromkeys(keys)
    names = dict(zip(groups, data.series_names(groups), strict=True))
    return [NamedCurve(names[key], curve) for key, curve in zip(keys, curves, strict=True)]


def series_along(data: FigureData, metric: str) -> tuple[Series, ...]:
    """A metric against the number of stations, a series for each level of the other factors."""
    found = [summary for summary in data.drawn(metric) if summary.mean is not None]
    groups = data.in_series(found, (STATIONS, *data.figure.at))
    return data.lines(groups, stations_of, quantity(data.study, metric))


def stations_of(summary: Summary) -> float | None:
    level = summary.parameters.get(STATIONS)
    return float(level) if isinstance(level, int | float) else None


def stations_axis(series: Sequence[Series]) -> Axis:
    xs = [point.x for one in series for point in one.points]
    return Axis("stations", "", logarithmic=bool(xs) and max(xs) >= _WIDE * min(xs))
