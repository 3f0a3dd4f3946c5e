"""The greatest throughput over all numbers of stations, by message size."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lanlab.analysis.summary import interval_of_mean
from lanlab.figures.chart import Chart, Point, PublishedMark, PublishedSeries, Series
from lanlab.figures.gather import FigureData, category_axis, mean_point, printed
from lanlab.figures.published_values import levels_text
from lanlab.figures.station_curves import NamedCurve, named_curves
from lanlab.figures.wording import Quantity, condition_text, quantity
from lanlab.studies import Published, Study

_SIZE = "message_size_bytes"
_SAID = (
    "The greatest mean over the numbers of stations that were measured; being the greatest of "
    "several it is partly the luckiest."
)


def greatest_throughput_bars(data: FigureData) -> Chart:
    shown = quantity(data.study, "goodput_bps")
    # The axis shows the size, so the names need not.
    unnamed = data.figure.model_copy(update={"at": {**data.figure.at, _SIZE: 0}})
    curves = [
        each
        for each in named_curves(data.with_figure(unnamed))
        if each.curve.message_size_bytes is not None
    ]
    sizes = sorted({size for each in curves if (size := each.curve.message_size_bytes)})
    groups: dict[str, list[Point]] = {}
    for each in sorted(curves, key=lambda each: each.curve.message_size_bytes or 0):
        groups.setdefault(each.name, []).append(_point(each, sizes, shown, data.study))
    return data.chart(
        category_axis(data.study, data.published, _SIZE, sizes),
        "goodput_bps",
        [Series(name, tuple(points), "bars") for name, points in groups.items()],
        _SAID,
        published=_printed(data.published, sizes, shown),
    )


def _point(each: NamedCurve, sizes: Sequence[int], shown: Quantity, study: Study) -> Point:
    from lanlab.analysis.stations import greatest_throughput

    size = each.curve.message_size_bytes
    assert size is not None
    found = greatest_throughput(each.curve)
    best = next(level for level in each.curve.levels if level.stations == found.stations)
    goodputs = [8 * size * rate for rate in best.operations_per_s]
    mean, ends = math.fsum(goodputs) / len(goodputs), interval_of_mean("goodput_bps", goodputs)
    levels = condition_text(study, {**each.curve.factors, "stations": found.stations})
    return mean_point(float(sizes.index(size)), shown, mean, ends, goodputs, levels)


def _printed(
    published: Published, sizes: Sequence[int], shown: Quantity
) -> tuple[PublishedSeries, ...]:
    found: dict[str, list[PublishedMark]] = {}
    for value in published.value:
        size = value.condition.get(_SIZE)
        if (value.metric, value.statistic, value.kind) != ("goodput_bps", "maximum", "text"):
            continue
        if isinstance(size, int) and size in sizes:
            rest = [key for key in value.condition if key != _SIZE]
            name = levels_text(published, value.condition, rest)
            mark = PublishedMark(float(sizes.index(size)), shown.shown(value.si), printed(value))
            found.setdefault(name, []).append(mark)
    return tuple(PublishedSeries(name, tuple(marks)) for name, marks in found.items())
