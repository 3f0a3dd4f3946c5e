"""`lanlab tour`: lanlab's main use in one command."""

from __future__ import annotations

import itertools

import typer

from lanlab.cli.options import shared as options
from lanlab.cli.terminal.remarks import answer, deliver, print_json, talk, typed_command

_SIMULATED = "simulated"
_STUDIES = ("milanovic-srbljic", "manford-kolahi")


def tour(
    scale: options.ScaleOption = "quick",
    testbed: options.TestbedOption = options.DEFAULT_TESTBED,
    out: options.OutOption = None,
    seed: options.SeedOption = None,
    store: options.StoreOption = None,
    verbose: options.VerboseOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Measure and simulate two published studies, and check their findings.

    Example: lanlab tour
    """
    from lanlab.cli.results.printing import run_as_json, warn_of_disturbances
    from lanlab.cli.running.watch import RunWatch
    from lanlab.report.runs.build import build_report, check_report_folder
    from lanlab.run import RunRequest, new_run
    from lanlab.store import open_store
    from lanlab.store.place import results_folder
    from lanlab.studies.load import load_study

    folder = options.path_of(out) or results_folder(store) / "tour"
    check_report_folder(folder)
    done = []
    with open_store(store) as records:
        for name, bed in itertools.product(_STUDIES, (testbed, _SIMULATED)):
            study = load_study(name).study
            request = RunRequest(study, scale, bed, None, seed, command=typed_command())
            with RunWatch() as watch:
                run = new_run(request, records, watch)
            trials = records.trials(run.id)
            done.append((run, trials))
            warn_of_disturbances(trials, verbose=verbose, summary=as_json)
    paths = build_report(done, folder)
    found = [overview.document for overview in paths.overviews]
    if as_json:
        said = [sentence for one in found for sentence in one.sentences]
        runs = [run_as_json(*one) for one in done]
        print_json({"answer": said, "runs": runs, "html": str(paths.html)})
    else:
        for one in found:
            deliver(one)
            answer().print()
        talk().print("report (figures and tables are in the same folder):")
        typer.echo(paths.html)
    if any(run.status != "done" for run, _ in done):
        raise typer.Exit(1)
