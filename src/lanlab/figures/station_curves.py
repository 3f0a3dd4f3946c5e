"""Common code of figures of stations: curves with their names and bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from lanlab.analysis.summary import Summary
from lanlab.figures.chart import Axis, Chart, Limit, Series
from lanlab.figures.gather import FigureData
from lanlab.figures.wording import condition_text, obtained, quantity
from lanlab.frozen import dataclass
from lanlab.store import Level

if TYPE_CHECKING:
    from lanlab.analysis.stations import ServerModel, StationCurve

    #: Returns the y value of a model's line at a number of stations or, if the last argument is
    #: true, of the model's asymptotes.
    HeightOfModel = Callable[[StationCurve, ServerModel, int, bool], float]

STATIONS = "stations"
#: Maximum number of curves with bounds; bounds of more would hide the curves.
_MOST_BOUNDED = 4
_WIDE = 30
_PLACES = 60


@dataclass(frozen=True)
class NamedCurve:
    name: str
    curve: StationCurve


def named_curves(data: FigureData) -> list[NamedCurve]:
    """The curves of a figure's experiments, named by the factors that vary."""
    from lanlab.analysis.stations import curves_of

    return [
        NamedCurve(_name(data, curve.experiment, curve.factors), curve)
        for curve in curves_of(data.trials, data.figure.experiments)
    ]


def chart_along(
    data: FigureData, metric: str, curves: Sequence[NamedCurve], value: HeightOfModel, said: str
) -> Chart:
    """
    A metric against the number of stations, a line for each level of the other factors, with
    bounds.

    Args:
        curves: Curves with bounds.
        value: Gives the y value of a model's line.
        said: Text on these lines, for the caption.
    """
    series = series_along(data, metric)
    lines = _bounding_lines(series, curves, value)
    return data.chart(stations_axis(series), metric, series, said if lines else "", limits=lines)


def series_along(data: FigureData, metric: str) -> tuple[Series, ...]:
    """A metric against the number of stations, a series for each level of the other factors."""
    groups: dict[str, list[Summary]] = {}
    for summary in data.drawn(metric):
        if summary.mean is not None:
            name = _name(data, summary.experiment, summary.factors)
            groups.setdefault(name, []).append(summary)
    return data.lines(groups, stations_of, quantity(data.study, metric))


def stations_of(summary: Summary) -> float | None:
    level = summary.parameters.get(STATIONS)
    return float(level) if isinstance(level, int | float) else None


def stations_axis(series: Sequence[Series]) -> Axis:
    xs = [point.x for one in series for point in one.points]
    return Axis("stations", "", logarithmic=bool(xs) and max(xs) >= _WIDE * min(xs))


def _bounding_lines(
    series: Sequence[Series],
    curves: Sequence[NamedCurve],
    value: HeightOfModel,
) -> tuple[Limit, ...]:
    """For each series, the asymptotes and the queue that fits it best; empty if there are many
    series, or too few levels for a fit.
    """
    from lanlab.analysis.stations import fit_model

    if len(series) > _MOST_BOUNDED:
        return ()
    by_name = {each.name: each.curve for each in curves}
    lines = []
    for index, one in enumerate(series):
        curve = by_name.get(one.name)
        if curve is None or len(curve.levels) < 3:
            continue
        model = fit_model(curve, "queue")
        places = _places(max(curve.stations))
        ending = f", {one.name}" if len(series) > 1 else ""
        for words, is_asymptote in (("asymptotes", True), ("queue", False)):
            points = tuple(
                (float(number), value(curve, model, number, is_asymptote)) for number in places
            )
            # The asymptotes bound any queue at the same server.
            kind: Literal["physical", "guide"] = "physical" if is_asymptote else "guide"
            lines.append(Limit(f"{words}{ending}", points, series=index, kind=kind))
    return tuple(lines)


def asymptotic_response_s(model: ServerModel, stations: int) -> float:
    return max(model.alone_s, stations * model.bottleneck_s - model.think_s)


def _places(most: int) -> list[int]:
    if most <= _PLACES:
        return list(range(1, most + 1))
    ratio = most ** (1 / (_PLACES - 1))
    return sorted({round(ratio**place) for place in range(_PLACES)})


def _name(data: FigureData, experiment: str, factors: Mapping[str, Level]) -> str:
    rest = {k: level for k, level in factors.items() if k != STATIONS and k not in data.figure.at}
    title = data.titles[experiment] if len(data.figure.experiments) > 1 else ""
    words = [title, condition_text(data.study, rest)]
    return ", ".join(filter(None, words)) or obtained(data.study).word
