"""Figures: tables in, figures out."""

from lanlab.figures.chart import Chart
from lanlab.figures.registry import FIGURES, build_figure

__all__ = ["FIGURES", "Chart", "build_figure"]
