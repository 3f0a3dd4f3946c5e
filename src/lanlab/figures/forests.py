"""Conditions as rows, each with a ratio (or difference) and its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lanlab.analysis.comparison.compare import Compared
from lanlab.analysis.comparison.published import PublishedRatio
from lanlab.figures.chart import Axis, Chart, Point, Series, chart_of_rows, line_across
from lanlab.figures.gather import FigureData
from lanlab.figures.wording import condition_text, name_of, obtained, quantity
from lanlab.studies.model import Study
from lanlab.workloads.metrics import metric_direction

_INTERVALS = (
    "Intervals, from three trials on, are of 95 %, each of its condition alone; those that reach "
    "the edge continue beyond it. "
    "At the line, both are equal."
)


def ratio_forest(study: Study, found: Sequence[Compared]) -> Chart:
    """Comparisons of one metric of one experiment, a series for each side that was compared."""
    first = found[0]
    shown = quantity(study, first.metric)
    names = [condition_text(study, one.factors) or "all" for one in found]
    rows = list(dict.fromkeys(names))
    series: dict[str, list[Point]] = {one.other_name: [] for one in found}
    is_ratio = first.scale == "log"

    def to_shown(value: float) -> float:
        return value if is_ratio else shown.shown(value)

    for name, one in zip(names, found, strict=True):
        if one.effect is None:
            continue
        ends = one.interval or (None, None)
        is_known = all(end is not None and math.isfinite(end) for end in ends)
        low, high = (to_shown(end) if end is not None and is_known else None for end in ends)
        sides = f"{one.other_name}, {one.other.n} against {one.base.n} {one.unit}s"
        x, y = float(rows.index(name)), to_shown(one.effect)
        series[one.other_name].append(Point(x, y, low, high, condition=f"{name}, {sides}"))
    limits = [line_across("the same", (1.0 if is_ratio else 0.0,), len(rows))]
    # The margin of a difference is a share of each row's base, so it has no common line.
    if first.margin is not None and is_ratio:
        ends = (first.margin.low, first.margin.high)
        limits.append(line_across("margin", ends, len(rows)))
    direction = metric_direction(first.metric)
    sign = "/" if is_ratio else "less"
    unit = "" if is_ratio else ("percentage points" if shown.unit == "%" else shown.unit)
    other = next(iter(series))
    label = f"{other} {sign} {first.base_name}" if len(series) == 1 else f"{sign} of the base"
    title = f"{study.titles.get(first.experiment, first.experiment)}: {shown.name}"
    return chart_of_rows(
        f"{title}, {direction} is better" if direction else title,
        rows,
        Axis(label, unit, logarithmic=is_ratio),
        [Series(name, tuple(points), "points") for name, points in series.items()],
        limits,
        caption=_INTERVALS,
        empty="nothing can be compared",
    )


def published_forest(study: Study, found: Sequence[PublishedRatio]) -> Chart:
    name = quantity(study, found[0].ours.metric).name
    rows = [
        ", ".join(filter(None, (condition_text(study, one.factors), one.series))) or "all"
        for one in found
    ]
    points = []
    for place, (row, one) in enumerate(zip(rows, found, strict=True)):
        if one.ratio is not None:
            ratios = tuple(value / one.value.si for value in one.ours.values)
            low, high = one.interval or (None, None)
            points.append(Point(float(place), one.ratio, low, high, ratios, row))
    by = obtained(study)
    ratio = f"{by} / published"
    return chart_of_rows(
        f"{name[0].upper()}{name[1:]}: {by} and published",
        rows,
        Axis(ratio, "", logarithmic=True),
        [Series(ratio, tuple(points), "points")],
        [line_across("the same", (1.0,), len(rows))],
        caption=_INTERVALS,
        empty="nothing can be compared",
    )


_SAID = (
    "The greatest level of a factor over its least, with all other factors held: the geometric "
    "mean over the levels of the others, and as ends the least and the greatest. Where it is 1, "
    "the factor changes nothing."
)


def factor_effects(data: FigureData) -> Chart:
    """A row for each condition of the other factors, a series for each crossed factor."""
    from lanlab.analysis.comparison.factor_effects import factor_effects

    found = factor_effects(data)
    cases = () if found is None else found.cases
    rows = [data.called(case.at) or "all" for case in cases]
    points: dict[str, list[Point]] = {} if found is None else {name: [] for name in found.factors}
    for place, case in enumerate(cases):
        for one in case.spreads:
            said = f"{rows[place]}, {name_of(one.factor)}"
            point = Point(float(place), one.ratio, one.least, one.greatest, condition=said)
            points[one.factor].append(point)
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
