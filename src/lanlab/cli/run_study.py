"""`lanlab run`: run a study, or go on with a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lanlab.cli import complete
from lanlab.cli.options import (
    DEFAULT_TESTBED,
    JsonOption,
    LinkOption,
    OptionalStudyArgument,
    ScaleOption,
    SeedOption,
    StoreOption,
    TestbedOption,
    VerboseOption,
)
from lanlab.errors import UsageError

if TYPE_CHECKING:
    from lanlab.store import RunRecord
    from lanlab.studies import Finding

#: What a run keeps from its beginning.
_KEPT = ("scale", "testbed", "link", "seed")


def run(
    context: typer.Context,
    study: OptionalStudyArgument = None,
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
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Judge the study's findings by the run: exit with 1 if one does not hold, with 3 "
            "if one is undecided or none is tested.",
        ),
    ] = False,
    undecided: Annotated[
        Literal["pass", "fail"],
        typer.Option(
            "--undecided",
            help="With --check: whether an undecided finding keeps the check from passing.",
        ),
    ] = "fail",
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="With --check: exit with 1 also if a finding is undecided or not tested.",
        ),
    ] = False,
    store: StoreOption = None,
    verbose: VerboseOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a study and keep every trial; or go on with a run.

    Exits with 0 when done, 1 when it failed or was interrupted or a check of its findings failed,
    2 when it was refused, 3 when a check of its findings was left undecided.

    Examples: lanlab run milanovic-srbljic --scale quick;
    lanlab run my-study.toml --testbed loopback --check; lanlab run --resume last
    """
    from lanlab.cli.disturbances import warn
    from lanlab.cli.finding_results import Check, print_checked
    from lanlab.cli.results import print_run
    from lanlab.cli.terminal import talk
    from lanlab.cli.typed import typed_command
    from lanlab.cli.watch import RunWatch
    from lanlab.run import RunRequest, new_run, resume_run
    from lanlab.store import open_store
    from lanlab.studies import known_studies, load_study, waits_for

    if strict and not check:
        raise UsageError("--strict without --check: there is nothing to be strict about")
    if _is_given(context, "undecided") and (strict or not check):
        raise UsageError(
            f"--undecided {'beside --strict' if strict else 'without --check'}",
            hint="--check judges the findings; --strict fails the undecided ones as well",
        )
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
            loaded = load_study(study)
            # Those of a `findings.toml` beside it belong into the record, too.
            chosen = loaded.study
            if chosen.id not in known_studies():
                chosen = chosen.model_copy(update={"finding": loaded.findings})
            if check and not loaded.findings:
                raise UsageError(
                    f"--check: study `{chosen.id}` has no findings",
                    hint="write them as [[finding]] in the study file; docs/findings.md has the "
                    "forms",
                )
            for part in chosen.waiting if chosen.experiment else ():
                talk().print(f"left out: {part.title}: {waits_for([part])}")
            request = RunRequest(chosen, scale, testbed, link, seed, command=typed_command())
            record = new_run(request, records, watch)
        trials = records.trials(record.id)
    if not check:
        print_run(record, trials, as_json)
        # In text the answer says how many were disturbed.
        warn(trials, verbose=verbose, summary=as_json)
        if record.status != "done":
            raise typer.Exit(1)
        return
    findings = loaded.findings if study is not None else _findings_of(record)
    how = Check(passes_undecided=undecided == "pass", is_strict=strict)
    code = print_checked(record, trials, findings, how, as_json)
    warn(trials, verbose=verbose, summary=as_json)
    if record.status != "done":
        code = 1
    if code:
        raise typer.Exit(code)


def _findings_of(record: RunRecord) -> tuple[Finding, ...]:
    from lanlab.analysis.findings import findings_of

    found = findings_of(record)
    if not found:
        raise UsageError(f"--check: run {record.id} has no findings in its record")
    return found


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
