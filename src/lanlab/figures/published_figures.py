"""All figures of what a study published, in order."""

from __future__ import annotations

from collections.abc import Callable

from lanlab.figures.operational_bounds import bound_figures
from lanlab.figures.published_tables import PublishedFigure, table_figures
from lanlab.figures.published_text import text_figures
from lanlab.studies import Published, Study

PUBLISHED_FIGURES: tuple[Callable[[Study, Published], list[PublishedFigure]], ...] = (
    table_figures,
    text_figures,
    bound_figures,
)


def published_figures(study: Study, published: Published) -> list[PublishedFigure]:
    """Every figure of a study's published values; empty if it published none."""
    return [figure for draw in PUBLISHED_FIGURES for figure in draw(study, published)]
