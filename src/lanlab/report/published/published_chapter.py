"""A study's published values, drawn: as a chapter of a run's page, as a page, or as files."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.published.discrepancies import Checked, checked_discrepancies
from lanlab.analysis.trials.summary import Summary
from lanlab.figures.finishing import with_page_styles
from lanlab.figures.published import published_figures, with_measured
from lanlab.figures.render_matplotlib import to_files
from lanlab.frozen import dataclass
from lanlab.report.document.table import Cell, Column, Table, words
from lanlab.report.page.figure_page import FigureOnPage, figure_on_page
from lanlab.report.page.rendering import rendered
from lanlab.studies.load import LoadedStudy
from lanlab.studies.model import Study
from lanlab.studies.published import Published


@dataclass(frozen=True)
class PublishedChapter:
    tables: tuple[Table, ...] = ()
    figures: tuple[FigureOnPage, ...] = ()


def published_chapter(
    study: Study,
    published: Published,
    name: str,
    styles: dict[str, int],
    measured: Sequence[Summary] | None = None,
) -> PublishedChapter:
    """
    The chapter, computed from the published values.

    Args:
        name: Prefix for names of figures, so that they are unique on the page.
        styles: As for `with_page_styles`.
        measured: Conditions of a run of the study, every metric. Measured values are marked in the
            figures, and figures without any are omitted. `None`: all figures are drawn.
    """
    table = discrepancy_table(checked_discrepancies(published))
    figures = published_figures(study, published)
    drawn = [(one.name, with_measured(one, study, published, measured or ())) for one in figures]
    if measured is not None:
        drawn = [two for one, two in zip(figures, drawn, strict=True) if two[1] is not one.chart]
    charts = with_page_styles([chart for _, chart in drawn], styles)
    return PublishedChapter(
        (table,) if table.rows else (),
        tuple(
            figure_on_page(chart, "", f"{name}-published-{of}")
            for (of, _), chart in zip(drawn, charts, strict=True)
        ),
    )


def discrepancy_table(found: Sequence[Checked]) -> Table:
    headings = ("id", "kind", "severity", "where", "the study says", "but", "correct")
    shown_by = "the published values show it"
    columns = (
        *(Column(name, name, is_number=False) for name in headings),
        Column(shown_by, shown_by, is_number=False),
    )
    rows = []
    for checked in found:
        one = checked.discrepancy
        texts = (one.id, one.kind, one.severity, one.where, one.stated, one.evidence)
        shown = {True: "yes", False: "no", None: "nothing to compute"}[checked.shown]
        rows.append((*map(words, texts), words(one.correct or ""), Cell(checked.shown, shown)))
    title = "Places where the study contradicts itself"
    return Table("published-discrepancies", title, columns, tuple(rows))


def study_page(loaded: LoadedStudy) -> str:
    """One offline page with the chapter *Reading the published data again*."""
    chapter = published_chapter(loaded.study, loaded.published, loaded.study.id, {})
    return rendered("study", study=loaded.study, chapter=chapter)


def figure_files(loaded: LoadedStudy) -> dict[str, bytes]:
    files = {}
    for figure in published_figures(loaded.study, loaded.published):
        for ending, content in to_files(figure.chart).items():
            files[f"{loaded.study.id}-{figure.name}{ending}"] = content
    return files
