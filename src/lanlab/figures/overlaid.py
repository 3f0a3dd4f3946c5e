"""Overlays figures of several runs if they have the same axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lanlab.figures.chart import Chart, PublishedSeries

#: Kinds of series that stay readable when overlaid.
_KINDS = ("line", "points")


def overlaid(charts: Sequence[tuple[str, Chart]]) -> Chart | None:
    """
    One figure made from several, with the run in the name of each series.

    Args:
        charts: The name of each run, and its figure.

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
