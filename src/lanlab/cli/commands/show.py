"""`lanlab show`: a study and its published values; or the results of a run."""

from __future__ import annotations

import gc
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lanlab.cli.options import complete
from lanlab.cli.options.shared import JsonOption, StoreOption, argument, option, path_of
from lanlab.cli.terminal.remarks import deliver, say
from lanlab.errors import LabError, UnknownName, UsageError

if TYPE_CHECKING:
    from lanlab.studies.load import LoadedStudy

_RUN = re.compile(r"last|[0-9]{8}[-0-9a-z]*")


def show(
    study: str = argument(
        "STUDY|RUN", "Study name or file, run id, or `last`.", ..., autocompletion=complete.studies
    ),
    only: str | None = option(
        "--only",
        "SECTIONS",
        "Sections to show, comma-separated: scales, testbed, experiments, factors, "
        "tables, numbers, figures, lost, findings, discrepancies, machines.",
    ),
    figures: str | None = option(
        "--figures", "FOLDER", "Also draw the published values as SVG, PDF and PNG in this folder."
    ),
    report: str | None = option(
        "--report",
        "FILE",
        "Also write an HTML page of the published values, with analyses and figures.",
    ),
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a study, or the results of a run.

    For a study, shows its factors, metrics and published values. Values outside the tables follow
    them; `--only numbers` lists all values. --json always includes everything.

    Examples: lanlab show milanovic-srbljic;
    lanlab show schomer-claason --only tables,findings;
    lanlab show schomer-claason --figures drawn --report again.html;
    lanlab show last
    """
    of_studies = {"--only": only, "--figures": figures, "--report": report}
    if _RUN.fullmatch(study):
        _show_run(study, store, as_json, of_studies)
        return
    from lanlab.cli.results import study_text
    from lanlab.figures.registry import check_figures
    from lanlab.plan.plan import Plan
    from lanlab.store import open_store
    from lanlab.studies.load import load_study
    from lanlab.testbeds.link import parse_link

    study_text.chosen(only)
    try:
        loaded = load_study(study)
    except UnknownName as unknown:
        try:
            with open_store(store) as records:
                name = records.run(study).id
        except LabError:
            hint = f"{unknown.hint} (`lanlab runs` lists the runs)"
            raise UsageError(f"no study or run named `{study}`", hint=hint) from None
        _show_run(name, store, as_json, of_studies)
        return
    check_figures(loaded.study)
    link_rate_bps = parse_link(loaded.study.testbed.link).rate_bps
    estimates = {
        name: Plan(loaded.study, name, seed=0).estimate(link_rate_bps=link_rate_bps)
        for name in loaded.study.scale
    }
    if figures is not None or report is not None:
        _write(loaded, path_of(figures), path_of(report))
    deliver(study_text.study_document(loaded, estimates, only, as_json=as_json), as_json)


def _show_run(
    name: str, store: str | None, as_json: bool, of_studies: Mapping[str, object]
) -> None:
    """Print a stored run as it was printed when it ended."""
    from lanlab.cli.results.printing import print_run
    from lanlab.report.runs.stored import run_to_show
    from lanlab.store import open_store

    for name_, value in of_studies.items():
        if value is not None:
            raise UsageError(
                f"{name_} is for studies; `{name}` is a run",
                hint=f"`lanlab report {name}` draws the figures of a run",
            )
    # Records are not garbage. Looking for it takes a tenth of the time to show a large run.
    gc.disable()
    with open_store(store) as records:
        run = run_to_show(records, name)
        print_run(run, records.trials(run.id), as_json, records)


def _write(loaded: LoadedStudy, figures: Path | None, report: Path | None) -> None:
    """Write the published values as figures and as a page.

    Raises:
        StoreError: A file cannot be written.
    """
    from lanlab.report.exports.bibtex import REFERENCES, bibtex
    from lanlab.report.page.own_files import write_file, write_folder
    from lanlab.report.published.published_chapter import figure_files, study_page

    if not loaded.published.value:
        raise UsageError(
            f"study `{loaded.study.id}` has no published values to draw",
            hint="add them to a published.toml next to its study.toml",
        )
    if figures is not None:
        files = figure_files(loaded)
        write_folder({**files, REFERENCES: bibtex([loaded.study]).encode()}, figures)
        say(f"wrote {len({Path(name).stem for name in files})} figures to {figures}")
    if report is not None:
        write_file(study_page(loaded), report)
        say(f"wrote {report}")
