"""A study's published values, drawn, as a page or as files."""

from __future__ import annotations

from lanlab.figures.published_figures import published_figures
from lanlab.report.page.rendering import rendered
from lanlab.report.published.published_chapter import published_chapter
from lanlab.studies import LoadedStudy


def study_page(loaded: LoadedStudy) -> str:
    """One offline page with the chapter *Reading the published data again*."""
    chapter = published_chapter(loaded.study, loaded.published, loaded.study.id)
    return rendered("study", study=loaded.study, chapter=chapter)


def figure_files(loaded: LoadedStudy) -> dict[str, bytes]:
    from lanlab.figures.render_matplotlib import to_files

    files = {}
    for figure in published_figures(loaded.study, loaded.published):
        for ending, content in to_files(figure.chart).items():
            files[f"{loaded.study.id}-{figure.name}{ending}"] = content
    return files
