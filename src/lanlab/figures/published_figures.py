"""All figures of what a study published, in order."""

from __future__ import annotations

from lanlab.figures.published_tables import PublishedFigure, table_figures
from lanlab.figures.published_text import text_figures
from lanlab.studies import Published, Study


def published_figures(study: Study, published: Published) -> list[PublishedFigure]:
    """Every figure of a study's published values; empty if it published none."""
    return [*table_figures(study, published), *text_figures(study, published)]
