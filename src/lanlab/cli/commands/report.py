"""`lanlab report`: a run as one page, with figures and tables."""

from __future__ import annotations

import gc

import typer

from lanlab.cli.options.shared import JsonOption, OutOption, RunsArgument, StoreOption, path_of
from lanlab.cli.terminal.remarks import print_json, talk


def report(
    runs: RunsArgument,
    out: OutOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a report of runs: one HTML page, figures and tables.

    The page opens offline. Figures are SVG, PDF and PNG, tables CSV.

    Example: lanlab report last --out my-report
    """
    from lanlab.figures.drawing import other_processes
    from lanlab.figures.number_text import counted
    from lanlab.report.runs.stored import other_kind_in, run_to_show, trials_for_page
    from lanlab.store import open_store
    from lanlab.store.place import results_folder

    # Records are not garbage.
    gc.disable()
    named = path_of(out)
    with open_store(store) as records:
        found = [run_to_show(records, name) for name in runs]
        # The drawing libraries are imported while this process imports its own and reads records.
        with other_processes():
            from lanlab.report.runs.build import build_report

            read = [(run, trials_for_page(records, run.id)) for run in found]
            folder = named or results_folder(store) / (found[0].id if len(found) == 1 else "report")
            others = other_kind_in(records, found[0]) if len(found) == 1 else None
            paths = build_report(read, folder, others)
    if as_json:
        drawn, written = ([*map(str, own)] for own in (paths.figures, paths.tables))
        print_json({"html": str(paths.html), "figures": drawn, "tables": written})
        return
    figures = {path.stem for path in paths.figures}
    talk().print(
        f"{counted(len(figures), 'figure')} and {counted(len(paths.tables), 'table')} in {folder}"
    )
    typer.echo(paths.html)
