"""The errors of each station, by class."""

from __future__ import annotations

from lanlab.figures.chart import Axis, Chart, Point, Series
from lanlab.figures.gather import FigureData

#: Maximum number of bars, for the stations with the most errors.
_MOST_STATIONS = 100
_SAID = "Attempts that failed in all trials of all conditions, by the station that made them."


def station_errors_bars(data: FigureData) -> Chart:
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
    text = _SAID
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
