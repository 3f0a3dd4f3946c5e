"""Omits limits far above the data, because drawing them would compress the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lanlab.figures.chart import Chart, Limit
from lanlab.figures.number_text import number

#: On a linear axis that is longer than the data by this factor, differences are invisible.
_FAR = 8.0


def without_far_limits(chart: Chart) -> Chart:
    """The chart without limits that would compress the data; its caption names them."""
    heights = [y for one in chart.series for p in one.points for y in (p.y, *p.trials)]
    heights += [mark.y for one in chart.published for mark in one.marks]
    top = max(heights, default=0.0)
    if chart.y.logarithmic or chart.y.ends is not None or top <= 0:
        return chart
    far = [one for one in chart.limits if _least(one) > _FAR * top]
    if not far:
        return chart
    levels: dict[str, list[Limit]] = {}
    for one in far:
        levels.setdefault(f"{number(_least(one))} {chart.y.unit}".strip(), []).append(one)
    said = ", ".join(_text(own, height) for height, own in levels.items())
    return replace(
        chart,
        limits=tuple(one for one in chart.limits if one not in far),
        caption=f"{chart.caption} Too far above to be drawn: {said}.".strip(),
    )


def _least(limit: Limit) -> float:
    return min((y for _, y in limit.points), default=0.0)


def _text(limits: Sequence[Limit], height: str) -> str:
    named = [limit.name.split(", ") for limit in limits]
    name = ", ".join(word for word in named[0] if all(word in words for words in named))
    return name if height in name else f"{name} ({height})"
