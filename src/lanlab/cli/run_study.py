"""`lanlab run`: run a study, or go on with a run."""

from __future__ import annotations

from typing import Annotated

import typer

from lanlab.cli import complete
from lanlab.cli.options import (
    DEFAULT_TESTBED,
    JsonOption,
    LinkOption,
    ScaleOption,
    SeedOption,
    StoreOption,
    TestbedOption,
)
from lanlab.errors import UsageError

#: What a run keeps from its beginning.
_KEPT = ("scale", "testbed", "link", "seed")


def run(
    context: typer.Context,
    study: Annotated[
        str | None,
        typer.Argument(
            help="Name of a study, or path of a study file.", autocompletion=complete.studies
        ),
    ] = None,
    scale: ScaleOption = "quick",
    testbed: TestbedOption = DEFAULT_TESTBED,
    link: LinkOption = None,
    seed: SeedOption = None,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            metavar="RUN",
            help="Go on with an interrupted run (its id, the beginning of it, or `last`).",
            autocompletion=complete.runs,
        ),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a study and keep every trial; or go on with a run.

    Exits with 0 when done, 1 when it failed or was interrupted, 2 when it was refused.

    Examples: lanlab run milanovic-srbljic --scale quick;
    lanlab run my-study.toml --testbed loopback; lanlab run --resume last
    """
    from lanlab.cli.results import print_run
    from lanlab.cli.terminal import talk
    from lanlab.cli.watch import RunWatch
    from lanlab.run import RunRequest, new_run, resume_run
    from lanlab.store import open_store
    from lanlab.studies import load_study, waits_for

    if (study is None) == (resume is None):
        raise UsageError(
            "give either a study or --resume RUN",
            hint="`lanlab studies` lists the studies, `lanlab runs` the runs",
        )
    if resume is not None:
        given = [f"--{name}" for name in _KEPT if _is_given(context, name)]
        if given:
            raise UsageError(
                f"{', '.join(given)} beside --resume: a run goes on as it was begun",
                hint="leave it out, or start a new run",
            )
    with open_store(store) as records, RunWatch() as watch:
        if resume is not None:
            record = resume_run(resume, records, watch)
        else:
            assert study is not None
            chosen = load_study(study).study
            for part in chosen.waiting if chosen.experiment else ():
                talk().print(f"left out: {part.title}: {waits_for([part])}")
            request = RunRequest(chosen, scale, testbed, link, seed)
            record = new_run(request, records, watch)
        trials = records.trials(record.id)
    print_run(record, trials, as_json)
    if record.status != "done":
        raise typer.Exit(1)


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
