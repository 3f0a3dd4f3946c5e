"""`lanlab tour`: the main thing, once, with one command."""

from __future__ import annotations

import typer

from lanlab.cli.options import (
    DEFAULT_TESTBED,
    JsonOption,
    OutOption,
    ScaleOption,
    SeedOption,
    StoreOption,
    TestbedOption,
    VerboseOption,
    path_of,
)

_STUDIES = ("milanovic-srbljic", "manford-kolahi")


def tour(
    scale: ScaleOption = "quick",
    testbed: TestbedOption = DEFAULT_TESTBED,
    out: OutOption = None,
    seed: SeedOption = None,
    store: StoreOption = None,
    verbose: VerboseOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run two published studies here and compare the results with the published values.

    Example: lanlab tour
    """
    from lanlab.cli.disturbances import warn
    from lanlab.cli.results import print_run, run_as_json
    from lanlab.cli.terminal import print_json, talk
    from lanlab.cli.typed import typed_command
    from lanlab.cli.watch import RunWatch
    from lanlab.report.build import build_report, check_report_folder
    from lanlab.run import RunRequest, new_run
    from lanlab.store import open_store
    from lanlab.store.place import results_folder
    from lanlab.studies import load_study

    folder = path_of(out) or results_folder(store) / "tour"
    check_report_folder(folder)
    done = []
    with open_store(store) as records:
        for name in _STUDIES:
            request = RunRequest(
                load_study(name).study, scale, testbed, None, seed, command=typed_command()
            )
            with RunWatch() as watch:
                run = new_run(request, records, watch)
            trials = records.trials(run.id)
            done.append((run, trials))
            if not as_json:
                print_run(run, trials, as_json=False)
            warn(trials, verbose=verbose, summary=as_json)
    paths = build_report(done, folder)
    if as_json:
        print_json({"runs": [run_as_json(*one) for one in done], "html": str(paths.html)})
    else:
        talk().print("report (figures and tables are in the same folder):")
        typer.echo(paths.html)
    if any(run.status != "done" for run, _ in done):
        raise typer.Exit(1)
