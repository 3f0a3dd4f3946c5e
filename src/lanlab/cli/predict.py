"""`lanlab predict`: what a change of a study's machines would do."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from lanlab.cli.options import (
    JsonOption,
    LinkOption,
    ScaleOption,
    SeedOption,
    StoreOption,
    StudyArgument,
    path_of,
)
from lanlab.errors import UsageError

if TYPE_CHECKING:
    from lanlab.store import RunRecord, TrialRecord


def predict(
    study: StudyArgument,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Number of a machine to change, e.g. machine.486dx2-nt4.interrupt_us=100. Repeat "
            "it for several.",
        ),
    ] = None,
    changes_file: Annotated[
        str | None,
        typer.Option(
            "--changes",
            metavar="FILE",
            help="TOML file of changes: a table [machine.NAME] for each machine, with its numbers.",
        ),
    ] = None,
    changed_link: Annotated[
        str | None,
        typer.Option(
            "--changed-link",
            metavar="LINK",
            help="Link on the changed side, e.g. 100M. Default: the same on both sides.",
        ),
    ] = None,
    scale: ScaleOption = "quick",
    link: LinkOption = None,
    seed: SeedOption = None,
    report: Annotated[
        str | None,
        typer.Option("--report", metavar="FOLDER", help="Also write a report with figures here."),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Simulate a study on its machines, and once more with some of their numbers changed.

    Prints the same conditions side by side, with what limits each (wire, processor, ring) and every
    assumption. Both runs are saved. `lanlab show STUDY --only machines` lists the numbers.

    Examples: lanlab predict milanovic-srbljic --set machine.486dx2-nt4.interrupt_us=100;
    lanlab predict milanovic-srbljic --set machine.486dx2-nt4.clock_mhz=33;
    lanlab predict manford-kolahi --changed-link 1G --json
    """
    from lanlab.cli.run_series import as_recorded
    from lanlab.cli.terminal import answer, print_json
    from lanlab.cli.typed import typed_command
    from lanlab.cli.watch import RunWatch
    from lanlab.report.build import build_report, check_report_folder
    from lanlab.report.fitted import Fitted
    from lanlab.report.prediction_table import (
        prediction_error_sentence,
        prediction_tables,
        predictions,
    )
    from lanlab.run import RunRequest, new_run
    from lanlab.store import open_store
    from lanlab.studies import load_study
    from lanlab.studies.what_if import affected, changed_study, parse_change, read_changes
    from lanlab.studies.whereabouts import study_on

    changes = [parse_change(text) for text in settings or []]
    path = path_of(changes_file)
    if path is not None:
        changes += read_changes(path)
    if not changes and changed_link is None:
        raise UsageError(
            "nothing is changed; give --set, --changes or --changed-link",
            hint="`lanlab show STUDY --only machines` lists what can be changed",
        )
    chosen = study_on(as_recorded(load_study(study)), "simulated")
    if changes:
        # First, as it knows the names.
        changed_study(chosen, changes)
        chosen = affected(chosen, changes)
    changed, assumed = changed_study(chosen, changes)
    if changed_link is not None:
        assumed.append(f"link: {link or chosen.testbed.link} \N{RIGHTWARDS ARROW} {changed_link}")
    folder = path_of(report)
    if folder is not None:
        check_report_folder(folder)
    both: list[tuple[RunRecord, list[TrialRecord]]] = []
    with open_store(store) as records:
        for one, on_link in ((chosen, link), (changed, changed_link or link)):
            with RunWatch() as watch:
                command = typed_command()
                own_seed = both[0][0].seed if both else seed
                request = RunRequest(one, scale, "simulated", on_link, own_seed, command=command)
                run = new_run(request, records, watch)
            both.append((run, records.trials(run.id)))
    found = predictions(*both)
    worth = prediction_error_sentence(both[0])
    if folder is not None:
        build_report(both, folder)
    if as_json:
        print_json(
            {
                "study": chosen.id,
                "runs": [run.id for run, _ in both],
                "assumptions": assumed,
                "model_error": worth,
                "conditions": [{**dataclasses.asdict(one), "ratio": one.ratio} for one in found],
            }
        )
    else:
        for table in prediction_tables(found, chosen):
            answer(markup=True).print(Fitted(table, table.title))
            answer().print()
        answer().print("assumed:")
        for line in assumed:
            answer().print(f"  {line}", soft_wrap=True)
        answer().print("  all else is as in the study, fitted numbers included", soft_wrap=True)
        answer().print(worth, soft_wrap=True)
        answer().print(f"saved as {both[0][0].id} and {both[1][0].id}", soft_wrap=True)
    if any(run.status != "done" for run, _ in both):
        raise typer.Exit(1)
