"""Write a report: one page that opens offline, and beside it figures and tables as files."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lanlab.errors import StoreError
from lanlab.report.rendering import rendered
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.shape import reading_records


@dataclass(frozen=True)
class ReportPaths:
    """Where a report was written."""

    html: Path
    figures: tuple[Path, ...]
    tables: tuple[Path, ...]


def build_report(runs: Sequence[tuple[RunRecord, list[TrialRecord]]], out_dir: Path) -> ReportPaths:
    """
    Write `report.html`, `figures/` and `tables/` into a folder, whole or not at all. A report that
    is there already is replaced; other files of the folder stay.

    Args:
        runs: Runs with all their trials, in the order of the page.
        out_dir: Made if it is not there.

    Raises:
        StoreError: It cannot be written, or the records are not as lanlab writes them. What was
            there before is still there.
    """
    with reading_records(", ".join(run.id for run, _ in runs)):
        files = _files(runs)
    try:
        _write(files, out_dir)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(
            f"the report could not be written to {out_dir}: {reason}",
            hint="free some room, or name another folder with --out",
        ) from error
    paths = [out_dir / name for name in sorted(files)]
    return ReportPaths(
        html=out_dir / "report.html",
        figures=tuple(path for path in paths if path.parent.name == "figures"),
        tables=tuple(path for path in paths if path.parent.name == "tables"),
    )


def _files(runs: Sequence[tuple[RunRecord, list[TrialRecord]]]) -> dict[str, bytes]:
    """The content of every file, by its path in the report."""
    from lanlab.figures.render_matplotlib import to_bytes
    from lanlab.report.answer import published_numbers
    from lanlab.report.page import run_on_page

    pages = []
    for place, (run, trials) in enumerate(runs, 1):
        study_name = re.sub(r"[^a-z0-9-]", "", run.study_id) or "run"
        ids = [other.study_id for other, _ in runs]
        # The run's place tells apart runs of one study.
        name = study_name if ids.count(run.study_id) == 1 else f"{study_name}-{place}"
        pages.append(run_on_page(run, trials, published_numbers(run), name))
    files = {"report.html": rendered("report", pages=pages, has_files=True).encode()}
    for page in pages:
        drawn = [figure for experiment in page.experiments for figure in experiment.figures]
        for figure in (*drawn, *page.rereading.figures):
            files[f"figures/{figure.name}.svg"] = to_bytes(figure.chart, "svg")
            files[f"figures/{figure.name}.pdf"] = to_bytes(figure.chart, "pdf")
        for table in page.tables:
            file_name = (
                table.name if table.name.startswith(page.name) else f"{page.name}-{table.name}"
            )
            files[f"tables/{file_name}.csv"] = table.to_csv().encode()
    return files


def _write(files: dict[str, bytes], out_dir: Path) -> None:
    """Write beside the folder first, then move: a full disk leaves the old report as it was."""
    out_dir.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{out_dir.name}-", dir=out_dir.parent))
    try:
        for name, content in files.items():
            path = made / name
            path.parent.mkdir(exist_ok=True)
            with path.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        out_dir.mkdir(exist_ok=True)
        for name in ("figures", "tables"):
            if (made / name).is_dir():
                _replace_folder(made / name, out_dir / name, made / f"old-{name}")
        # The page last: as long as it is the old one, it links to nothing that is not there.
        (made / "report.html").replace(out_dir / "report.html")
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _replace_folder(new: Path, place: Path, aside: Path) -> None:
    if place.exists():
        place.rename(aside)
    new.rename(place)
