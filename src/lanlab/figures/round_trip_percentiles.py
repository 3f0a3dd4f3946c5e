"""Round-trip times from the shortest to the longest."""

from __future__ import annotations

from lanlab.analysis.summary import Summary
from lanlab.figures.chart import Axis, Chart
from lanlab.figures.gather import FigureData, far_apart
from lanlab.figures.wording import quantity

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
