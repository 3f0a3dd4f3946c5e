"""Round-trip times from the shortest to the longest."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.summary import Summary
from lanlab.figures.chart import Axis, Chart, Series
from lanlab.figures.gather import FigureData, axis, caption, far_apart, in_series, points_of
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
        for name, own in in_series(found, (), data.study, data.published).items():
            groups.setdefault(name, []).extend(own)
    series = tuple(
        Series(name, points_of(own, lambda s: float(metrics.index(s.metric)), shown, data.study))
        for name, own in groups.items()
    )
    ys = [point.y for one in series for point in one.points]
    means = axis(data.study, "rtt_mean_ns", logarithmic=far_apart(ys))
    return Chart(
        title=data.figure.title,
        x=Axis("share of the replies that came within it", "", categories=_names(metrics)),
        y=Axis("round-trip time", means.unit, means.logarithmic),
        series=series,
        caption=caption(data.run, "Percentiles of each trial by itself."),
    )


def _names(metrics: Sequence[str]) -> tuple[str, ...]:
    return tuple(_PERCENTILES[metric] for metric in metrics)
