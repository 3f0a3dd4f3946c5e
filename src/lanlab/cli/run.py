"""`lanlab run`: run a study, or continue a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import typer

from lanlab.cli import complete, options
from lanlab.cli.options import flag, option
from lanlab.cli.terminal import talk, typed_command
from lanlab.errors import UsageError

if TYPE_CHECKING:
    from lanlab.store import RunRecord
    from lanlab.studies import Finding

_KEPT = ("scale", "testbed", "link", "seed")


def run(
    context: typer.Context,
    study: options.StudiesArgument = None,
    scale: options.ScaleOption = "quick",
    testbed: options.TestbedOption = options.DEFAULT_TESTBED,
    link: options.LinkOption = None,
    seed: options.SeedOption = None,
    resume: str | None = option(
        "--resume",
        "RUN",
        "Continue an interrupted run or series (its id, a unique prefix, or `last`).",
        autocompletion=complete.runs,
    ),
    allow_commands: bool = flag(
        "--allow-commands", "With --resume: run the recorded shell commands (--prepare and others)."
    ),
    alternate: int | None = option(
        "--alternate",
        "TURNS",
        "Compare settings: run each side once per turn, in random order. Needs two or "
        "more studies, or --with.",
    ),
    settings: list[str] | None = option(
        "--with",
        "KEY=VALUE",
        "With --alternate: setting of side B: scale, testbed, link, engine (a path), or a "
        "study parameter, e.g. io=batch.",
    ),
    check: bool = flag(
        "--check",
        "Check the study's findings: exit with 1 if one does not hold, 3 if one is "
        "undecided or none is tested.",
    ),
    undecided: Literal["pass", "warn", "fail"] | None = option(
        "--undecided",
        "pass|warn|fail",
        "With --check: exit code for undecided findings: pass 0, warn 3, fail 1 (also for "
        "untested ones). Default: warn.",
    ),
    store: options.StoreOption = None,
    verbose: options.VerboseOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Run a study, continue a run, or alternate runs to compare.

    Every trial is saved when it ends. Exit codes: 0 done; 1 failed, interrupted, or a finding does
    not hold; 2 refused; 3 a finding is undecided.

    Examples: lanlab run milanovic-srbljic --scale quick;
    lanlab run my-study.toml --testbed loopback --check; lanlab run --resume last;
    lanlab run before.toml after.toml --alternate 5;
    lanlab run my-study.toml --alternate 5 --with engine=./new/lanlab-engine
    """
    from lanlab.cli.findings import Check, print_checked
    from lanlab.cli.results import print_run, warn_of_disturbances
    from lanlab.cli.run_series import (
        RunOptions,
        as_recorded,
        begin_series,
        go_on_with_series,
    )
    from lanlab.cli.watch import RunWatch
    from lanlab.figures.registry import check_figures
    from lanlab.run import RunRequest, new_run, resume_run
    from lanlab.store import open_store
    from lanlab.studies import load_study, waits_for

    if undecided is not None and not check:
        raise UsageError("--undecided needs --check", hint="add --check to check the findings")
    names = study or []
    if bool(names) == (resume is not None):
        raise UsageError(
            "give either a study or --resume RUN",
            hint="`lanlab studies` lists the studies, `lanlab runs` the runs",
        )
    if allow_commands and resume is None:
        raise UsageError("--allow-commands needs --resume", hint="omit it")
    if settings and alternate is None:
        raise UsageError(
            "--with needs --alternate", hint="add --alternate 5 to alternate both settings"
        )
    if len(names) > 1 and alternate is None:
        raise UsageError(
            "several studies need --alternate",
            hint="add --alternate 5 to alternate them, or run them one by one",
        )
    if alternate is not None and (check or resume is not None):
        raise UsageError(
            f"--alternate cannot be used with {'--check' if check else '--resume'}",
            hint=(
                "a series is continued with `lanlab run --resume SERIES`; its findings are "
                "not checked"
            ),
        )
    if resume is not None:
        given = [f"--{name}" for name in _KEPT if options.is_given(context, name)]
        if given:
            raise UsageError(
                f"{', '.join(given)} cannot be used with --resume: a run keeps its settings",
                hint="omit it, or start a new run",
            )
    if alternate is not None:
        begin_series(
            names,
            settings or [],
            alternate,
            RunOptions(scale, testbed, link, seed),
            store,
            verbose,
            as_json,
        )
        return
    if resume is not None and not check and go_on_with_series(resume, store, verbose, as_json):
        return
    with open_store(store) as records, RunWatch() as watch:
        if resume is not None:
            record = resume_run(resume, records, watch, allows_commands=allow_commands)
        else:
            loaded = load_study(names[0])
            chosen = as_recorded(loaded)
            check_figures(chosen)
            if check and not loaded.findings:
                raise UsageError(
                    f"--check: study `{chosen.id}` has no findings",
                    hint="write them as [[finding]] in the study file; docs/studies.md has the "
                    "forms",
                )
            for part in chosen.waiting if chosen.experiment else ():
                talk().print(f"skipped: {part.title}: {waits_for([part])}")
            request = RunRequest(chosen, scale, testbed, link, seed, command=typed_command())
            record = new_run(request, records, watch)
        trials = records.trials(record.id)
        if not check:
            print_run(record, trials, as_json, records)
    if not check:
        # The text of the answer already includes the number of disturbed trials.
        warn_of_disturbances(trials, verbose=verbose, summary=as_json)
        if record.status != "done":
            raise typer.Exit(1)
        return
    findings = loaded.findings if names else _findings_of(record)
    how = Check(passes_undecided=undecided == "pass", is_strict=undecided == "fail")
    code = print_checked(record, trials, findings, how, as_json)
    warn_of_disturbances(trials, verbose=verbose, summary=as_json)
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
