"""Several charts together: the same style for the same series on a page, and runs in one chart."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from lanlab.figures.chart import Chart, PublishedSeries, Series


def with_page_styles(charts: Sequence[Chart]) -> list[Chart]:
    """
    The charts of a page with a style for each name of a series: the first that no other series in
    the same charts has. Stacks and cells have their own styles.
    """
    drawn = [[one.name for one in chart.series if _has_no_style(one)] for chart in charts]
    styles: dict[str, int] = {}
    for name in dict.fromkeys(itertools.chain.from_iterable(drawn)):
        taken = {styles.get(other) for names in drawn if name in names for other in names}
        styles[name] = next(style for style in itertools.count() if style not in taken)
    return [
        replace(
            chart,
            series=tuple(
                replace(one, style=styles[one.name]) if _has_no_style(one) else one
                for one in chart.series
            ),
        )
        for chart in charts
    ]


def _has_no_style(series: Series) -> bool:
    return series.style is None and series.kind not in ("stack", "cells")


#: Kinds of series that stay readable when overlaid.
_KINDS = ("line", "points")


def overlaid(charts: Sequence[tuple[str, Chart]]) -> Chart | None:
    """
    One figure made from several, with the run in the name of each series.

    Returns:
        `None` if their axes differ, or they cannot be overlaid.
    """
    (_, first), *others = charts
    kinds = {series.kind for _, chart in charts for series in chart.series}
    if not others or not kinds <= set(_KINDS) or any(chart.is_empty for _, chart in charts):
        return None
    for _, chart in others:
        if (chart.x, chart.y, chart.sideways) != (first.x, first.y, first.sideways):
            return None
    # All figures have the same published values; only the names may differ.
    published: dict[object, PublishedSeries] = {}
    for _, chart in charts:
        for one in chart.published:
            published.setdefault(tuple((mark.x, mark.y) for mark in one.marks), one)
    return replace(
        first,
        series=tuple(
            replace(
                series,
                name=name if len(chart.series) == 1 else f"{series.name}, {name}",
                # The page assigns the styles again.
                style=None,
            )
            for name, chart in charts
            for series in chart.series
        ),
        published=tuple(published.values()),
        caption=" ".join(f"{name[0].upper()}{name[1:]}: {chart.caption}" for name, chart in charts),
    )
