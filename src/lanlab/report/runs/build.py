"""Writes a report: an offline page, with figures and tables as files next to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lanlab.figures.drawing import other_processes
from lanlab.frozen import dataclass
from lanlab.report.exports.bibtex import REFERENCES, bibtex
from lanlab.report.page.own_files import check_folder, write_folder
from lanlab.report.page.rendering import rendered
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.shape import reading_records

if TYPE_CHECKING:
    from lanlab.analysis.trials.run_data import RunData
    from lanlab.report.runs.overview import Overview

_PAGE = "report.html"
#: Page that lists the files of a report of several runs.
_LIST = "files.html"


@dataclass(frozen=True)
class ReportPaths:
    html: Path
    figures: tuple[Path, ...]
    tables: tuple[Path, ...]
    overviews: tuple[Overview, ...]


def build_report(
    runs: Sequence[tuple[RunRecord, list[TrialRecord]]],
    out_dir: Path,
    others: Sequence[RunData] | None = None,
    answer: str = "",
) -> ReportPaths:
    """
    Write `report.html`, `figures/` and `tables/` into a folder atomically. An earlier report of
    lanlab's is replaced; other files stay.

    Args:
        runs: Runs with all their trials, in the order of the page.
        others: For a report of one run, runs of the same study on the other kind of testbed, whose
            answers it states.
        answer: A sentence above all runs.

    Raises:
        UsageError: A user's file is in the way; nothing was written.
        StoreError: The report cannot be written, or the records are malformed. Earlier files are
            still there.
    """
    check_report_folder(out_dir)
    with other_processes(), reading_records(", ".join(run.id for run, _ in runs)):
        files, overviews = _files(runs, others, answer)
    # Write the page last, so that it never links to missing files.
    page = files.pop(_PAGE)
    write_folder({**files, _PAGE: page}, out_dir)
    paths = [out_dir / name for name in sorted(files)]
    return ReportPaths(
        html=out_dir / _PAGE,
        figures=tuple(path for path in paths if path.parent.name == "figures"),
        tables=tuple(path for path in paths if path.parent.name == "tables"),
        overviews=overviews,
    )


def check_report_folder(out_dir: Path) -> None:
    """
    Refuse a folder that cannot contain a report, before a run is made for it.

    Raises:
        UsageError: It is not a folder, or a user's file has the name of a report's file.
        StoreError: It cannot be read.
    """
    check_folder((_PAGE, _LIST, REFERENCES, "figures/figure", "tables/table"), out_dir)


def _files(
    runs: Sequence[tuple[RunRecord, list[TrialRecord]]],
    others: Sequence[RunData] | None,
    answer: str,
) -> tuple[dict[str, bytes], tuple[Overview, ...]]:
    from lanlab.analysis.trials.run_data import RunData
    from lanlab.report.runs.overview import with_overviews
    from lanlab.report.runs.run_page import run_on_page

    pages = []
    styles: dict[str, int] = {}
    for place, (run, trials) in enumerate(runs, 1):
        study_name = re.sub(r"[^a-z0-9-]", "", run.study_id) or "run"
        ids = [other.study_id for other, _ in runs]
        # A number distinguishes runs of one study.
        name = study_name if ids.count(run.study_id) == 1 else f"{study_name}-{place}"
        pages.append(run_on_page(RunData(run, trials), name, others, styles))
    pages, overviews = with_overviews(pages)
    html = rendered("report", has_files=True, pages=pages, overviews=overviews, answer=answer)
    files = {_PAGE: html.encode()}
    if len(pages) > 1:
        files[_LIST] = rendered("files", has_files=True, pages=pages).encode()
    files[REFERENCES] = bibtex(page.study for page in pages).encode()
    joint = [one.figure for one in overviews.values() if one.figure is not None]
    figures = [*joint, *(figure for page in pages for figure in page.all_figures)]
    for figure in {figure.name: figure for figure in figures}.values():
        for ending, content in figure.files().items():
            files[f"figures/{figure.name}{ending}"] = content
        files[f"tables/{figure.name}.csv"] = figure.table.to_csv().encode()
    for page in pages:
        for table in page.tables:
            files[f"tables/{page.csv_name(table)}"] = table.to_csv().encode()
    return files, tuple(overviews.values())
