"""`lanlab tour`: the main thing, once, with one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lanlab.cli.options import (
    DEFAULT_TESTBED,
    JsonOption,
    ScaleOption,
    SeedOption,
    StoreOption,
    TestbedOption,
    VerboseOption,
)

_STUDIES = ("milanovic-srbljic", "manford-kolahi")


def tour(
    scale: ScaleOption = "quick",
    testbed: TestbedOption = DEFAULT_TESTBED,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Where to write. Default: beside the store."),
    ] = None,
    seed: SeedOption = None,
    store: StoreOption = None,
    verbose: VerboseOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run two published studies here and lay the results beside what was published.

    Example: lanlab tour
    """
    from lanlab.cli.disturbances import warn
    from lanlab.cli.results import print_run, run_as_json
    from lanlab.cli.terminal import print_json, talk
    from lanlab.cli.typed import typed_command
    from lanlab.cli.watch import RunWatch
    from lanlab.report.build import build_report
    from lanlab.run import RunRequest, new_run
    from lanlab.store import open_store
    from lanlab.store.place import results_folder
    from lanlab.studies import load_study

    done = []
    with open_store(store) as records:
        for name in _STUDIES:
            request = RunRequest(
                load_study(name).study, scale, testbed, None, seed, typed_command()
            )
            with RunWatch() as watch:
                run = new_run(request, records, watch)
            trials = records.trials(run.id)
            done.append((run, trials))
            if not as_json:
                print_run(run, trials, as_json=False)
            warn(trials, verbose=verbose, summary=as_json)
    paths = build_report(done, out or results_folder(store) / "tour")
    if as_json:
        print_json({"runs": [run_as_json(*one) for one in done], "html": str(paths.html)})
    else:
        talk().print("report, with figures and tables beside it:")
        typer.echo(paths.html)
    if any(run.status != "done" for run, _ in done):
        raise typer.Exit(1)
