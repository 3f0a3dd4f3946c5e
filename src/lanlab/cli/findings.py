"""`lanlab findings`: what a study concluded, judged by its own numbers or by a run."""

from __future__ import annotations

from typing import Annotated

import typer

from lanlab.cli import complete
from lanlab.cli.options import JsonOption, StoreOption, StudyArgument
from lanlab.errors import UsageError


def findings(
    study: StudyArgument,
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="Judge them by this run of the study (its id, the beginning of it, or `last`), "
            "and not by what was published.",
            autocompletion=complete.runs,
        ),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge a study's findings: holds, does not hold, undecided or not tested, with the numbers.

    A finding about a condition that the run does not have is not tested, not false. An undecided
    one says how many more trials would decide it.

    Examples: lanlab findings schomer-claason;
    lanlab findings my-study.toml --run last --json
    """
    from lanlab.analysis.findings import judge_published, judge_run, verdicts_as_data
    from lanlab.cli.finding_results import print_verdicts
    from lanlab.cli.terminal import print_json
    from lanlab.store import open_store
    from lanlab.store.shape import reading_records
    from lanlab.studies import load_study

    loaded = load_study(study)
    if not loaded.findings:
        raise UsageError(
            f"study `{loaded.study.id}` has no findings",
            hint="write them as [[finding]] in the study file; docs/findings.md has the forms",
        )
    if run is None:
        if not loaded.published.value:
            raise UsageError(
                f"study `{loaded.study.id}` has published nothing that could judge its findings",
                hint=f"judge them by a run: `lanlab run {study} --check`, "
                f"or `lanlab findings {study} --run last`",
            )
        verdicts = judge_published(loaded)
    else:
        with open_store(store) as records:
            record = records.run(run)
            if record.study_id != loaded.study.id:
                raise UsageError(
                    f"run {record.id} is one of study `{record.study_id}`, "
                    f"not of `{loaded.study.id}`",
                    hint="`lanlab runs` lists the runs with their studies",
                )
            trials = records.trials(record.id)
        with reading_records(record.id):
            verdicts = judge_run(loaded.findings, record, trials)
    if as_json:
        print_json(
            {"study": loaded.study.id, "run": run and record.id, **verdicts_as_data(verdicts)}
        )
        return
    print_verdicts(verdicts, loaded.study)
