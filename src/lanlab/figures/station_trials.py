"""Fairness and errors of stations, and the part of a trial that is evaluated."""

from __future__ import annotations

from typing import cast

from lanlab.figures.chart import Axis, Chart, Limit, Point, Series
from lanlab.figures.gather import FigureData, axis
from lanlab.figures.station_curves import STATIONS, stations_axis
from lanlab.figures.wording import quantity
from lanlab.store import Level, TrialRecord

_SAID = (
    "Mean response times of the stations over the mean of all: 1 and their standard deviation, the "
    "station that was served fastest, and the one that was served slowest."
)
_Key = tuple[tuple[str, Level], ...]


def station_fairness(data: FigureData) -> Chart:
    """Stations' mean response times by their number, normalised: spread, minimum and maximum."""
    from lanlab.analysis.stations import station_spread

    groups: dict[_Key, dict[int, list[TrialRecord]]] = {}
    for trial in data.trials:
        if trial.experiment in data.figure.experiments and trial.purpose == "trial":
            rest = {k: v for k, v in trial.factors.items() if k not in (STATIONS, *data.figure.at)}
            key: _Key = (("", trial.experiment), *rest.items())
            number = int(trial.parameters.get(STATIONS, 1))
            groups.setdefault(key, {}).setdefault(number, []).append(trial)
    several = len({key[0] for key in groups}) > 1
    series = []
    for key, by_number in groups.items():
        words = [data.titles[str(key[0][1])] if several else "", data.called(dict(key[1:]))]
        name = ", ".join(filter(None, words))
        spreads = {n: station_spread(own) for n, own in sorted(by_number.items())}
        found = {n: seen for n, seen in spreads.items() if seen is not None}
        if not found:
            continue
        before = f"{name}: " if name else ""
        count = len(found)
        conditions = [f"{name}, {n} stations".removeprefix(", ") for n in found]
        ends = [
            (None, None) if one.sd_ratio is None else (1 - one.sd_ratio, 1 + one.sd_ratio)
            for one in found.values()
        ]
        for what, heights, spans in (
            ("slowest station", [one.greatest_ratio for one in found.values()], None),
            ("all stations", [1.0] * count, ends),
            ("fastest station", [one.least_ratio for one in found.values()], None),
        ):
            points = tuple(
                Point(
                    x=float(n),
                    y=y,
                    low=spans[at][0] if spans else None,
                    high=spans[at][1] if spans else None,
                    condition=conditions[at],
                )
                for at, (n, y) in enumerate(zip(found, heights, strict=True))
            )
            series.append(Series(f"{before}{what}", points, "points" if spans else "line"))
    return data.chart(
        stations_axis(series),
        Axis("mean response time over that of all stations", ""),
        series,
        _SAID,
        drawn="Over the trials of each condition.",
        interval="standard deviation",
    )


#: Maximum number of bars, for the stations with the most errors.
_MOST_STATIONS = 100
_ERRORS_SAID = (
    "Attempts that failed in all trials of all conditions, by the station that made them."
)


def station_errors(data: FigureData) -> Chart:
    from lanlab.analysis.stations import station_errors, station_record

    own = [t for t in data.trials if t.experiment in data.figure.experiments]
    errors = station_errors(own)
    stations = max(
        (
            len(record["table"]["readings"])
            for trial in own
            if (record := station_record(trial)) is not None
        ),
        default=0,
    )
    totals = [
        sum(counts[place] if place < len(counts) else 0 for counts in errors.values())
        for place in range(stations)
    ]
    shown = list(range(stations))
    text = _ERRORS_SAID
    if stations > _MOST_STATIONS:
        worst = sorted(shown, key=lambda place: -totals[place])[:_MOST_STATIONS]
        shown = sorted(worst)
        text += f" Of {stations} stations the {_MOST_STATIONS} with the most errors."
    series = []
    for name, counts in sorted(errors.items(), key=lambda item: -sum(item[1])):
        words = name.replace("_", " ")
        points = tuple(
            Point(
                float(at),
                float(counts[place] if place < len(counts) else 0),
                condition=f"station {place + 1}",
            )
            for at, place in enumerate(shown)
        )
        series.append(Series(words, points, "stack"))
    return data.chart(
        Axis("station", "", categories=tuple(str(place + 1) for place in shown)),
        Axis("errors", ""),
        series,
        text,
        drawn="",
        empty="no operation failed" if stations else "nothing was measured",
    )


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
        for trial in data.counting
        if trial.experiment in data.figure.experiments
        and (record := station_record(trial)) is not None
        and record["over_time"]["at_ns"]
    ]
    if not own:
        return data.chart(Axis("time", "s"), y, ())
    trial, record = max(own, key=lambda each: int(each[0].parameters.get(STATIONS, 1)))
    shown = quantity(data.study, metric)
    over_time = record["over_time"]
    values = cast("dict[str, list[float | None]]", over_time)[metric]
    words = data.called(trial.factors) or trial.experiment
    points = tuple(
        Point(at_ns / 1e9, shown.shown(value), condition=words)
        for at_ns, value in zip(over_time["at_ns"], values, strict=True)
        if value is not None
    )
    top = max((point.y for point in points), default=0.0)
    steady = record["steady"]
    limits = [
        _upright("all stations active", steady["active_start_ns"], steady["active_end_ns"], top)
    ]
    if steady["found"]:
        limits.append(_upright("counted", steady["start_ns"], steady["end_ns"], top))
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


def _upright(name: str, first_ns: int, last_ns: int, top: float) -> Limit:
    points = tuple((ns / 1e9, y) for ns in (first_ns, last_ns) for y in (0.0, top))
    return Limit(name, points, kind="guide", in_pairs=True)
