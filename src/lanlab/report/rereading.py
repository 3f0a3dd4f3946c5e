"""*Reading the published data again*: a study's printed numbers held against themselves."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.rereading_doubts import doubts
from lanlab.analysis.rereading_order import order_drifts
from lanlab.analysis.rereading_pairs import printed_pairs
from lanlab.analysis.rereading_rates import checked_rates
from lanlab.analysis.summary import Summary
from lanlab.figures.published_figures import published_figures
from lanlab.figures.published_tables import with_measured
from lanlab.frozen import dataclass
from lanlab.report.figure_page import FigureOnPage, figure_on_page
from lanlab.report.rereading_table import (
    doubt_table,
    drift_table,
    pair_table,
    rate_table,
)
from lanlab.report.rereading_text import (
    clock_sentences,
    drift_sentences,
    pair_sentences,
    rate_sentences,
    unit_sentences,
)
from lanlab.report.table import Table
from lanlab.studies import Published, Study


@dataclass(frozen=True)
class RereadSection:
    """One question that is asked of the printed numbers."""

    title: str
    sentences: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    figures: tuple[FigureOnPage, ...] = ()


@dataclass(frozen=True)
class Rereading:
    """The chapter; without sections where a study published nothing."""

    sections: tuple[RereadSection, ...]

    @property
    def figures(self) -> tuple[FigureOnPage, ...]:
        """Every figure of the chapter."""
        return tuple(figure for section in self.sections for figure in section.figures)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Every table of the chapter that has rows."""
        own = (table for section in self.sections for table in section.tables)
        return tuple(table for table in own if table.rows)


def rereading(
    study: Study,
    published: Published,
    name: str,
    measured: Sequence[Summary] | None = None,
) -> Rereading:
    """
    The chapter, computed from the printed numbers.

    Args:
        study: Whose names and units are used.
        published: What it printed.
        name: Put before names of figures, so that they are unique on a page.
        measured: Conditions of a run of the study, every metric: what was measured is marked in the
            figures, and those with nothing to mark are left out. `None`: all are drawn.
    """
    drifts, pairs = order_drifts(published), printed_pairs(published)
    rates, doubted = checked_rates(published), doubts(published)
    sections = [
        RereadSection(
            "Whether trials drift with their order",
            tuple(drift_sentences(study, published, drifts, pairs)),
            (drift_table(study, published, drifts),),
        ),
        RereadSection(
            "Which orders of means are shown, and which are not",
            (*pair_sentences(study, published, pairs), *clock_sentences(study, published)),
            (pair_table(study, published, pairs),),
        ),
        RereadSection(
            "Whether rates follow from amounts and times",
            tuple(rate_sentences(published, rates)),
            (rate_table(study, published, rates),),
        ),
        RereadSection("Units", tuple(unit_sentences(doubted))),
        RereadSection("What does not fit", (), (doubt_table(doubted),)),
        RereadSection(
            "The published numbers, drawn", (), (), _figures(study, published, name, measured)
        ),
    ]
    return Rereading(tuple(one for one in sections if _has_something(one)))


def _figures(
    study: Study, published: Published, name: str, measured: Sequence[Summary] | None
) -> tuple[FigureOnPage, ...]:
    found = []
    for figure in published_figures(study, published):
        chart = with_measured(figure, study, measured or ())
        if measured is not None and chart is figure.chart:
            continue
        found.append(figure_on_page(chart, "", f"{name}-published-{figure.name}"))
    return tuple(found)


def _has_something(section: RereadSection) -> bool:
    return bool(section.sentences or section.figures or any(table.rows for table in section.tables))
