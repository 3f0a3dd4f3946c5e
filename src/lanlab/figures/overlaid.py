"""Figures of several runs laid over each other, where they have the same axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lanlab.figures.chart import Chart

#: Kinds of series that can be read where others lie over them.
_KINDS = ("line", "points")


def overlaid(charts: Sequence[tuple[str, Chart]]) -> Chart | None:
    """
    One figure of several, with the series of each named for it.

    Args:
        charts: What each is of, and its figure.

    Returns:
        `None` if they have not the same axes, or cannot be read over each other.
    """
    (_, first), *others = charts
    kinds = {series.kind for _, chart in charts for series in chart.series}
    if not others or not kinds <= set(_KINDS) or any(chart.is_empty for _, chart in charts):
        return None
    for _, chart in others:
        if (chart.x, chart.y, chart.sideways) != (first.x, first.y, first.sideways):
            return None
    # What is published is the same in all; a name of its own may say more or less of it.
    published = {
        tuple((mark.x, mark.y) for mark in one.marks): one
        for _, chart in reversed(charts)
        for one in chart.published
    }
    return replace(
        first,
        series=tuple(
            replace(
                series,
                name=name if len(chart.series) == 1 else f"{series.name}, {name}",
                # Of the page of its run.
                style=None,
            )
            for name, chart in charts
            for series in chart.series
        ),
        published=tuple(reversed(published.values())),
        caption=" ".join(f"{name[0].upper()}{name[1:]}: {chart.caption}" for name, chart in charts),
    )
