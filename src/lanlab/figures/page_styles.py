"""Assigns a style to each series of a page, so that a series looks the same in all figures."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from lanlab.figures.chart import Chart, Series


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
