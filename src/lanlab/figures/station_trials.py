"""Fairness and errors of stations."""

from __future__ import annotations

from lanlab.figures.against_stations import STATIONS, stations_axis
from lanlab.figures.chart import Axis, Chart, Point, Series
from lanlab.figures.gather import FigureData
from lanlab.store import TrialRecord

_SAID = (
    "Mean response time of the slowest and of the fastest station, divided by the mean of all "
    "stations (1: equal service{})."
)
#: Of several groups, bars would hide each other.
_OF_ONE = "; its bar is the standard deviation of the stations"


def station_fairness(data: FigureData) -> Chart:
    """Stations' mean response times by their number, normalised: spread, minimum and maximum."""
    from lanlab.analysis.stations.spread import station_spread

    groups: dict[tuple[str, str], dict[int, list[TrialRecord]]] = {}
    for trial in data.trials:
        if trial.experiment in data.figure.experiments and trial.purpose == "trial":
            rest = {k: v for k, v in trial.factors.items() if k not in (STATIONS, *data.figure.at)}
            key = trial.experiment, data.called(rest)
            number = int(trial.parameters.get(STATIONS, 1))
            groups.setdefault(key, {}).setdefault(number, []).append(trial)
    series, several = [], len(groups) > 1
    names = data.series_names(groups) if several else [words for _, words in groups]
    for name, by_number in zip(names, groups.values(), strict=True):
        spreads = {n: station_spread(own) for n, own in sorted(by_number.items())}
        found = {n: seen for n, seen in spreads.items() if seen is not None}
        if not found:
            continue
        before = f"{name}, " if several else ""
        conditions = [f"{name}, {n} stations".removeprefix(", ") for n in found]
        sds = [one.sd_ratio for one in found.values()]
        ends = [(None, None) if sd is None else (1 - sd, 1 + sd) for sd in sds]
        for what, heights in (
            ("slowest station", [one.greatest_ratio for one in found.values()]),
            ("all stations", [1.0] * len(found)),
            ("fastest station", [one.least_ratio for one in found.values()]),
        ):
            is_every = what == "all stations"
            if is_every and several:
                continue
            points = tuple(
                Point(float(n), y, low if is_every else None, high if is_every else None, (), words)
                for n, y, (low, high), words in zip(found, heights, ends, conditions, strict=True)
            )
            series.append(Series(f"{before}{what}", points, "points" if is_every else "line"))
    return data.chart(
        stations_axis(series),
        Axis("mean response time over that of all stations", ""),
        series,
        _SAID.format("") if several else ". ".join(filter(None, (*names, _SAID.format(_OF_ONE)))),
        drawn="Over the trials of each condition.",
        interval="standard deviation",
    )


#: Maximum number of bars, for the stations with the most errors.
_MOST_STATIONS = 100
_ERRORS_SAID = "Failed attempts of each station, summed over all trials and conditions."


def station_errors(data: FigureData) -> Chart:
    from lanlab.analysis.stations.spread import station_errors, station_record

    own = [t for t in data.trials if t.experiment in data.figure.experiments]
    errors = station_errors(own)
    records = [record for trial in own if (record := station_record(trial)) is not None]
    stations = max((len(record["table"]["readings"]) for record in records), default=0)
    # A station without errors may be missing at the end of the counts.
    counts = {name: [*own, *[0] * (stations - len(own))] for name, own in errors.items()}
    shown = list(range(stations))
    text = _ERRORS_SAID
    if stations > _MOST_STATIONS:
        totals = [sum(own[place] for own in counts.values()) for place in shown]
        shown = sorted(sorted(shown, key=lambda place: -totals[place])[:_MOST_STATIONS])
        text += f" Of {stations} stations the {_MOST_STATIONS} with the most errors."
    series = []
    for name, each in sorted(counts.items(), key=lambda item: -sum(item[1])):
        points = tuple(
            Point(float(at), float(each[place]), condition=f"station {place + 1}")
            for at, place in enumerate(shown)
        )
        series.append(Series(name.replace("_", " "), points, "stack"))
    return data.chart(
        Axis("station", "", categories=tuple(str(place + 1) for place in shown)),
        Axis("errors", ""),
        series,
        text,
        drawn="",
        empty="no operation failed" if stations else "nothing was measured",
    )
