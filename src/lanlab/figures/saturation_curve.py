"""The share that arrives against the load, with the bounds that a search found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lanlab.analysis.saturation import Saturation, curve_of, saturations
from lanlab.analysis.summary import Summary
from lanlab.figures.chart import Axis, Chart, Limit, Series
from lanlab.figures.gather import FigureData, axis, points_of
from lanlab.figures.number_text import plain
from lanlab.figures.wording import quantity


def saturation_curve(data: FigureData) -> Chart:
    """The share that arrives at each load of full-length trials, a series for each search with the
    factor and metric of the first.
    """
    searches = {e.id: e.search for e in data.study.experiment if e.search is not None}
    names = [name for name in data.figure.experiments if name in searches]
    first = searches[names[0]] if names else None
    factor = first.factor if first else "rate_bps"
    metric = first.metric if first else "goodput_ratio"
    x, y = quantity(data.study, factor), quantity(data.study, metric)

    def load(summary: Summary) -> float | None:
        level = summary.factors.get(factor)
        return None if level is None else x.shown(float(level))

    series = [
        Series(
            data.titles[name] if len(names) > 1 else "measured",
            points_of(curve_of(data.run, data.trials, name, metric), load, y, data.study),
        )
        for name in names
    ]
    found = [found for found in saturations(data.run, data.trials) if found.experiment in names]
    limits = [limit for one in found for limit in _bounds(data, one, len(names) > 1)]
    return data.chart(
        _zoomed(axis(data.study, factor), [p.x for s in series for p in s.points], limits),
        _from_least(axis(data.study, metric), series),
        series,
        "Share of the load that arrives, in full-length trials; between each pair of lines, the "
        "95 % interval of the rate, a loss goal is crossed.",
        limits=tuple(limits),
    )


def _zoomed(shown: Axis, loads: Sequence[float], limits: Sequence[Limit]) -> Axis:
    ends = [x for limit in limits for x, _ in limit.points]
    if not ends:
        return shown
    low = max((load for load in loads if load < min(ends)), default=min(ends))
    high = min((load for load in loads if load > max(ends)), default=max(ends))
    margin = max(0.15 * (high - low), 0.01 * high)
    return replace(shown, ends=(max(0.0, low - margin), high + margin))


def _from_least(shown: Axis, series: Sequence[Series]) -> Axis:
    every = [y for one in series for point in one.points for y in (point.y, *point.trials)]
    if not every:
        return shown
    low, high = min(every), max(every)
    margin = max(0.08 * (high - low), 0.002 * high)
    return replace(shown, ends=(max(0.0, low - margin), high + margin))


def _bounds(data: FigureData, found: Saturation, several: bool) -> list[Limit]:
    x = quantity(data.study, found.factor)
    whole = quantity(data.study, found.metric).shown(1.0)
    alike: dict[tuple[float, ...], list[float]] = {}
    for goal in found.goals:
        bounds = (goal.result.lower, goal.result.upper)
        ends = bounds if goal.load is None else (goal.load.low, goal.load.high)
        # The bounds of a search that a sweep refuted are invalid.
        known = tuple(x.shown(end) for end in ends if end is not None)
        if known and goal.sweep is None:
            alike.setdefault(known, []).append(goal.result.loss_ratio)
    return [
        Limit(
            name=(f"{data.titles[found.experiment]}: " if several else "")
            + f"{' and '.join(f'{plain(100 * goal)} %' for goal in goals)} lost",
            points=tuple((end, height) for end in ends for height in (0.0, whole)),
            kind="guide",
            in_pairs=True,
        )
        for ends, goals in alike.items()
    ]
