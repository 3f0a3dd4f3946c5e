"""How evenly stations were served, against the number of stations."""

from __future__ import annotations

from lanlab.figures.chart import Axis, Chart, Point, Series
from lanlab.figures.gather import FigureData
from lanlab.figures.station_curves import STATIONS, stations_axis
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
