"""A trial of stations over time, with the limits of the part that is evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lanlab.analysis.attempts import counting
from lanlab.figures.chart import Axis, Chart, Limit, Point, Series
from lanlab.figures.gather import FigureData, axis
from lanlab.figures.station_curves import STATIONS
from lanlab.figures.wording import quantity


def steady_cut(data: FigureData) -> Chart:
    """
    The figure's `metric` (`operations_per_s`, or `response_mean_ns`) over the time of one trial:
    the first of those with the most stations. All stations are busy between the outer vertical
    lines; the part between the inner lines is evaluated.
    """
    from lanlab.analysis.stations import station_record

    metric = "response_mean_ns" if data.figure.metric == "response_mean_ns" else "operations_per_s"
    y = axis(data.study, metric)
    own = [
        (trial, record)
        for trial in counting(data.trials)
        if trial.experiment in data.figure.experiments
        and (record := station_record(trial)) is not None
        and record["over_time"]["at_ns"]
    ]
    if not own:
        return data.chart(Axis("time", "s"), y, ())
    trial, record = max(own, key=lambda each: int(each[0].parameters.get(STATIONS, 1)))
    shown = quantity(data.study, metric)
    over_time: Mapping[str, Any] = record["over_time"]
    words = data.called(trial.factors) or trial.experiment
    points = tuple(
        Point(at_ns / 1e9, shown.shown(value), condition=words)
        for at_ns, value in zip(over_time["at_ns"], over_time[metric], strict=True)
        if value is not None
    )
    top = max((point.y for point in points), default=0.0)
    steady: Mapping[str, Any] = record["steady"]
    limits = [_ends("all stations active", steady, "active_start_ns", "active_end_ns", top)]
    if steady["found"]:
        limits.append(_ends("counted", steady, "start_ns", "end_ns", top))
        said = "What lies between the inner lines counts."
    else:
        said = f"No steady state: {steady['reason']}."
    text = f"Trial {trial.number}, {words}. {said}"
    return data.chart(
        Axis("time", "s"),
        y,
        (Series(words, points),),
        text,
        drawn="Equal steps of the trial's time.",
        limits=tuple(limits),
    )


def _ends(name: str, steady: Mapping[str, Any], first: str, last: str, top: float) -> Limit:
    points = tuple((steady[key] / 1e9, y) for key in (first, last) for y in (0.0, top))
    return Limit(name, points, kind="guide", in_pairs=True)
