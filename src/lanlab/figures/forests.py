"""Conditions as rows, each with a ratio (or difference) and its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lanlab.analysis.comparison import Compared
from lanlab.analysis.comparison_published import PublishedRatio
from lanlab.figures.chart import Axis, Chart, Limit, Point, Series
from lanlab.figures.gather import FigureData
from lanlab.figures.wording import condition_text, name_of, quantity
from lanlab.studies import Study
from lanlab.workloads.metrics import metric_direction

_INTERVALS = (
    "Intervals of 95 %, each of its condition alone; intervals that reach the edge continue "
    "beyond it. "
    "At the line, both are equal."
)


def ratio_forest(study: Study, found: Sequence[Compared]) -> Chart:
    """Comparisons of one metric of one experiment, a series for each side that was compared."""
    first = found[0]
    shown = quantity(study, first.metric)
    titles = {experiment.id: experiment.title for experiment in study.experiment}
    names = [condition_text(study, one.factors) or "all" for one in found]
    rows = list(dict.fromkeys(names))
    others = list(dict.fromkeys(one.other_name for one in found))
    is_ratio = first.scale == "log"

    def to_shown(value: float) -> float:
        return value if is_ratio else shown.shown(value)

    series = []
    for other in others:
        points = []
        for name, one in zip(names, found, strict=True):
            if one.other_name != other or one.effect is None:
                continue
            ends = None if one.test is None else (one.test.low, one.test.high)
            if ends is not None and not all(map(math.isfinite, ends)):
                ends = None
            points.append(
                Point(
                    x=float(rows.index(name)),
                    y=to_shown(one.effect),
                    low=None if ends is None else to_shown(ends[0]),
                    high=None if ends is None else to_shown(ends[1]),
                    condition=f"{name}, {other}, {one.other.n} against {one.base.n} {one.unit}s",
                )
            )
        series.append(Series(other, tuple(points), "points"))
    limits = [_lines("the same", (1.0 if is_ratio else 0.0,), len(rows))]
    if first.margin is not None:
        ends = (to_shown(first.margin.low), to_shown(first.margin.high))
        # The margin of a difference is a share of each row's base, so it has no common line.
        if is_ratio:
            limits.append(_lines("margin", ends, len(rows)))
    direction = metric_direction(first.metric)
    better = {"more": ", more is better", "less": ", less is better", None: ""}[direction]
    sign = "/" if is_ratio else "less"
    unit = "" if is_ratio else ("percentage points" if shown.unit == "%" else shown.unit)
    label = f"{others[0]} {sign} {first.base_name}" if len(others) == 1 else f"{sign} of the base"
    return Chart(
        title=f"{titles.get(first.experiment, first.experiment)}: {shown.name}{better}",
        x=Axis("condition", "", categories=tuple(rows)),
        y=Axis(label, unit, logarithmic=is_ratio),
        series=tuple(series),
        limits=tuple(limits),
        caption=_INTERVALS,
        sideways=True,
        empty="nothing can be compared",
    )


def published_forest(study: Study, found: Sequence[PublishedRatio]) -> Chart:
    name = quantity(study, found[0].ours.metric).name
    rows = []
    for one in found:
        words = [condition_text(study, one.ours.factors), one.series]
        rows.append(", ".join(filter(None, words)) or "all")
    points = []
    for place, (row, one) in enumerate(zip(rows, found, strict=True)):
        if one.ratio is None:
            continue
        low, high = one.interval or (None, None)
        ratios = tuple(value / one.value.si for value in one.ours.values)
        points.append(Point(float(place), one.ratio, low, high, ratios, row))
    return Chart(
        title=f"{name[0].upper()}{name[1:]}: measured and published",
        x=Axis("condition", "", categories=tuple(rows)),
        y=Axis("measured / published", "", logarithmic=True),
        series=(Series("measured / published", tuple(points), "points"),),
        limits=(_lines("the same", (1.0,), len(rows)),),
        caption=_INTERVALS,
        sideways=True,
        empty="nothing can be compared",
    )


def _lines(name: str, places: Sequence[float], rows: int) -> Limit:
    points = tuple((row, at) for at in places for row in (-0.5, rows - 0.5))
    return Limit(name, points, kind="guide", in_pairs=True)


_SAID = (
    "The greatest level of a factor over its least, with all other factors held: the geometric "
    "mean over the levels of the others, and as ends the least and the greatest. Where it is 1, "
    "the factor changes nothing."
)


def factor_effects(data: FigureData) -> Chart:
    """A row for each condition of the other factors, a series for each crossed factor."""
    from lanlab.analysis.factor_effects import factor_effects

    found = factor_effects(data.run, data.trials, data.study)
    cases = () if found is None else found.cases
    rows = [data.called(case.at) or "all" for case in cases]
    points: dict[str, list[Point]] = {} if found is None else {name: [] for name in found.factors}
    for place, case in enumerate(cases):
        for one in case.spreads:
            points[one.factor].append(
                Point(
                    x=float(place),
                    y=one.ratio,
                    low=one.least,
                    high=one.greatest,
                    condition=f"{rows[place]}, {name_of(one.factor)}",
                )
            )
    shown = quantity(data.study, found.metric) if found else None
    return data.chart(
        Axis("condition", "", categories=tuple(rows)),
        Axis(f"greatest / least {shown.name if shown else 'value'}", "", logarithmic=True),
        [Series(name_of(name), tuple(own), "points") for name, own in points.items()],
        _SAID,
        drawn="",
        interval="least and greatest",
        sideways=True,
    )
