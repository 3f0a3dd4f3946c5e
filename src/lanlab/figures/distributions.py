"""Distributions of round trips: as cumulative shares, and as violins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lanlab.analysis.traffic.histogram import Bucket
from lanlab.analysis.traffic.round_trip_times import round_trips_by_condition
from lanlab.analysis.trials.summary import Summary
from lanlab.figures.chart import Axis, Chart, Point, Series, Shape
from lanlab.figures.gather import FigureData, far_apart
from lanlab.figures.wording import quantity
from lanlab.store import Level

#: Maximum points of a line; a reader could not distinguish more.
_MOST_POINTS = 160
#: Maximum lines of a figure; more would be drawn in several.
_MOST_LINES = 6
_SLICES = 60
#: Largest half width of a violin; half of the distance between categories is 0.5.
_WIDEST = 0.4
#: Least spread of a violin, as a logarithm: the resolution of the records.
_LEAST_SPREAD = 1e-3
_NOT_TRIALS = "Single round trips are not independent of each other: no intervals."


def round_trip_ecdf(data: FigureData) -> Chart:
    """The share of round trips up to each time, over all trials of a condition."""
    shown = quantity(data.study, "rtt_mean_ns")
    groups: dict[str, list[Series]] = {}
    for factors, found in _round_trips(data):
        name = data.named(factors)
        steps = [(shown.shown(value), 100 * share) for value, share in _shares(found)]
        points = tuple(Point(x, y, condition=name) for x, y in steps)
        groups.setdefault(_at_any_version(factors), []).append(Series(name, points, kind="bound"))
    chosen, left_out = _followed(list(groups.values()))
    xs = [point.x for one in chosen for point in one.points]
    return data.chart(
        Axis("round-trip time", shown.unit, logarithmic=far_apart(xs)),
        Axis("round trips that took no longer", "%"),
        chosen,
        f"All round trips of the trials that count.{left_out}",
        drawn=_NOT_TRIALS,
        empty="no round trips are in the records",
    )


def _round_trips(data: FigureData) -> list[tuple[dict[str, Level], list[Bucket]]]:
    found = round_trips_by_condition(data.trials, data.figure.experiments)
    order = [summary.factors for summary in _side_by_side(data.drawn("rtt_mean_ns"))]
    return sorted(found, key=lambda one: order.index(one[0]) if one[0] in order else len(order))


def _side_by_side(found: Sequence[Summary]) -> list[Summary]:
    """The conditions, with those that differ only in the IP version next to each other."""
    groups: dict[str, list[Summary]] = {}
    for one in found:
        key = f"{one.experiment} {_at_any_version(one.factors)}"
        groups.setdefault(key, []).append(one)
    return [one for group in groups.values() for one in group]


def _at_any_version(factors: Mapping[str, Level]) -> str:
    return repr({key: level for key, level in factors.items() if key != "ip_version"})


def _shares(found: Sequence[Bucket]) -> list[tuple[float, float]]:
    total = sum(bucket.count for bucket in found)
    steps, below, last = [(float(found[0].low), 0.0)], 0, 0
    for bucket in found:
        below += bucket.count
        # At most `_MOST_POINTS` steps of equal height, and every step of the last percent.
        if (below - last) * _MOST_POINTS >= total or (total - below) * 100 <= total:
            steps.append((float(bucket.high), below / total))
            last = below
    return steps


def _followed(groups: Sequence[Sequence[Series]]) -> tuple[list[Series], str]:
    """At most `_MOST_LINES` series, in whole groups, so that IPv4 and IPv6 are both drawn."""
    series = [one for group in groups for one in group]
    if len(series) <= _MOST_LINES:
        return series, ""
    most = max(1, _MOST_LINES // max(map(len, groups)))
    medians = [next((p.x for p in group[0].points if p.y >= 50), math.inf) for group in groups]
    by_median = sorted(range(len(groups)), key=medians.__getitem__)
    step = (len(groups) - 1) / max(1, most - 1)
    places = sorted({by_median[round(number * step)] for number in range(most)})
    chosen = [one for place in places for one in groups[place]][:_MOST_LINES]
    said = f" Drawn are {len(chosen)} of {len(series)} conditions, spread evenly by their medians."
    return chosen, said


def round_trip_violins(data: FigureData) -> Chart:
    """The distribution of round trips at each condition, over all its trials, on a logarithmic
    axis. The width of a violin shows their density.
    """
    shown = quantity(data.study, "rtt_mean_ns")
    found = _round_trips(data)
    names = [data.named(factors) for factors, _ in found]
    weighted = [
        [(shown.shown((b.low + b.high) / 2), float(b.count)) for b in one if b.high > 0]
        for _, one in found
    ]
    said = "The width shows how many round trips took that long; points are medians."
    return data.chart(
        Axis("", "", categories=tuple(names)),
        Axis("round-trip time", shown.unit, logarithmic=True),
        (_medians(names, weighted),),
        said,
        drawn=_NOT_TRIALS,
        shapes=_violins(weighted),
        empty="no round trips are in the records",
    )


Weighted = Sequence[tuple[float, float]]


def _medians(names: Sequence[str], weighted: Sequence[Weighted]) -> Series:
    points = [
        Point(float(place), _median(values), condition=names[place])
        for place, values in enumerate(weighted)
    ]
    return Series("median", tuple(points), kind="points")


def _median(values: Weighted) -> float:
    ordered = sorted(values)
    half, below = sum(weight for _, weight in ordered) / 2, 0.0
    for place, (value, weight) in enumerate(ordered):
        below += weight
        if below == half and place + 1 < len(ordered):
            return (value + ordered[place + 1][0]) / 2
        if below >= half:
            return value
    return math.nan


def _violins(weighted: Sequence[Weighted]) -> tuple[Shape, ...]:
    """Densities on a logarithmic axis, each smoothed by its own spread."""
    shapes = []
    for place, values in enumerate(weighted):
        at = [(math.log(value), weight) for value, weight in values]
        if len(at) < 2:
            continue
        width = max(_LEAST_SPREAD, _bandwidth(at))
        # So that no tail is cut off flat.
        low, high = min(at)[0] - 4 * width, max(at)[0] + 4 * width
        step = (high - low) / _SLICES
        width = max(step, width)
        dense = [
            (y, sum(weight * math.exp(-0.5 * ((y - value) / width) ** 2) for value, weight in at))
            for y in (low + step * number for number in range(_SLICES + 1))
        ]
        most = max(height for _, height in dense)
        shares = [(y, height / most) for y, height in dense]
        outline = tuple((math.exp(y), _WIDEST * share) for y, share in shares if share > 0.002)
        shapes.append(Shape(float(place), outline))
    return tuple(shapes)


def _bandwidth(values: Weighted) -> float:
    """Scott's rule: the standard deviation over the fifth root of the number, D. W. Scott,
    "Multivariate Density Estimation", 1992, section 6.3."""
    total = math.fsum(weight for _, weight in values)
    mean = math.fsum(value * weight for value, weight in values) / total
    variance = math.fsum(weight * (value - mean) ** 2 for value, weight in values) / total
    return float(math.sqrt(variance) * total**-0.2)


_PERCENTILES = {
    "rtt_min_ns": "least",
    "rtt_p50_ns": "median",
    "rtt_p90_ns": "90 %",
    "rtt_p99_ns": "99 %",
    "rtt_p999_ns": "99.9 %",
    "rtt_max_ns": "greatest",
}


def round_trip_percentiles(data: FigureData) -> Chart:
    known = {metric for trial in data.trials for metric in trial.metrics}
    metrics = [metric for metric in _PERCENTILES if metric in known]
    shown = quantity(data.study, "rtt_mean_ns")
    groups: dict[str, list[Summary]] = {}
    for metric in metrics:
        found = data.drawn(metric)
        for name, own in data.in_series(found, ()).items():
            groups.setdefault(name, []).extend(own)
    series = data.lines(groups, lambda s: float(metrics.index(s.metric)), shown)
    ys = [point.y for one in series for point in one.points]
    names = tuple(_PERCENTILES[metric] for metric in metrics)
    return data.chart(
        Axis("share of the replies that came within it", "", categories=names),
        Axis("round-trip time", shown.unit, far_apart(ys)),
        series,
        "Percentiles of each trial by itself.",
    )
