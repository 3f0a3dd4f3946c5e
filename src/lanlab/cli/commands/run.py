"""`lanlab run`: run a study, or continue a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from lanlab.cli.options import shared as options
from lanlab.cli.options.hosts import with_fields
from lanlab.cli.running.series import RunOptions, as_recorded, begin_series, go_on_with_series
from lanlab.errors import UsageError

if TYPE_CHECKING:
    from lanlab.store import RunRecord
    from lanlab.store.database import Store
    from lanlab.studies.findings import Finding

_KEPT = ("scale", "testbed", "link", "seed")


@with_fields(RunOptions, "wanted")
def run(
    context: typer.Context, study: options.StudiesArgument = None, *, wanted: RunOptions
) -> None:
    """Run a study, continue a run, or alternate runs to compare.

    Every trial is saved when it ends. Exit codes: 0 done; 1 failed, interrupted, or a finding does
    not hold; 2 refused; 3 a finding is undecided.

    Examples: lanlab run milanovic-srbljic --scale quick;
    lanlab run my-study.toml --testbed loopback --check; lanlab run --resume last;
    lanlab run before.toml after.toml --alternate 5;
    lanlab run my-study.toml --alternate 5 --with engine=./new/lanlab-engine
    """
    from lanlab.cli.commands.findings import Check, print_checked
    from lanlab.cli.results.printing import print_run, warn_of_disturbances
    from lanlab.store import open_store

    names = study or []
    _check_options(context, names, wanted)
    if wanted.alternate is not None:
        begin_series(names, wanted, wanted.alternate)
        return
    resumed, check = wanted.resume, wanted.check
    if resumed is not None and not check and go_on_with_series(resumed, wanted):
        return
    with open_store(wanted.store) as records:
        record, findings = _run(names, wanted, records)
        trials = records.trials(record.id)
        if not check:
            print_run(record, trials, wanted.as_json, records)
    code = 0
    if check:
        undecided = wanted.undecided
        how = Check(passes_undecided=undecided == "pass", is_strict=undecided == "fail")
        findings = findings or _findings_of(record)
        code = print_checked(record, trials, findings, how, wanted.as_json, records.option)
    # The text of the answer already includes the number of disturbed trials.
    warn_of_disturbances(trials, verbose=wanted.verbose, summary=wanted.as_json)
    if record.status != "done":
        code = 1
    if code:
        raise typer.Exit(code)


def _check_options(context: typer.Context, names: Sequence[str], wanted: RunOptions) -> None:
    if wanted.undecided is not None and not wanted.check:
        raise UsageError("--undecided needs --check", hint="add --check to check the findings")
    if bool(names) == (wanted.resume is not None):
        raise UsageError(
            "give either a study or --resume RUN",
            hint="`lanlab studies` lists the studies, `lanlab runs` the runs",
        )
    if wanted.settings and wanted.alternate is None:
        raise UsageError(
            "--with needs --alternate", hint="add --alternate 5 to alternate both settings"
        )
    if len(names) > 1 and wanted.alternate is None:
        raise UsageError(
            "several studies need --alternate",
            hint="add --alternate 5 to alternate them, or run them one by one",
        )
    if wanted.alternate is not None and (wanted.check or wanted.resume is not None):
        raise UsageError(
            f"--alternate cannot be used with {'--check' if wanted.check else '--resume'}",
            hint=(
                "a series is continued with `lanlab run --resume SERIES`; its findings are "
                "not checked"
            ),
        )
    if wanted.resume is not None:
        given = [f"--{name}" for name in _KEPT if options.is_given(context, name)]
        if given:
            raise UsageError(
                f"{', '.join(given)} cannot be used with --resume: a run keeps its settings",
                hint="omit it, or start a new run",
            )


def _run(
    names: Sequence[str], wanted: RunOptions, records: Store
) -> tuple[RunRecord, Sequence[Finding]]:
    """The run, and the findings of its study; empty for a continued run."""
    from lanlab.cli.running.watch import RunWatch
    from lanlab.figures.registry import check_figures
    from lanlab.run import new_run, resume_run
    from lanlab.studies.load import load_study

    with RunWatch() as watch:
        if wanted.resume is not None:
            allows = wanted.allow_commands
            return resume_run(wanted.resume, records, watch, allows_commands=allows), ()
        loaded = load_study(names[0])
        chosen = as_recorded(loaded)
        check_figures(chosen)
        if wanted.check and not loaded.findings:
            raise UsageError(
                f"--check: study `{chosen.id}` has no findings",
                hint="write them as [[finding]] in the study file; docs/studies.md has the forms",
            )
        request = wanted.request(chosen, wanted.seed)
        return new_run(request, records, watch), loaded.findings


def _findings_of(record: RunRecord) -> tuple[Finding, ...]:
    from lanlab.analysis.findings.verdicts import findings_of

    found = findings_of(record)
    if not found:
        raise UsageError(f"--check: run {record.id} has no findings in its record")
    return found
